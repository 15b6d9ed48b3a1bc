import { writeZip, type ZipEntry } from '../archive/zip-writer.ts'
import { BlockWriter } from '../text/block-writer.ts'
import { writeCompactChunk, writeFullChunk } from './chunk-files.ts'
import { writeCatalogMd, writeLlmMd, writeOutlineMd } from './guides.ts'
import { writeIndexJson } from './index-json.ts'
import { writeManifestJson, writeManifestMinJson, writeManifestTsv } from './manifests.ts'
import type { Pack } from './pack.ts'
import type { PackIndex } from './pack-index.ts'
import { VECTORS_FILE } from './pack-vectors.ts'
import { createTables } from './tables.ts'

/** Options for the content and form of a pack. */
export interface PackOptions {
  /** Only `llm.md`, `manifest.llm.tsv`, chunks with a one-line header, and images. @default false */
  readonly compact?: boolean
  /** Longest run of equal lines of a text that is kept. @default 3 */
  readonly repeats?: number
  /** The index of the pack, if the caller has one: building it takes time. */
  readonly index?: PackIndex
  /** Returns the bytes of an image by its path in the source. */
  readonly readImage: (path: string) => Promise<Uint8Array> | Uint8Array
}

/** One file of a pack, by its path inside the pack. */
export interface PackEntry {
  readonly name: string
  readonly content: Uint8Array | Iterable<Uint8Array>
}

/** The files of a pack, in a fixed order, each created on demand. */
export async function* packEntries(pack: Pack, options: PackOptions): AsyncGenerator<PackEntry, void, void> {
  yield { name: 'llm.md', content: utf8.encode(writeLlmMd(pack)) }
  if (!options.compact) {
    yield { name: 'catalog.llm.md', content: utf8.encode(writeCatalogMd(pack)) }
    yield { name: 'outline.md', content: encodeRows(writeOutlineMd(pack)) }
    yield { name: 'index.json', content: writeIndexJson(pack, options.index) }
    yield { name: 'manifest.json', content: encodeRows(writeManifestJson(pack)) }
    yield { name: 'manifest.min.json', content: encodeRows(writeManifestMinJson(pack)) }
  }
  yield { name: 'manifest.llm.tsv', content: encodeRows(writeManifestTsv(pack)) }
  if (pack.vectors !== undefined) yield { name: VECTORS_FILE, content: pack.vectors.write() }

  const tables = createTables(pack)
  const repeats = options.repeats === undefined ? {} : { repeats: options.repeats }
  for (const [i, ref] of pack.refs.entries()) {
    const text = options.compact ? writeCompactChunk(pack, i, tables, repeats) : writeFullChunk(pack, i, repeats)
    yield { name: `chunks/${ref}.md`, content: utf8.encode(text) }
  }
  for (const chunk of pack.chunks) {
    if (chunk.assetPath !== null) yield { name: chunk.assetPath, content: await options.readImage(chunk.path) }
  }
}

/** A pack as one zip archive, piece by piece. The same files give the same bytes. */
export function zipPack(pack: Pack, options: PackOptions): AsyncGenerator<Uint8Array, void, void> {
  return zipEntries(packEntries(pack, options))
}

/** The files of a pack as one zip archive. */
export function zipEntries(entries: AsyncIterable<PackEntry>): AsyncGenerator<Uint8Array, void, void> {
  return writeZip(toZipEntries(entries))
}

/** The default name of a pack: the name of the folder, and the first eight characters of the index id. */
export function packName(root: string, pack: Pack): string {
  return `${root}.llmx-${pack.indexId.slice(0, 8)}`
}

const utf8 = new TextEncoder()

async function* toZipEntries(entries: AsyncIterable<PackEntry>): AsyncGenerator<ZipEntry, void, void> {
  for await (const entry of entries) {
    yield { ...entry, isStored: entry.name.startsWith('images/') || entry.name === VECTORS_FILE }
  }
}

/** Encodes text in blocks that are large enough to be worth a call. */
function* encodeRows(rows: Iterable<string>): Generator<Uint8Array> {
  const writer = new BlockWriter()
  for (const row of rows) {
    writer.write(row)
    if (writer.isFull) yield writer.take()
  }
  yield writer.take()
}
