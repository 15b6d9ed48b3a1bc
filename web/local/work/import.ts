import { PharosError } from '../../../src/core/errors.ts'
import { openPack, type PackReader } from '../../../src/core/pack/open-pack.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import type { ZipSource } from '../../../src/core/pack/unzip.ts'
import { memorySource, openZipReader } from '../../../src/core/pack/zip-reader.ts'
import { bytesOf } from '../folder/open-folder.ts'
import { Trouble } from '../trouble.ts'
import type { Task } from './task.ts'

/** A pack that came as a file. */
export interface ImportedPack {
  readonly pack: Pack
  readonly images: ReadonlyMap<string, Blob>
  /** The folder that it was made from, by the name of the file. */
  readonly root: string
}

/** Reads a pack, or an `index.json` alone. */
export async function readPack(file: File, task: Task): Promise<ImportedPack> {
  const isJson = file.name.toLowerCase().endsWith('.json')
  const reader = isJson ? await jsonReader(file) : await zipReader(file)
  const pack = isJson ? openIndex(reader) : openPack(reader)
  const images = new Map<string, Blob>()
  for (const { path, assetPath } of pack.chunks) {
    if (assetPath === null || !reader.has(assetPath)) continue
    images.set(path, new Blob([...reader.read(assetPath)] as Uint8Array<ArrayBuffer>[]))
    await task.breathe()
  }
  return { pack, images, root: rootOf(file.name) }
}

/** `docs.llmx-0a1b2c3d.zip` → `docs`; also of a compact one, a part of one, and one that a browser has numbered. */
function rootOf(name: string): string {
  const stem = name.replace(/\.(?:zip|json)$/i, '').replace(/ \(\d+\)$/, '')
  return stem.replace(/\.llmx-[0-9a-f]{8,}(?:\.part-\d+)?(?:\.compact)?$/, '') || 'pack'
}

async function jsonReader(file: File): Promise<PackReader> {
  const bytes = await bytesOf(file)
  return { name: file.name, has: (name) => name === 'index.json', read: () => [bytes] }
}

/** A pack has more than one file of JSON, and only one of them is all of it. */
function openIndex(reader: PackReader): Pack {
  try {
    return openPack(reader)
  } catch (cause) {
    if (!(cause instanceof PharosError) || cause.code !== 'PACK_INVALID') throw cause
    const advice = 'Of the single files of a pack only index.json can be opened. Choose that one, or the whole pack.'
    throw new Trouble(`${reader.name} is not the index.json of a pack, or not a whole one.`, advice, { cause })
  }
}

async function zipReader(file: File): Promise<PackReader> {
  return openZipReader(fileSource(file) ?? memorySource(await bytesOf(file)), file.name)
}

/** What only workers have. */
interface WorkerGlobals {
  readonly FileReaderSync?: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer }
}

/** Only a worker can wait for a part of a file without letting go. */
function fileSource(file: File): ZipSource | undefined {
  const { FileReaderSync: Reader } = globalThis as WorkerGlobals
  if (Reader === undefined) return undefined
  const reader = new Reader()
  return {
    size: file.size,
    read: (start, end) => new Uint8Array(reader.readAsArrayBuffer(file.slice(start, end))),
  }
}
