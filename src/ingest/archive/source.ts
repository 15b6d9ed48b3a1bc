import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { ArchiveError } from '../../core/archive/archive-error.ts'
import { PharosError } from '../../core/errors.ts'
import { type Integrity, isListed, listStrongest, writeIntegrity } from '../../core/integrity.ts'
import { adviseAllowance, type Download, DownloadError, type RefusedAddress } from '../../library/ports/download.ts'
import type { TreeOptions } from '../../library/ports/tree.ts'
import { settledStamp } from '../read-folder.ts'
import { type FileStamp, isSameStamp } from '../read-stable.ts'
import { retryDownload } from '../retry-download.ts'
import { isSystemError } from '../walk-folder.ts'
import { type ArchiveContent, type ContentOptions, openArchiveContent } from './content.ts'
import { BufferedWriter, type OpenFile, openTemporaryFile } from './file.ts'
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from './members.ts'

/** The limit of a download is the limit of unpacked bytes divided by this: 256 MB for 1 GB. */
const PACKED_DIVISOR = 4

/** Options of archives and packages. */
export interface ArchiveSourceOptions {
  /** Limit of an archive's unpacked bytes. A download may have at most a fourth of it. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Larger files are left out. */
  readonly maxFileBytes: number
  /** Current time in milliseconds; a file changed less than two seconds earlier is read in full next time. @default Date.now */
  readonly now?: () => number
}

/** Which archive to open, and how. */
export interface ArchiveRequest extends Pick<TreeOptions, 'signal' | 'headers'> {
  /** The address of the archive, for error messages. */
  readonly address: string
  readonly format: ContentOptions['format']
}

/** Opens a local archive. Rejects with `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`. */
export async function openLocalArchive(
  path: string,
  request: ArchiveRequest,
  options: ArchiveSourceOptions,
): Promise<{ readonly path: string; readonly content: ArchiveContent; readonly stamp: string | null }> {
  const { now = Date.now } = options
  return withSourceErrors(path, async () => {
    const openedAt = now()
    const realPath = await realpath(path)
    // Non-blocking, because opening a pipe would wait for a writer.
    const handle = await open(realPath, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) throw new ArchiveError('it is not a file')
      const content = await openArchiveContent({ handle, size: stats.size }, contentOptions(request, options))
      await requireUnchanged(handle, stats)
      const stamp = settledStamp(stats, openedAt)
      return { path: realPath, content: withChangeCheck(path, content, handle, stats), stamp }
    } catch (error) {
      await handle.close()
      throw error
    }
  })
}

/** The content of a local archive. When the archive changes during a read, the read fails, because its result is unreliable. */
function withChangeCheck(
  path: string,
  content: ArchiveContent,
  handle: OpenFile['handle'],
  stats: FileStamp,
): ArchiveContent {
  return {
    ...content,
    read: (file) =>
      withSourceErrors(path, async () => {
        const bytes = await content.read(file).catch(async (error: unknown) => {
          await requireUnchanged(handle, stats)
          throw error
        })
        await requireUnchanged(handle, stats)
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

async function requireUnchanged(handle: OpenFile['handle'], stats: FileStamp): Promise<void> {
  if (!isSameStamp(await handle.stat(), stats))
    throw new ArchiveError('it changed while it was read', { advice: 'try again when no program writes to it' })
}

/** Digests that a downloaded archive must have. */
export interface ExpectedDigests {
  /** What the registry states. @default none */
  readonly integrity?: Integrity
  /** What a lock file states: one of these, as `sha256-<hexadecimal>`. @default none */
  readonly hashes?: readonly string[]
}

/** Downloads an archive into a private file and opens it; the file is deleted on close. Nothing else is written. */
export async function openDownloadedArchive(
  download: Download,
  url: string,
  request: ArchiveRequest & ExpectedDigests,
  options: ArchiveSourceOptions,
): Promise<{ readonly digest: string; readonly content: ArchiveContent }> {
  return withSourceErrors(request.address, async () => {
    const file = await openTemporaryFile()
    try {
      const { handle } = file
      const saveFile = () => save(download, url, handle, request, options)
      const { size, digest } = await retryDownload(saveFile, request.signal)
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
  { integrity, hashes = [], signal, headers = {} }: ArchiveRequest & ExpectedDigests,
  options: ArchiveSourceOptions,
): Promise<{ readonly size: number; readonly digest: string }> {
  const maxBytes = Math.ceil(limitsOf(options).maxBytes / PACKED_DIVISOR)
  const algorithm = integrity?.algorithm ?? 'sha256'
  const hash = createHash(algorithm)
  const locked = listStrongest(hashes)
  const lockedHash = locked.algorithm === undefined ? undefined : createHash(locked.algorithm)
  const writer = new BufferedWriter(handle)
  for await (const piece of await download({ url, maxBytes, signal, headers })) {
    hash.update(piece)
    lockedHash?.update(piece)
    await writer.write(piece)
  }
  await writer.flush()
  const digest = hash.digest('hex')
  if (integrity !== undefined && digest !== integrity.digest) {
    throw new ArchiveError(`its archive does not have the ${algorithm} that the registry states`)
  }
  if (lockedHash !== undefined && locked.algorithm !== undefined) {
    requireLocked({ algorithm: locked.algorithm, digest: lockedHash.digest('hex') }, locked.hashes)
  }
  return { size: writer.length, digest: writeIntegrity({ algorithm, digest }) }
}

/** Throws if a lock file states other digests of the same algorithm. */
export function requireLocked(integrity: Integrity, hashes: readonly string[]): void {
  if (isListed(writeIntegrity(integrity), hashes) !== false) return
  throw new ArchiveError(`its archive does not have the ${integrity.algorithm} that the lock file states`, {
    advice: 'find out why: the archive or the lock file was changed, or they belong to different registries',
  })
}

function contentOptions({ format, signal }: ArchiveRequest, options: ArchiveSourceOptions): ContentOptions {
  return { format, signal, limits: limitsOf(options), maxFileBytes: options.maxFileBytes }
}

function limitsOf({ maxArchiveBytes }: ArchiveSourceOptions): ArchiveLimits {
  return maxArchiveBytes === undefined
    ? DEFAULT_ARCHIVE_LIMITS
    : { ...DEFAULT_ARCHIVE_LIMITS, maxBytes: maxArchiveBytes }
}

/** Runs a step and turns its errors into errors with advice. */
export async function withSourceErrors<T>(path: string, step: () => Promise<T>): Promise<T> {
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
        ? unreadable(error.message, 'fix the problem, or try again later', error)
        : createNotPublicError(path, error, error.refused)
    }
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause: error })
    const isFull = error.code === 'ENOSPC'
    const problem = isFull ? 'there is not enough disk space to unpack it' : `it cannot be read (${error.code})`
    throw unreadable(problem, isFull ? 'free some space' : 'let this user read it, or name another file', error)
  }
}

/** The error for a host whose address is not public. Only the command line shows this advice, because it reveals the IP address. */
function createNotPublicError(path: string, cause: DownloadError, { address, rule }: RefusedAddress): PharosError {
  const location = rule === address ? `it is at ${address}, which must be allowed itself` : `it is at ${address}`
  const advice = `${location}: ${adviseAllowance(rule)}`
  const details = { path, problem: cause.message, reason: 'address-refused', advice }
  return new PharosError('SOURCE_UNREADABLE', details, { cause })
}

/** The error when a requested folder does not exist, or is a file. */
export function createFolderError(address: string, isFile: boolean): PharosError {
  if (!isFile) return new PharosError('SOURCE_NOT_FOUND', { path: address })
  const problem = 'it is a file, but path must name a folder'
  const advice = 'name another folder as path'
  return new PharosError('SOURCE_UNREADABLE', { path: address.replace(/\/$/, ''), problem, advice })
}

/** The folder that contains everything in an archive, as a path prefix; empty when there is none. */
export function topFolderOf({ files, links }: ArchiveContent): string {
  const paths = [...files.keys(), ...links]
  const [first = ''] = paths
  const top = first.slice(0, first.indexOf('/') + 1)
  return paths.every((path) => path.startsWith(top)) ? top : ''
}

/** The content of an archive below a folder, with paths relative to the folder. Throws when the folder has no content. */
export function contentBelow(content: ArchiveContent, folder: string, address: string): ArchiveContent {
  if (folder === '') return content
  const inside = <T>(entries: Iterable<readonly [string, T]>): [string, T][] => {
    return [...entries].flatMap(([path, value]) =>
      path.startsWith(folder) && path !== folder ? [[path.slice(folder.length), value]] : [],
    )
  }
  const files = new Map(inside(content.files))
  const links = new Set(inside(content.links.entries()).map(([path]) => path))
  if (files.size + links.size === 0) throw createFolderError(address, content.files.has(folder.slice(0, -1)))
  return {
    files,
    links,
    refused: new Map(inside(content.refused)),
    read: (path) => content.read(folder + path),
    close: content.close,
  }
}
