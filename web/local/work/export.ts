import { writeFullChunk } from '../../../src/core/pack/chunk-files.ts'
import { type PackOptions, packEntries, packName, zipPack } from '../../../src/core/pack/entries.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { bytesOf } from '../folder/open-folder.ts'
import { Trouble } from '../trouble.ts'
import type { Artefact, Exported } from './operations.ts'
import type { Task } from './task.ts'

/** Where an artefact is written from. */
export interface ExportSource {
  /** The folder that the pack is named by. */
  readonly root: string
  readonly images: ReadonlyMap<string, Blob>
  readonly task: Task
}

/** So much is handed to the browser at once, which keeps it outside the memory of the program. */
const HANDED_BYTES = 2 ** 22

/** Writes an artefact, byte by byte what the program writes for the same files. */
export async function writeArtefact(pack: Pack, artefact: Artefact, source: ExportSource): Promise<Exported> {
  const options: PackOptions = { readImage: (path) => readImage(path, source.images) }
  if (artefact.type === 'zip') {
    const pieces = zipPack(pack, { ...options, compact: artefact.compact })
    return { name: `${packName(source.root, pack)}.zip`, blob: await gather(pieces, source.task, 'application/zip') }
  }
  if (artefact.type === 'chunk') {
    const at = pack.refs.indexOf(artefact.ref)
    const text = writeFullChunk(pack, at)
    return { name: `${artefact.ref}.md`, blob: new Blob([text], { type: TYPES['md'] ?? '' }) }
  }
  for await (const { name, content } of packEntries(pack, options)) {
    if (name !== artefact.name) continue
    const pieces = content instanceof Uint8Array ? [content] : content
    return { name, blob: await gather(pieces, source.task, TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? '') }
  }
  throw new Trouble(`There is no ${artefact.name} in this pack.`, 'Choose another of its files.')
}

const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown;charset=utf-8',
  json: 'application/json',
  tsv: 'text/tab-separated-values;charset=utf-8',
}

async function readImage(path: string, images: ReadonlyMap<string, Blob>): Promise<Uint8Array> {
  const image = images.get(path)
  if (image !== undefined) return bytesOf(image)
  const advice = 'An index.json has no images: open the whole pack, or choose its folder. Single files can be exported.'
  throw new Trouble(`The image ${path} is not here.`, advice)
}

async function gather(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  task: Task,
  type: string,
): Promise<Blob> {
  const blobs: Blob[] = []
  let some: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  let total = 0
  for await (const piece of pieces) {
    some.push(piece as Uint8Array<ArrayBuffer>)
    size += piece.length
    total += piece.length
    task.progress({ stage: 'writing', done: total })
    await task.breathe()
    if (size < HANDED_BYTES) continue
    blobs.push(new Blob(some))
    some = []
    size = 0
  }
  return new Blob([...blobs, ...some], { type })
}
