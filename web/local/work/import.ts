import { openPack, type PackReader } from '../../../src/core/pack/open-pack.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import type { ZipSource } from '../../../src/core/pack/unzip.ts'
import { memorySource, openZipReader } from '../../../src/core/pack/zip-reader.ts'
import { bytesOf } from '../folder/open-folder.ts'
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
  const reader = file.name.toLowerCase().endsWith('.json') ? await jsonReader(file) : await zipReader(file)
  const pack = openPack(reader)
  const images = new Map<string, Blob>()
  for (const { path, assetPath } of pack.chunks) {
    if (assetPath === null || !reader.has(assetPath)) continue
    images.set(path, new Blob([...reader.read(assetPath)] as Uint8Array<ArrayBuffer>[]))
    await task.breathe()
  }
  return { pack, images, root: rootOf(file.name) }
}

/** `docs.llmx-0a1b2c3d.zip` → `docs` */
function rootOf(name: string): string {
  return name.replace(/\.(?:zip|json)$/i, '').replace(/\.llmx-[0-9a-f]{8,}$/, '') || 'pack'
}

async function jsonReader(file: File): Promise<PackReader> {
  const bytes = await bytesOf(file)
  return { name: file.name, has: (name) => name === 'index.json', read: () => [bytes] }
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
