import type { Chunk, Page } from '../../core/model.ts'
import type { ChunkSpan, StoredChunk, StoredPage } from '../../library/ports/store.ts'
import { selectColumns } from './columns.ts'
import { parseStored } from './damage.ts'

/** The columns of a stored page. */
export interface PageColumns {
  readonly sourceId: string
  readonly key: string
  /** The page without its Markdown, as JSON. */
  readonly meta: string
  readonly markdown: string
  readonly checkedAt: number
  readonly changedAt: number
}

/** The source, URL and title that a chunk belongs to. */
export type ChunkOrigin = Omit<StoredChunk, 'chunk'>

/** The columns of a stored chunk, without its text. */
export interface ChunkColumns extends Omit<Chunk, 'shortId' | 'headingPath' | 'content'> {
  /** As JSON. */
  readonly headingPath: string
}

/** The columns of a stored chunk, with hashes in their database form. */
export type HashedChunkColumns<Hash> = Omit<ChunkColumns, 'id' | 'contentHash'> & {
  readonly chunkId: Hash
  readonly contentHash: Hash
}

/** The selected columns of a chunk c without its text, and of its origin. */
export const CHUNK_COLUMNS: string = `c.position AS "chunkIndex", ${selectColumns(
  'chunk_id, content_hash, kind, start_line, end_line, token_estimate, slug, path, heading_path, symbol, address, asset_path',
  'c',
)}`
export const ORIGIN_COLUMNS = 's.uuid AS "sourceId", l.url, p.title'

/** SQL that selects stored pages. */
export const SELECT_PAGES = `SELECT s.uuid AS "sourceId", l.key, p.meta, p.markdown, l.checked_at AS "checkedAt", l.changed_at AS "changedAt"
  FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source`

/** The columns of a chunk besides its number, source and page. */
export const STORED_CHUNK_COLUMNS = `chunk_id, content_hash, position, kind, start_line, end_line, token_estimate, slug, path, heading_path,
  symbol, address, asset_path, content`

/** A chunk as it is stored, with a field for each of {@link STORED_CHUNK_COLUMNS}. */
export function toChunkRecord<Hash>(chunk: Chunk, packHash: (hash: string) => Hash): object {
  const { kind, startLine, endLine, tokenEstimate, slug, path, symbol, address, assetPath, content } = chunk
  return {
    ...{ kind, startLine, endLine, tokenEstimate, slug, path, symbol, address, assetPath, content },
    chunkId: packHash(chunk.id),
    contentHash: packHash(chunk.contentHash),
    position: chunk.chunkIndex,
    headingPath: JSON.stringify(chunk.headingPath),
  }
}

/** Converts the hashes of a stored chunk. */
export function unpackChunk<Hash>(
  { chunkId, contentHash, ...rest }: HashedChunkColumns<Hash>,
  unpackHash: (hash: Hash) => string,
): ChunkColumns {
  return { ...rest, id: unpackHash(chunkId), contentHash: unpackHash(contentHash) }
}

/** The columns of a chunk's position in its page. */
export interface SpanColumns extends Omit<ChunkSpan, 'headingPath'> {
  /** As JSON. */
  readonly headingPath: string
}

/** Minimum length of a chunk id prefix. */
const MIN_PREFIX = 12

/** The range of ids with this prefix; undefined when the text is not an id prefix. */
export function parseIdPrefix(prefix: string): readonly [first: string, last: string] | undefined {
  const isPrefix = prefix.length >= MIN_PREFIX && prefix.length < 64 && /^[0-9a-f]+$/.test(prefix)
  return isPrefix ? [prefix.padEnd(64, '0'), prefix.padEnd(64, 'f')] : undefined
}

/** Converts a stored page. */
export function toStoredPage(found: PageColumns): StoredPage {
  const { sourceId, key, checkedAt, changedAt } = found
  return { sourceId, key, page: toPage(found), checkedAt, changedAt }
}

/** Builds a page from its columns. */
export function toPage({ meta, markdown }: Pick<PageColumns, 'meta' | 'markdown'>): Page {
  // All JSON that is parsed in this file was written by a store.
  return { ...parseStored<Omit<Page, 'markdown'>>(meta), markdown }
}

/** Converts a stored chunk. Its text is read on first access, because most hits never need it. */
export function toStoredChunk(
  { headingPath, ...rest }: ChunkColumns,
  { sourceId, url, title }: ChunkOrigin,
  readContent: () => string,
): StoredChunk {
  let content: string | undefined
  return {
    sourceId,
    url,
    title,
    chunk: {
      ...rest,
      shortId: rest.id.slice(0, MIN_PREFIX),
      headingPath: parseStored<string[]>(headingPath),
      get content() {
        content ??= readContent()
        return content
      },
    },
  }
}

/** The columns of a removed chunk. */
const REMOVED_CHUNK: ChunkColumns = {
  ...{ id: '', contentHash: '', slug: '', path: '', kind: 'unknown', symbol: null, address: null, assetPath: null },
  ...{ chunkIndex: -1, startLine: 0, endLine: 0, tokenEstimate: 0, headingPath: '[]' },
}

/**
 * A chunk that is read from the store on first access: a query finds a hundred chunks and shows ten. A chunk that was removed meanwhile has
 * an empty id and text.
 */
export class LazyChunk implements Chunk {
  readonly path: string
  readonly #readColumns: () => ChunkColumns | undefined
  readonly #readContent: () => string | undefined
  #columns: ChunkColumns | undefined
  #headingPath: readonly string[] | undefined
  #content: string | undefined

  constructor(path: string, readColumns: () => ChunkColumns | undefined, readContent: () => string | undefined) {
    this.path = path
    this.#readColumns = readColumns
    this.#readContent = readContent
  }

  get #loadedColumns(): ChunkColumns {
    this.#columns ??= this.#readColumns() ?? REMOVED_CHUNK
    return this.#columns
  }

  get id(): string {
    return this.#loadedColumns.id
  }

  get shortId(): string {
    return this.#loadedColumns.id.slice(0, MIN_PREFIX)
  }

  get slug(): string {
    return this.#loadedColumns.slug
  }

  get kind(): Chunk['kind'] {
    return this.#loadedColumns.kind
  }

  get chunkIndex(): number {
    return this.#loadedColumns.chunkIndex
  }

  get startLine(): number {
    return this.#loadedColumns.startLine
  }

  get endLine(): number {
    return this.#loadedColumns.endLine
  }

  get content(): string {
    this.#content ??= this.#readContent() ?? ''
    return this.#content
  }

  get contentHash(): string {
    return this.#loadedColumns.contentHash
  }

  get tokenEstimate(): number {
    return this.#loadedColumns.tokenEstimate
  }

  get headingPath(): readonly string[] {
    this.#headingPath ??= parseStored<string[]>(this.#loadedColumns.headingPath)
    return this.#headingPath
  }

  get symbol(): string | null {
    return this.#loadedColumns.symbol
  }

  get address(): string | null {
    return this.#loadedColumns.address
  }

  get assetPath(): string | null {
    return this.#loadedColumns.assetPath
  }

  /** The whole chunk, because JSON.stringify does not include getters. */
  toJSON(): Chunk {
    return {
      ...this.#loadedColumns,
      shortId: this.shortId,
      headingPath: this.headingPath,
      content: this.content,
      path: this.path,
    }
  }
}

/** Converts chunk positions. Consecutive chunks of one section share their headings, which are parsed once. */
export function toSpans(found: readonly SpanColumns[]): ChunkSpan[] {
  let lastHeadingPath = ''
  let path: readonly string[] = []
  return found.map(({ headingPath, ...span }) => {
    if (headingPath !== lastHeadingPath) {
      path = parseStored<string[]>(headingPath)
      lastHeadingPath = headingPath
    }
    return { ...span, headingPath: path }
  })
}
