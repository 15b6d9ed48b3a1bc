import type { Chunk, Page } from '../../core/model.ts'
import type { ChunkSpan, StoredChunk, StoredPage } from '../../library/store.ts'
import { parseStored } from './damage.ts'

/** A page as stores read it. */
export interface PageColumns {
  readonly sourceId: string
  readonly key: string
  /** The page without its Markdown, as JSON. */
  readonly meta: string
  readonly markdown: string
  readonly checkedAt: number
  readonly changedAt: number
}

/** Where a chunk belongs. */
export type ChunkPlace = Omit<StoredChunk, 'chunk'>

/** A chunk as stores read it, but for its text. */
export interface ChunkColumns extends Omit<Chunk, 'shortId' | 'headingPath' | 'content'> {
  /** As JSON. */
  readonly headingPath: string
}

/** Where a chunk stands in its page, as stores read it. */
export interface SpanColumns extends Omit<ChunkSpan, 'headingPath'> {
  /** As JSON. */
  readonly headingPath: string
}

/** Shortest beginning of a chunk's id that names it. */
const MIN_PREFIX = 12

/** The first and the last id that begin so; undefined where no beginning of an id is meant. */
export function idsFrom(prefix: string): readonly [first: string, last: string] | undefined {
  const isPrefix = prefix.length >= MIN_PREFIX && prefix.length < 64 && /^[0-9a-f]+$/.test(prefix)
  return isPrefix ? [prefix.padEnd(64, '0'), prefix.padEnd(64, 'f')] : undefined
}

/** A page as everybody else has it. */
export function toStoredPage(found: PageColumns): StoredPage {
  const { sourceId, key, checkedAt, changedAt } = found
  return { sourceId, key, page: toPage(found), checkedAt, changedAt }
}

/** The page of its columns. */
export function toPage({ meta, markdown }: Pick<PageColumns, 'meta' | 'markdown'>): Page {
  // Written by a store, like everything that is parsed here.
  return { ...parseStored<Omit<Page, 'markdown'>>(meta), markdown }
}

/** A chunk whose text may be read when it is asked for: of most hits it never is. */
export function toStoredChunk(
  { headingPath, ...rest }: ChunkColumns,
  { sourceId, url, title }: ChunkPlace,
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
const GONE: ChunkColumns = {
  ...{ id: '', contentHash: '', slug: '', path: '', kind: 'unknown', symbol: null, address: null, assetPath: null },
  ...{ chunkIndex: -1, startLine: 0, endLine: 0, tokenEstimate: 0, headingPath: '[]' },
}

/**
 * A chunk that is read from the store at the first use: a question finds a hundred chunks and shows ten. A chunk that was removed
 * meanwhile has no id and no text.
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

  get #read(): ChunkColumns {
    this.#columns ??= this.#readColumns() ?? GONE
    return this.#columns
  }

  get id(): string {
    return this.#read.id
  }

  get shortId(): string {
    return this.#read.id.slice(0, MIN_PREFIX)
  }

  get slug(): string {
    return this.#read.slug
  }

  get kind(): Chunk['kind'] {
    return this.#read.kind
  }

  get chunkIndex(): number {
    return this.#read.chunkIndex
  }

  get startLine(): number {
    return this.#read.startLine
  }

  get endLine(): number {
    return this.#read.endLine
  }

  get content(): string {
    this.#content ??= this.#readContent() ?? ''
    return this.#content
  }

  get contentHash(): string {
    return this.#read.contentHash
  }

  get tokenEstimate(): number {
    return this.#read.tokenEstimate
  }

  get headingPath(): readonly string[] {
    this.#headingPath ??= parseStored<string[]>(this.#read.headingPath)
    return this.#headingPath
  }

  get symbol(): string | null {
    return this.#read.symbol
  }

  get address(): string | null {
    return this.#read.address
  }

  get assetPath(): string | null {
    return this.#read.assetPath
  }

  /** The whole chunk: getters are not serialised by themselves. */
  toJSON(): Chunk {
    return {
      ...this.#read,
      shortId: this.shortId,
      headingPath: this.headingPath,
      content: this.content,
      path: this.path,
    }
  }
}

/** Chunks of one section have the same headings, which are read once. */
export function toSpans(found: readonly SpanColumns[]): ChunkSpan[] {
  let written = ''
  let path: readonly string[] = []
  return found.map(({ headingPath, ...span }) => {
    if (headingPath !== written) {
      path = parseStored<string[]>(headingPath)
      written = headingPath
    }
    return { ...span, headingPath: path }
  })
}
