import { compareUtf8 } from '../core/text/order.ts'
import type { StoreHit } from '../library/store.ts'

/** The order of hits, which is the same in every store: best first, then by id and by what else can differ. */
export function compareHits(a: StoreHit, b: StoreHit): number {
  if (a.score !== b.score) return b.score - a.score
  return compareUtf8(a.chunk.id, b.chunk.id) || compareUtf8(a.url, b.url) || compareUtf8(a.sourceId, b.sourceId)
}
