import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { TEMP_OUTPUT_NAME } from '../core/folder/walk-tree.ts'
import type { ChunkedFile, FileMeta, Warning } from '../core/model.ts'
import { type PackOptions, packEntries, zipPack } from '../core/pack/entries.ts'
import type { Pack } from '../core/pack/pack.ts'
import { VECTORS_FILE } from '../core/pack/pack-vectors.ts'
import { readBeginning, readStable } from './read-stable.ts'
import { nodeSha256 } from './sha256.ts'
import { hasPackManifest, ignoreSystemError, isSystemError } from './walk-folder.ts'

/** Where and how a pack is written. */
export interface PackTarget extends Omit<PackOptions, 'readImage'> {
  /** A zip archive if it ends in `.zip`, otherwise a folder. */
  readonly out: string
  /** The source folder of the pack, for its images. */
  readonly root: string
  readonly signal?: AbortSignal | undefined
}

/** Writes a pack like {@link writePacks}, and returns the number of bytes written. */
export function writePack(pack: Pack, { out, ...options }: PackTarget): Promise<number> {
  return writePacks([{ pack, out }], options)
}

/**
 * Writes packs to temporary paths and then moves all of them to their targets, so that a target always holds either its old content or the
 * whole new pack. If one of the targets holds something that is not a pack, none is written. Returns the number of bytes written.
 */
export async function writePacks(
  packs: readonly { readonly pack: Pack; readonly out: string }[],
  options: Omit<PackTarget, 'out'>,
): Promise<number> {
  const moves: { readonly temporary: string; readonly path: string; readonly out: string }[] = []
  let bytes = 0
  try {
    for (const { out } of packs) checkPackPath(out)
    for (const { pack, out } of packs) {
      await withOutputErrors(out, async () => {
        const path = resolveOutput(out)
        mkdirSync(dirname(path), { recursive: true })
        clearLeftovers(path)
        // Clearing leftovers may have restored a pack, so the target is checked again.
        checkOutput(path, out)
        const temporary = join(dirname(path), `.${basename(path)}.pharos-${HOST}-${process.pid}-${writeCount++}`)
        moves.push({ temporary, path, out })
        const write = isZip(path) ? writeZipFile : writeFolder
        bytes += await write(pack, temporary, { ...options, out })
      })
    }
    for (const { temporary, path, out } of moves) await withOutputErrors(out, () => replace(temporary, path))
    return bytes
  } finally {
    for (const { temporary } of moves) rmSync(temporary, { recursive: true, force: true })
  }
}

let writeCount = 0

/** Identifies this host among others that see the same folder; a digest, so that it always fits into a file name. */
const HOST = nodeSha256(hostname()).slice(0, 8)

/** Throws if a target holds something other than a pack. Writes nothing. */
export function checkPackPath(out: string): void {
  try {
    checkOutput(resolveOutput(out), out)
  } catch (error) {
    throw isSystemError(error) ? createOutputError(out, error) : error
  }
}

async function withOutputErrors<T>(out: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isSystemError(error) ? createOutputError(out, error) : error
  }
}

function createOutputError(out: string, cause: Error): PharosError {
  return new PharosError('OUTPUT_REFUSED', { path: out, problem: cause.message }, { cause })
}

function isZip(out: string): boolean {
  return out.toLowerCase().endsWith('.zip')
}

/** Resolves a link, so that its target is replaced and the link stays. */
function resolveOutput(out: string): string {
  return existsSync(out) ? realpathSync(out) : resolve(out)
}

/** Checks a resolved path; `out` is the path that the user gave, for the error message. */
function checkOutput(path: string, out: string): void {
  const refuse = (problem: string) => new PharosError('OUTPUT_REFUSED', { path: out, problem })
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (isZip(path)) {
    if (!found.isFile()) throw refuse('there is something that is not a file')
    if (!isPackArchive(path, found)) throw refuse('there is a file that is not a pack')
  } else {
    if (!found.isDirectory()) throw refuse('there is a file; a pack needs a folder, or a name that ends in .zip')
    if (!isReplaceable(path)) throw refuse('the folder holds something that is not a pack')
  }
}

/** All top-level names of a pack. */
const PACK_NAMES = new Set([
  ...'llm.md catalog.llm.md outline.md index.json manifest.json manifest.min.json manifest.llm.tsv'.split(' '),
  ...[VECTORS_FILE, 'chunks', 'images'],
])
/** Folders that `--split` adds. */
const PART_NAME = /^part-\d+$/

/** Whether a folder may be replaced: it is empty, or holds only a pack. */
function isReplaceable(folder: string): boolean {
  const entries = readdirSync(folder, { withFileTypes: true })
  if (entries.length === 0) return true
  if (!hasPackManifest(folder, entries)) return false
  return entries.every((entry) => {
    const isPart = PART_NAME.test(entry.name) && entry.isDirectory()
    return PACK_NAMES.has(entry.name) || (isPart && isReplaceable(join(folder, entry.name)))
  })
}

/** A pack starts with `llm.md`, so that name follows the first header of the archive. */
function isPackArchive(path: string, { size }: Stats): boolean {
  if (size === 0) return true
  const beginning = readBeginning(path, ZIP_HEADER_BYTES + FIRST_ENTRY.length) ?? new Uint8Array()
  return new TextDecoder().decode(beginning.subarray(ZIP_HEADER_BYTES)) === FIRST_ENTRY
}

const ZIP_HEADER_BYTES = 30
const FIRST_ENTRY = 'llm.md'

/** Deletes what a killed run left beside a target, and restores a pack that it was about to replace. */
function clearLeftovers(out: string): void {
  for (const name of readdirSync(dirname(out))) {
    const [, targetName, host, pid, isOld] = TEMP_OUTPUT_NAME.exec(name) ?? []
    const leftover = join(dirname(out), name)
    if (targetName !== basename(out)) continue
    if (host === HOST ? isAlive(Number(pid)) : isRecent(leftover)) continue
    if (isOld !== undefined && !existsSync(out)) renameSync(leftover, out)
    else rmSync(leftover, { recursive: true, force: true })
  }
}

const DAY_MS = 86_400_000

/** Processes of another host cannot be checked, but no run takes a day. */
function isRecent(leftover: string): boolean {
  const stats = lstatSync(leftover, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs < DAY_MS
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Only ESRCH means that the process is gone; EPERM means that it belongs to another user.
    if (isSystemError(error)) return error.code !== 'ESRCH'
    throw error
  }
}

async function writeZipFile(pack: Pack, temporary: string, target: PackTarget): Promise<number> {
  const file = await open(temporary, 'wx')
  try {
    let pieces: Uint8Array[] = []
    let size = 0
    let total = 0
    const flush = async () => {
      // Unlike `writev`, this continues after a short write.
      await file.appendFile(Buffer.concat(pieces))
      total += size
      pieces = []
      size = 0
    }
    for await (const piece of zipPack(pack, withImages(pack, target))) {
      target.signal?.throwIfAborted()
      pieces.push(piece)
      size += piece.length
      if (size > 1 << 18 || pieces.length === 500) await flush()
    }
    await flush()
    await file.datasync()
    return total
  } finally {
    await file.close()
  }
}

async function writeFolder(pack: Pack, temporary: string, target: PackTarget): Promise<number> {
  const createdFolders = new Set<string>()
  let total = 0
  for await (const { name, content } of packEntries(pack, withImages(pack, target))) {
    target.signal?.throwIfAborted()
    const path = join(temporary, name)
    if (!createdFolders.has(dirname(path))) await mkdir(dirname(path), { recursive: true })
    createdFolders.add(dirname(path))
    await writeFile(path, content)
    total += lstatSync(path).size
  }
  return total
}

/** Replaces a file atomically. A folder cannot be replaced that way, so the old one is moved aside, and back on failure. */
function replace(temporary: string, out: string): void {
  if (isZip(out) || !existsSync(out)) {
    renameSync(temporary, out)
    return
  }
  const old = `${temporary}-old`
  renameSync(out, old)
  try {
    renameSync(temporary, out)
  } catch (error) {
    renameSync(old, out)
    throw error
  }
  rmSync(old, { recursive: true, force: true })
}

/** The files that {@link leaveOutChangedImages} kept, and a warning for each file that it dropped. */
interface KeptFiles {
  readonly files: readonly ChunkedFile[]
  readonly warnings: readonly Warning[]
}

/**
 * Drops images that have changed since they were chunked. Chunking does not keep their bytes, and a pack must contain exactly the bytes
 * that its index describes.
 */
export async function leaveOutChangedImages(
  files: readonly ChunkedFile[],
  root: string,
  signal?: AbortSignal,
): Promise<KeptFiles> {
  const kept: ChunkedFile[] = []
  const warnings: Warning[] = []
  for (const chunked of files) {
    signal?.throwIfAborted()
    const { path } = chunked.file
    const hasAsset = chunked.chunks.some(({ assetPath }) => assetPath !== null)
    if (!hasAsset || (await readImage(root, chunked.file)) !== undefined) kept.push(chunked)
    else warnings.push({ path, code: 'changed', message: 'left out: the image changed after it was read' })
  }
  return { files: kept, warnings }
}

/** Pack options with a function that reads images while the pack is written, and throws when an image has changed. */
function withImages(pack: Pack, target: PackTarget): PackOptions {
  const files = new Map(pack.files.map((file) => [file.path, file]))
  return {
    ...target,
    readImage: async (path) => {
      const file = files.get(path)
      const bytes = file === undefined ? undefined : await readImage(target.root, file)
      if (bytes === undefined) throw new PharosError('SOURCE_CHANGED', { path })
      return bytes
    },
  }
}

/** The bytes of an image; undefined when they differ from the indexed ones. */
async function readImage(root: string, { path, bytes: size, sha256 }: FileMeta): Promise<Uint8Array | undefined> {
  const outcome = await readStable(join(root, path), size).catch(ignoreSystemError)
  return outcome?.type === 'read' && nodeSha256(outcome.bytes) === sha256 ? outcome.bytes : undefined
}
