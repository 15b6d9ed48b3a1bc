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
import { basename, dirname, join, resolve } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { type PackOptions, packEntries, zipPack } from '../core/pack/entries.ts'
import type { Pack } from '../core/pack/pack.ts'
import { readBeginning, readStable } from './read-stable.ts'
import { nodeSha256 } from './sha256.ts'
import { isPackFolder, isSystemError, LEFTOVER } from './walk-folder.ts'

/** Where and how a pack is written. */
export interface PackTarget extends Omit<PackOptions, 'readImage'> {
  /** A zip archive when it ends in `.zip`, else a folder. */
  readonly out: string
  /** The folder the pack was made from, for its images. */
  readonly root: string
  readonly signal?: AbortSignal | undefined
}

let written = 0

/**
 * Writes a pack beside its place and then moves it there, so that whatever happens the place holds either what it held
 * before or the whole new pack. What is there and is no pack is refused. Gives the number of bytes written.
 */
export async function writePack(pack: Pack, target: PackTarget): Promise<number> {
  try {
    const out = resolvePlace(target.out)
    mkdirSync(dirname(out), { recursive: true })
    clearLeftovers(out)
    checkPlace(out, target.out)
    const temporary = join(dirname(out), `.${basename(out)}.pharos-${process.pid}-${written++}`)
    try {
      const write = isZip(out) ? writeZipFile : writeFolder
      const bytes = await write(pack, temporary, target)
      replace(temporary, out)
      return bytes
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  } catch (error) {
    throw isSystemError(error) ? refusal(target.out, error) : error
  }
}

/** Refuses a place that a pack could not be written to because something else is there. Nothing is written. */
export function checkPackPlace(out: string): void {
  try {
    checkPlace(resolvePlace(out), out)
  } catch (error) {
    throw isSystemError(error) ? refusal(out, error) : error
  }
}

function refusal(name: string, cause: Error): PharosError {
  return new PharosError('OUTPUT_REFUSED', { path: name, problem: cause.message }, { cause })
}

function isZip(out: string): boolean {
  return out.toLowerCase().endsWith('.zip')
}

/** A link is written through, not replaced. */
function resolvePlace(out: string): string {
  return existsSync(out) ? realpathSync(out) : resolve(out)
}

function checkPlace(out: string, name: string): void {
  const refuse = (problem: string) => new PharosError('OUTPUT_REFUSED', { path: name, problem })
  const found = statSync(out, { throwIfNoEntry: false })
  if (found === undefined) return
  if (isZip(out)) {
    if (!found.isFile()) throw refuse('there is something that is not a file')
    if (!isPackArchive(out, found)) throw refuse('there is a file that is not a pack')
  } else {
    if (!found.isDirectory()) throw refuse('there is a file; a pack needs a folder, or a name that ends in .zip')
    const entries = readdirSync(out, { withFileTypes: true })
    if (entries.length > 0 && !isPackFolder(out, entries)) throw refuse('the folder holds something that is not a pack')
  }
}

/** A pack begins with its `llm.md`, so that name stands behind the first header of the archive. */
function isPackArchive(path: string, { size }: Stats): boolean {
  if (size === 0) return true
  const beginning = readBeginning(path, ZIP_HEADER_BYTES + FIRST_ENTRY.length) ?? new Uint8Array()
  return new TextDecoder().decode(beginning.subarray(ZIP_HEADER_BYTES)) === FIRST_ENTRY
}

const ZIP_HEADER_BYTES = 30
const FIRST_ENTRY = 'llm.md'

/** Takes away what a killed run left beside this place, and puts back a pack that it was about to replace. */
function clearLeftovers(out: string): void {
  for (const name of readdirSync(dirname(out))) {
    const [, place, pid, isOld] = LEFTOVER.exec(name) ?? []
    if (place !== basename(out) || isAlive(Number(pid))) continue
    const leftover = join(dirname(out), name)
    if (isOld !== undefined && !existsSync(out)) renameSync(leftover, out)
    else rmSync(leftover, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Only "no such process" says that it is gone; "not permitted" says that it is somebody else's.
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
      // Unlike `writev`, this goes on after a short write.
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
  const made = new Set<string>()
  let total = 0
  for await (const { name, content } of packEntries(pack, withImages(pack, target))) {
    target.signal?.throwIfAborted()
    const place = join(temporary, name)
    if (!made.has(dirname(place))) await mkdir(dirname(place), { recursive: true })
    made.add(dirname(place))
    await writeFile(place, content)
    total += lstatSync(place).size
  }
  return total
}

/** A file takes the place of a file in one step. A folder cannot, so the old one steps aside, and back if need be. */
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

/** Images are read when they are written; one that is no longer what was indexed stops the pack. */
function withImages(pack: Pack, target: PackTarget): PackOptions {
  const files = new Map(pack.files.map((file) => [file.path, file]))
  return {
    ...target,
    readImage: async (path) => {
      const file = files.get(path)
      const bytes = file === undefined ? undefined : await readImage(join(target.root, path), file.bytes)
      if (bytes === undefined || nodeSha256(bytes) !== file?.sha256) throw new PharosError('SOURCE_CHANGED', { path })
      return bytes
    },
  }
}

/** The bytes of a file that had this size before; undefined when it is another or none now. */
async function readImage(place: string, size: number): Promise<Uint8Array | undefined> {
  try {
    const outcome = await readStable(place, size)
    return outcome.type === 'read' ? outcome.bytes : undefined
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}
