import { compareUtf8 } from '../core/text/order.ts'
import type { Store, StoredChunk, StoreMatch, StoreQuery } from './store.ts'

/** A match with what is stored of its chunk. */
export type StoreHit = StoreMatch & StoredChunk

/** The chunks that match best by their words, best first. */
export async function searchHits(store: Store, query: StoreQuery): Promise<StoreHit[]> {
  return readHits(store, await store.search(query))
}

/**
 * Reads the chunks of matches; those that were removed meanwhile are left out. Their order is the same in every store: best first,
 * then by id and by what else can differ.
 */
export async function readHits<M extends StoreMatch>(
  store: Store,
  matches: readonly M[],
): Promise<(M & StoredChunk)[]> {
  const chunks = await store.readMatches(matches)
  const hits = matches.flatMap((match, i) => {
    const stored = chunks[i]
    if (stored === undefined) return []
    const { sourceId, url, title, chunk } = stored
    // To copy all of both takes several times as long.
    return [{ ...match, sourceId, url, title, chunk }]
  })
  return hits.sort(compareHits)
}

function compareHits(a: StoreHit, b: StoreHit): number {
  if (a.score !== b.score) return b.score - a.score
  // Ids are read only where their beginnings do not decide.
  if (a.order !== b.order && a.order > 0 && b.order > 0) return a.order - b.order
  return compareUtf8(a.chunk.id, b.chunk.id) || compareUtf8(a.url, b.url) || compareUtf8(a.sourceId, b.sourceId)
}
