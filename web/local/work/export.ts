import { writeFullChunk } from '../../../src/core/pack/chunk-files.ts'
import { type PackEntry, type PackOptions, packEntries, packName, zipEntries } from '../../../src/core/pack/entries.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import type { PackIndex } from '../../../src/core/pack/pack-index.ts'
import { bytesOf } from '../folder/open-folder.ts'
import { UserError } from '../user-error.ts'
import type { Artefact, ExportedFile } from './operations.ts'
import { runSteps, type Task } from './task.ts'

/** The data that an artefact is written from. */
export interface ExportSource {
  /** The name of the folder; packs are named after it. */
  readonly root: string
  readonly index: PackIndex
  readonly images: ReadonlyMap<string, Blob>
  readonly task: Task
}

/** Size of the pieces passed to the browser, which stores them outside the JavaScript heap. */
const BLOB_PIECE_BYTES = 2 ** 22

/** Writes an artefact, byte for byte what the command line writes for the same files. */
export async function writeArtefact(pack: Pack, artefact: Artefact, source: ExportSource): Promise<ExportedFile> {
  const { index, images, task } = source
  if (artefact.type === 'chunk') {
    const text = writeFullChunk(pack, pack.refs.indexOf(artefact.ref))
    return { name: `${artefact.ref}.md`, blob: new Blob([text], { type: TYPES['md'] ?? '' }) }
  }
  const compact = artefact.type === 'zip' && artefact.compact
  const hasPostings = artefact.type === 'zip' ? !compact : artefact.name === 'index.json'
  const postings = hasPostings ? (await runSteps(index.prepare('terms'), task)).stats().postings : 0
  const options: PackOptions = { compact, index, readImage: (path) => readImage(path, images) }
  if (artefact.type === 'zip') {
    const expected = estimateBytes(pack, compact ? COMPACT_BYTES : FULL_BYTES, postings)
    const writing = new ExportProgress(task, expected)
    const pieces = zipEntries(writing.count(packEntries(pack, options)))
    const name = `${packName(source.root, pack)}${compact ? '.compact' : ''}.zip`
    return { name, blob: await writing.gather(pieces, 'application/zip') }
  }
  const writing = new ExportProgress(task, hasPostings ? estimateBytes(pack, INDEX_BYTES, postings) : undefined)
  for await (const { name, content } of writing.count(packEntries(pack, options))) {
    if (name !== artefact.name) continue
    const pieces = content instanceof Uint8Array ? [content] : content
    return { name, blob: await writing.gather(pieces, TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? '') }
  }
  throw new UserError(`There is no ${artefact.name} in this pack.`, 'Choose another of its files.')
}

const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown;charset=utf-8',
  json: 'application/json',
  tsv: 'text/tab-separated-values;charset=utf-8',
}

async function readImage(path: string, images: ReadonlyMap<string, Blob>): Promise<Uint8Array> {
  const image = images.get(path)
  if (image === undefined) {
    const advice =
      'An index.json has no images: open the whole pack, or choose its folder. Single files can be exported.'
    throw new UserError(`The image ${path} is missing.`, advice)
  }
  try {
    return await bytesOf(image)
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    const advice =
      'It may have been updated or deleted in another tab. Reload the page and open the index again; single files can be exported now.'
    throw new UserError(`The images of this index can no longer be read.`, advice, { cause })
  }
}

/** How many times the text of a chunk is written, and the approximate bytes of metadata for each chunk. */
interface ChunkBytes {
  readonly copies: number
  readonly metadata: number
}

const FULL_BYTES: ChunkBytes = { copies: 2, metadata: 1340 }
const COMPACT_BYTES: ChunkBytes = { copies: 1, metadata: 110 }
const INDEX_BYTES: ChunkBytes = { copies: 1, metadata: 520 }
/** The size of `{"chunk_id":"…","tf":1,"doc_len":120},` in `index.json`. */
const POSTING_BYTES = 95

/** Estimates the bytes of content. */
function estimateBytes({ chunks }: Pack, { copies, metadata }: ChunkBytes, postings: number): number {
  const text = chunks.reduce((sum, { content }) => sum + content.length, 0)
  return text * copies + chunks.length * metadata + postings * POSTING_BYTES
}

/** The reported progress stays below 100 % until everything is written. */
const MAX_REPORTED_SHARE = 0.99

/** Tracks the progress of an export. */
class ExportProgress {
  readonly #task: Task
  readonly #expected: number | undefined
  #content = 0

  /** `expected` is the estimated number of content bytes. */
  constructor(task: Task, expected: number | undefined) {
    this.#task = task
    this.#expected = expected
  }

  /** Counts content bytes as entries are read. */
  async *count(entries: AsyncIterable<PackEntry>): AsyncGenerator<PackEntry, void, void> {
    for await (const { name, content } of entries) {
      if (content instanceof Uint8Array) this.#content += content.length
      yield { name, content: content instanceof Uint8Array ? content : this.#countPieces(content) }
    }
  }

  async gather(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, type: string): Promise<Blob> {
    const blobs: Blob[] = []
    let batch: Uint8Array<ArrayBuffer>[] = []
    let size = 0
    let total = 0
    for await (const piece of pieces) {
      batch.push(piece as Uint8Array<ArrayBuffer>)
      size += piece.length
      total += piece.length
      this.#task.progress({ stage: 'writing', done: total, total: this.#expectTotal(total) })
      await this.#task.yieldIfDue()
      if (size < BLOB_PIECE_BYTES) continue
      blobs.push(new Blob(batch))
      batch = []
      size = 0
    }
    return new Blob([...blobs, ...batch], { type })
  }

  *#countPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const piece of pieces) {
      this.#content += piece.length
      yield piece
    }
  }

  /** Assumes that the compression ratio so far holds for the rest. */
  #expectTotal(written: number): number | undefined {
    if (this.#expected === undefined) return undefined
    const share = Math.min(MAX_REPORTED_SHARE, this.#content / this.#expected)
    return share === 0 ? undefined : Math.ceil(written / share)
  }
}
