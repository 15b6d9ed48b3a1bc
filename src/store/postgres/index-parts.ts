import type { EncodedSegment, Segment } from '../../core/search/segment.ts'
import type { Sql } from './database.ts'

type Head = Pick<EncodedSegment, 'documents' | 'directory'>

/** A cache for parts of the index by segment id. Segments are immutable, and their ids are never reused. */
export interface IndexParts {
  open(id: number): Head & Pick<Segment, 'readBlock'>
  /**
   * Runs work that reads parts. Missing parts read as empty and are noted. When anything is missing, the result is invalid, and the work
   * must be repeated after loading.
   */
  run<T>(held: PinnedBlocks, work: () => T): { readonly result: T; readonly lacking: MissingParts | undefined }
  /** Loads all missing parts at once; false when some of them no longer exist. */
  load(sql: Sql, lacking: MissingParts, held: PinnedBlocks): Promise<boolean>
  /** Which of these segments are not cached. */
  listMissing(segments: readonly number[]): number[]
  /** Drops all cached segments except these. */
  keepOnly(segments: readonly number[]): void
}

/** Missing parts: segments by id, and blocks by segment. */
export interface MissingParts {
  readonly segments: ReadonlySet<number>
  readonly blocks: ReadonlyMap<number, ReadonlySet<number>>
}

/** The blocks that one piece of work has loaded. They stay available until it is done, whatever other work evicts. */
export type PinnedBlocks = Map<number, Uint8Array>

/** Maximum size of the block cache in bytes. */
const MAX_CACHE_BYTES = 64 * 1024 * 1024
/** Above the number of blocks of any segment. */
const MAX_BLOCKS = 2 ** 20

const EMPTY = new Uint8Array(0)
/** The head of a segment without documents. */
const NO_HEAD: Head = { documents: Uint8Array.of(0), directory: EMPTY }

/** Creates the in-memory cache. */
export function createIndexParts(): IndexParts {
  const heads = new Map<number, Head>()
  /** In LRU order: least recently read first. */
  const blocks = new Map<number, Uint8Array>()
  let bytes = 0
  let held: PinnedBlocks = new Map()
  let lackingSegments = new Set<number>()
  let lackingBlocks = new Map<number, Set<number>>()

  const readBlock = (segment: number, block: number): Uint8Array => {
    const name = segment * MAX_BLOCKS + block
    const known = blocks.get(name)
    if (known !== undefined) {
      blocks.delete(name)
      blocks.set(name, known)
    }
    const found = known ?? held.get(name)
    if (found !== undefined) return found
    const lacking = lackingBlocks.get(segment) ?? new Set()
    lackingBlocks.set(segment, lacking.add(block))
    return EMPTY
  }
  const keep = (name: number, block: Uint8Array): void => {
    if (!blocks.has(name)) bytes += block.byteLength
    blocks.set(name, block)
    for (const [oldest, { byteLength }] of blocks) {
      if (bytes <= MAX_CACHE_BYTES) return
      blocks.delete(oldest)
      bytes -= byteLength
    }
  }

  return {
    open: (id) => {
      const head = heads.get(id)
      if (head === undefined) lackingSegments.add(id)
      return { ...(head ?? NO_HEAD), readBlock: (block) => readBlock(id, block) }
    },
    run: (own, work) => {
      held = own
      lackingSegments = new Set()
      lackingBlocks = new Map()
      const result = work()
      const isLacking = lackingSegments.size + lackingBlocks.size > 0
      return { result, lacking: isLacking ? { segments: lackingSegments, blocks: lackingBlocks } : undefined }
    },
    load: async (sql, lacking, own) => {
      const isWhole = await loadHeads(sql, [...lacking.segments], heads)
      const asked = [...lacking.blocks].flatMap(([segment, some]) => [...some].map((block) => ({ segment, block })))
      const found = asked.length === 0 ? [] : await readBlocks(sql, asked)
      for (const { segment, block, data } of found) {
        const name = segment * MAX_BLOCKS + block
        const plain = toPlain(data)
        own.set(name, plain)
        keep(name, plain)
      }
      return isWhole && found.length === asked.length
    },
    listMissing: (segments) => segments.filter((id) => !heads.has(id)),
    keepOnly: (segments) => {
      const listed = new Set(segments)
      for (const id of heads.keys()) if (!listed.has(id)) heads.delete(id)
    },
  }
}

async function loadHeads(sql: Sql, ids: readonly number[], heads: Map<number, Head>): Promise<boolean> {
  if (ids.length === 0) return true
  const found = await sql.all<{ id: number; documents: Buffer; directory: Buffer }>(
    'SELECT id, documents, directory FROM index_segments WHERE id = ANY ($1::bigint[])',
    [ids],
  )
  for (const { id, documents, directory } of found) {
    heads.set(id, { documents: toPlain(documents), directory: toPlain(directory) })
  }
  return found.length === ids.length
}

function readBlocks(
  sql: Sql,
  asked: readonly { readonly segment: number; readonly block: number }[],
): Promise<{ segment: number; block: number; data: Buffer }[]> {
  return sql.all(
    `SELECT b.segment, b.block, b.data FROM unnest($1::bigint[], $2::integer[]) AS a (segment, block)
     JOIN index_blocks b ON b.segment = a.segment AND b.block = a.block`,
    [asked.map(({ segment }) => segment), asked.map(({ block }) => block)],
  )
}

/** Converts a `Buffer`, because slicing a plain array is several times faster. */
function toPlain({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
