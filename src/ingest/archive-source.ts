import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { PharosError } from '../core/errors.ts'
import { adviseAllowance, type Download, DownloadError, type RefusedAddress } from '../library/download.ts'
import type { TreeOptions } from '../library/tree.ts'
import { type ArchiveContent, type ContentOptions, openArchiveContent } from './archive-content.ts'
import { type OpenFile, openPrivateFile, PieceWriter } from './archive-file.ts'
import { ArchiveError, type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from './archive-members.ts'
import { settledStamp } from './read-folder.ts'
import { type FileStamp, sameStamp } from './read-stable.ts'
import { retryDownload } from './retry-download.ts'
import { isSystemError } from './walk-folder.ts'

/** A packed archive may have this part of what it may have unpacked: 256 MB of 1 GB. */
const PACKED_PART = 4

/** What archives and packages are opened with. */
export interface ArchiveSourceOptions {
  /** Most bytes that all of an archive may have when it is unpacked; a fourth of that when it is downloaded. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Larger files are left out. */
  readonly maxFileBytes: number
  /** The time in milliseconds; what was changed less than two seconds before it is read in full the next time. @default Date.now */
  readonly now?: () => number
}

/** Which archive is opened, and how. */
export interface ArchiveRequest extends Pick<TreeOptions, 'signal' | 'headers'> {
  /** Its address, for whoever reads of a failure. */
  readonly address: string
  readonly format: ContentOptions['format']
}

/** Opens an archive on this machine. Refused with `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`. */
export async function openLocalArchive(
  path: string,
  request: ArchiveRequest,
  options: ArchiveSourceOptions,
): Promise<{ readonly path: string; readonly content: ArchiveContent; readonly stamp: string | null }> {
  const { now = Date.now } = options
  return explain(path, async () => {
    const openedAt = now()
    const place = await realpath(path)
    // Opening waits for nobody at the other end of a pipe.
    const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) throw new ArchiveError('it is no file')
      const content = await openArchiveContent({ handle, size: facts.size }, contentOptions(request, options))
      await refuseChange(handle, facts)
      const stamp = settledStamp(facts, openedAt)
      return { path: place, content: watchChange(path, content, handle, facts), stamp }
    } catch (error) {
      await handle.close()
      throw error
    }
  })
}

/** What an archive in place holds. One that is changed while it is read proves nothing about what was in it. */
function watchChange(
  path: string,
  content: ArchiveContent,
  handle: OpenFile['handle'],
  facts: FileStamp,
): ArchiveContent {
  return {
    ...content,
    read: (file) =>
      explain(path, async () => {
        const bytes = await content.read(file).catch(async (error: unknown) => {
          await refuseChange(handle, facts)
          throw error
        })
        await refuseChange(handle, facts)
        return bytes
      }),
    async close() {
      try {
        await content.close()
      } finally {
        await handle.close()
      }
    },
  }
}

async function refuseChange(handle: OpenFile['handle'], facts: FileStamp): Promise<void> {
  if (!sameStamp(await handle.stat(), facts))
    throw new ArchiveError('it changed while it was read', { advice: 'try again when nobody writes it' })
}

/** A digest that a file must have. */
export interface Integrity {
  readonly algorithm: 'sha512' | 'sha384' | 'sha256' | 'sha1'
  /** In hexadecimal digits. */
  readonly digest: string
}

/** Downloads an archive into a private file and opens it; it is gone when that is closed. Nothing else is ever written. */
export async function openDownloadedArchive(
  download: Download,
  url: string,
  request: ArchiveRequest & { readonly integrity?: Integrity },
  options: ArchiveSourceOptions,
): Promise<{ readonly digest: string; readonly content: ArchiveContent }> {
  return explain(request.address, async () => {
    const file = await openPrivateFile()
    try {
      const { handle } = file
      const saving = () => save(download, url, handle, request, options)
      const { size, digest } = await retryDownload(saving, request.signal)
      const content = await openArchiveContent({ handle, size }, contentOptions(request, options))
      const close = () => content.close().finally(() => file.close())
      return { digest, content: { ...content, close } }
    } catch (error) {
      await file.close()
      throw error
    }
  })
}

async function save(
  download: Download,
  url: string,
  handle: OpenFile['handle'],
  { integrity, signal, headers = {} }: ArchiveRequest & { readonly integrity?: Integrity },
  options: ArchiveSourceOptions,
): Promise<{ readonly size: number; readonly digest: string }> {
  const maxBytes = Math.ceil(limitsOf(options).maxBytes / PACKED_PART)
  const algorithm = integrity?.algorithm ?? 'sha256'
  const hash = createHash(algorithm)
  const writer = new PieceWriter(handle)
  for await (const piece of await download({ url, maxBytes, signal, headers })) {
    hash.update(piece)
    await writer.write(piece)
  }
  await writer.flush()
  const digest = hash.digest('hex')
  if (integrity !== undefined && digest !== integrity.digest) {
    throw new ArchiveError(`its archive does not have the ${algorithm} that the registry tells`)
  }
  return { size: writer.length, digest: `${algorithm}-${digest}` }
}

function contentOptions({ format, signal }: ArchiveRequest, options: ArchiveSourceOptions): ContentOptions {
  return { format, signal, limits: limitsOf(options), maxFileBytes: options.maxFileBytes }
}

function limitsOf({ maxArchiveBytes }: ArchiveSourceOptions): ArchiveLimits {
  return maxArchiveBytes === undefined
    ? DEFAULT_ARCHIVE_LIMITS
    : { ...DEFAULT_ARCHIVE_LIMITS, maxBytes: maxArchiveBytes }
}

/** Says what is wrong with something that was to be opened or read. */
export async function explain<T>(path: string, step: () => Promise<T>): Promise<T> {
  const unreadable = (problem: string, advice: string, cause: unknown) => {
    return new PharosError('SOURCE_UNREADABLE', { path, problem, advice }, { cause })
  }
  try {
    return await step()
  } catch (error) {
    if (error instanceof ArchiveError) throw unreadable(error.message, error.advice, error)
    if (error instanceof DownloadError) {
      if (error.problem === 'missing') throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause: error })
      throw error.refused === null
        ? unreadable(error.message, 'see to it, or try again later', error)
        : notPublic(path, error, error.refused)
    }
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause: error })
    const isFull = error.code === 'ENOSPC'
    const problem = isFull ? 'there is no room to unpack it' : `it cannot be read (${error.code})`
    throw unreadable(problem, isFull ? 'free some space' : 'let this user read it, or name another', error)
  }
}

/** Names the flag that opens an address. Only the owner, at the command line, is told what lies behind a name. */
function notPublic(path: string, cause: DownloadError, { address, rule }: RefusedAddress): PharosError {
  const why = rule === address ? `it is at ${address}, which only its own address opens` : `it is at ${address}`
  const advice = `${why}: ${adviseAllowance(rule)}`
  const details = { path, problem: cause.message, reason: 'address-refused', advice }
  return new PharosError('SOURCE_UNREADABLE', details, { cause })
}

/** What is said where a folder was asked for, which is at an address: that there is none, or that it is a file. */
export function noFolder(address: string, isFile: boolean): PharosError {
  if (!isFile) return new PharosError('SOURCE_NOT_FOUND', { path: address })
  const problem = 'it is a file; path names the folder that it is in'
  const advice = 'name another folder as path'
  return new PharosError('SOURCE_UNREADABLE', { path: address.replace(/\/$/, ''), problem, advice })
}

/** The folder that everything in an archive is in, as paths begin; empty where there is none. */
export function topFolderOf({ files, links }: ArchiveContent): string {
  const paths = [...files.keys(), ...links]
  const [first = ''] = paths
  const top = first.slice(0, first.indexOf('/') + 1)
  return paths.every((path) => path.startsWith(top)) ? top : ''
}

/** What an archive holds below a folder, which is at an address, by paths that begin there. Refused where nothing does. */
export function contentBelow(content: ArchiveContent, folder: string, address: string): ArchiveContent {
  if (folder === '') return content
  const inside = <T>(entries: Iterable<readonly [string, T]>): [string, T][] => {
    return [...entries].flatMap(([path, value]) =>
      path.startsWith(folder) && path !== folder ? [[path.slice(folder.length), value]] : [],
    )
  }
  const files = new Map(inside(content.files))
  const links = new Set(inside(content.links.entries()).map(([path]) => path))
  if (files.size + links.size === 0) throw noFolder(address, content.files.has(folder.slice(0, -1)))
  return {
    files,
    links,
    refused: new Map(inside(content.refused)),
    read: (path) => content.read(folder + path),
    close: content.close,
  }
}
