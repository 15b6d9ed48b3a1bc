import { memorySource, type ZipSource } from '../../../src/core/archive/zip-reader.ts'
import { PharosError } from '../../../src/core/errors.ts'
import { openPack, type PackReader } from '../../../src/core/pack/open-pack.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { openZipReader } from '../../../src/core/pack/zip-pack-reader.ts'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { bytesOf } from '../folder/open-folder.ts'
import { UserError } from '../user-error.ts'
import type { Task } from './task.ts'

/** A pack that was imported from a file. */
export interface ImportedPack {
  readonly pack: Pack
  readonly images: ReadonlyMap<string, Blob>
  /** The name of the folder that the pack was made from, derived from the file name. */
  readonly root: string
}

/** Reads a pack, or an `index.json` alone. */
export async function readPack(file: File, task: Task): Promise<ImportedPack> {
  const isJson = file.name.toLowerCase().endsWith('.json')
  const reader = isJson ? await jsonReader(file) : await zipReader(file)
  const pack = isJson ? openIndex(reader) : openPack(reader)
  return { pack, images: await readImages(pack, reader, task), root: rootOf(file.name) }
}

/** Limit for all images of a pack together: more than any pack with sensible limits has, but within the capacity of browsers. */
const MAX_IMAGE_BYTES = 2 ** 28

/** Reads the images up to a limit, because a small archive can decompress to a huge size. */
async function readImages({ chunks }: Pack, reader: PackReader, task: Task): Promise<Map<string, Blob>> {
  const images = new Map<string, Blob>()
  const assets = chunks.flatMap(({ path, assetPath }) => {
    return assetPath === null || !reader.has(assetPath) ? [] : [{ path, assetPath }]
  })
  let remainingBytes = MAX_IMAGE_BYTES
  for (const { path, assetPath } of assets) {
    const parts: Uint8Array<ArrayBuffer>[] = []
    for (const part of reader.read(assetPath)) {
      remainingBytes -= part.length
      if (remainingBytes < 0) {
        const advice = 'Make a pack of a part of its folder; an index.json can be opened without images.'
        throw new UserError(`The images of ${reader.name} are larger than ${writeBytes(MAX_IMAGE_BYTES)}.`, advice)
      }
      parts.push(part as Uint8Array<ArrayBuffer>)
      task.progress({ stage: 'taking', done: images.size, total: assets.length, path })
      await task.yieldIfDue()
    }
    images.set(path, new Blob(parts))
  }
  return images
}

/** `docs.llmx-0a1b2c3d.zip` → `docs`. Also handles compact packs, parts of packs, and names that a browser numbered. */
function rootOf(name: string): string {
  const stem = name.replace(/\.(?:zip|json)$/i, '').replace(/ \(\d+\)$/, '')
  return stem.replace(/\.llmx-[0-9a-f]{8,}(?:\.part-\d+)?(?:\.compact)?$/, '') || 'pack'
}

/** Reads an `index.json` only as far as needed: the postings at its end are most of the file and are rebuilt here. */
async function jsonReader(file: File): Promise<PackReader> {
  const source = fileSource(file)
  if (source === undefined && file.size > MAX_IN_MEMORY_BYTES) {
    const advice = 'Open the whole pack instead, which is smaller, or use a browser that has workers.'
    throw new UserError(`${file.name} has ${writeBytes(file.size)}, which is too large for this browser.`, advice)
  }
  const { size, read } = source ?? memorySource(await bytesOf(file))
  return {
    name: file.name,
    has: (name) => name === 'index.json',
    *read() {
      for (let at = 0; at < size; at += SLICE_BYTES) yield read(at, Math.min(size, at + SLICE_BYTES))
    },
  }
}

const SLICE_BYTES = 2 ** 20

/** Without synchronous reads the whole file must be held in memory, up to this size. */
const MAX_IN_MEMORY_BYTES = 2 ** 29

/** Explains the failure, because a pack contains several JSON files, of which only `index.json` can be opened. */
function openIndex(reader: PackReader): Pack {
  try {
    return openPack(reader)
  } catch (cause) {
    if (!(cause instanceof PharosError) || cause.code !== 'PACK_INVALID') throw cause
    const advice = 'Of the single files of a pack only index.json can be opened. Choose that one, or the whole pack.'
    throw new UserError(`${reader.name} is not the index.json of a pack, or is incomplete.`, advice, { cause })
  }
}

async function zipReader(file: File): Promise<PackReader> {
  return openZipReader(fileSource(file) ?? memorySource(await bytesOf(file)), file.name)
}

/** APIs that exist only in workers. */
interface WorkerGlobals {
  readonly FileReaderSync?: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer }
}

/** Reads ranges of a file synchronously, which only workers can do. */
function fileSource(file: File): ZipSource | undefined {
  const { FileReaderSync: Reader } = globalThis as WorkerGlobals
  if (Reader === undefined) return undefined
  const reader = new Reader()
  return {
    size: file.size,
    read: (start, end) => new Uint8Array(reader.readAsArrayBuffer(file.slice(start, end))),
  }
}
