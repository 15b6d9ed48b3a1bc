import type { StoredHub } from '../../../library/ports/findings.ts'

/** A hub as an analysis or crawl has seen it. */
export type SeenHub = Omit<StoredHub, 'firstSeenAt' | 'lastSeenAt' | 'placeKind'> & {
  readonly placeKind: string | null
}
