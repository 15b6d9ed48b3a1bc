import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { type PackOptions, packEntries, zipPack } from '../core/pack/entries.ts'
import type { Pack } from '../core/pack/pack.ts'
import { nodeSha256 } from './chunk-folder.ts'
import { isPackFolder, isSystemError } from './walk-folder.ts'

/** Where and how a pack is written. */
export interface PackTarget extends Omit<PackOptions, 'readImage'> {
  /** A zip archive when it ends in `.zip`, else a folder. */
  readonly out: string
  /** The folder the pack was made from, for its images. */
  readonly root: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Writes a pack beside its place and then moves it there, so that whatever happens the place holds either what it held
 * before or the whole new pack. A folder that is neither empty nor a pack is refused.
 */
export async function writePack(pack: Pack, target: PackTarget): Promise<void> {
  const out = resolve(target.out)
  const temporary = join(dirname(out), `.${basename(out)}.pharos-${process.pid}`)
  const isZip = out.toLowerCase().endsWith('.zip')
  try {
    mkdirSync(dirname(out), { recursive: true })
    if (!isZip) checkFolder(out, target.out)
    if (isZip) await writeZipFile(pack, temporary, target)
    else await writeFolder(pack, temporary, target)
    replace(temporary, out)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new PharosError('OUTPUT_REFUSED', { path: target.out, problem: error.message }, { cause: error })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function checkFolder(out: string, name: string): void {
  if (!existsSync(out)) return
  const entries = readdirSync(out, { withFileTypes: true })
  if (entries.length > 0 && !isPackFolder(out, entries)) {
    throw new PharosError('OUTPUT_REFUSED', { path: name, problem: 'the folder holds something that is not a pack' })
  }
}

async function writeZipFile(pack: Pack, temporary: string, target: PackTarget): Promise<void> {
  const file = await open(temporary, 'w')
  try {
    let pieces: Uint8Array[] = []
    let size = 0
    const flush = async () => {
      await file.writev(pieces)
      pieces = []
      size = 0
    }
    for await (const piece of zipPack(pack, withImages(pack, target))) {
      target.signal?.throwIfAborted()
      pieces.push(piece)
      size += piece.length
      if (size > 1 << 18 || pieces.length === 500) await flush()
    }
    if (pieces.length > 0) await flush()
  } finally {
    await file.close()
  }
}

async function writeFolder(pack: Pack, temporary: string, target: PackTarget): Promise<void> {
  const made = new Set<string>()
  for await (const { name, content } of packEntries(pack, withImages(pack, target))) {
    target.signal?.throwIfAborted()
    const place = join(temporary, name)
    if (!made.has(dirname(place))) await mkdir(dirname(place), { recursive: true })
    made.add(dirname(place))
    await writeFile(place, content)
  }
}

function replace(temporary: string, out: string): void {
  const old = `${temporary}-old`
  if (existsSync(out)) renameSync(out, old)
  renameSync(temporary, out)
  rmSync(old, { recursive: true, force: true })
}

/** Images are read when they are written; one that is no longer what was indexed stops the pack. */
function withImages(pack: Pack, target: PackTarget): PackOptions {
  const hashes = new Map(pack.files.map((file) => [file.path, file.sha256]))
  return {
    ...target,
    readImage: async (path) => {
      const bytes = await readFile(join(target.root, path))
      if (nodeSha256(bytes) !== hashes.get(path)) throw new PharosError('SOURCE_CHANGED', { path })
      return bytes
    },
  }
}
