import { compareUtf8 } from '../../core/text/order.ts'
import type { Store, StoredChunk, StoreMatch, StoreQuery } from '../ports/store.ts'

/** A match with its stored chunk. */
export type StoreHit = StoreMatch & StoredChunk

/** Searches by words and reads the matching chunks, best first. */
export async function searchHits(store: Store, query: StoreQuery): Promise<StoreHit[]> {
  return readHits(store, await store.search(query))
}

/**
 * Reads the chunks of matches, skipping chunks removed meanwhile. The order is the same in every store: by score, then id, then address and
 * source.
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
    // Picks single fields, because spreading both objects is several times slower.
    return [{ ...match, sourceId, url, title, chunk }]
  })
  return hits.sort(compareHits)
}

function compareHits(a: StoreHit, b: StoreHit): number {
  if (a.score !== b.score) return b.score - a.score
  // Compares the numeric id prefixes first, because reading ids is slow.
  if (a.order !== b.order && a.order > 0 && b.order > 0) return a.order - b.order
  return compareUtf8(a.chunk.id, b.chunk.id) || compareUtf8(a.url, b.url) || compareUtf8(a.sourceId, b.sourceId)
}
