import type { PageSignature } from '../../../core/retrieval/page-signature.ts'
import type { ChunkOrigin } from '../../common/stored-content.ts'
import type { Database } from '../database/database.ts'
import { createStateKey } from './state-key.ts'

/** Page data that every search needs for its hits. */
export interface PageFacts extends ChunkOrigin {
  readonly key: string
  /** Undefined when the signature was not computed yet. */
  readonly signature: PageSignature | undefined
}

interface Columns extends Omit<PageFacts, 'signature'>, PageSignature {
  readonly hasSignature: number
}

/** Maximum number of cached pages, about a megabyte. */
const MAX_CACHED_PAGES = 2000

/** Creates a reader of page facts by row id. They stay cached until something is written to the library. */
export function createPageFacts(db: Database): (pages: readonly number[]) => (PageFacts | undefined)[] {
  const stateKey = createStateKey(db)
  const select = db.prepare<[number], Columns>(
    `SELECT s.uuid AS sourceId, l.key, l.url, p.title, k.page IS NOT NULL AS hasSignature, k.fingerprint, k.language,
       k.family
     FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source LEFT JOIN likenesses k ON k.page = l.id
     WHERE l.id = ?`,
  )
  const cache = new Map<number, PageFacts>()
  let cachedState = ''
  const read = (page: number): PageFacts | undefined => {
    const known = cache.get(page)
    if (known !== undefined) return known
    const found = select.get(page)
    if (found === undefined) return undefined
    const { sourceId, key, url, title, hasSignature, fingerprint, language, family } = found
    const signature = hasSignature === 1 ? { fingerprint, language, family } : undefined
    const facts = { sourceId, key, url, title, signature }
    cache.set(page, facts)
    return facts
  }
  return (pages) => {
    const currentState = stateKey()
    if (currentState !== cachedState || cache.size > MAX_CACHED_PAGES) cache.clear()
    cachedState = currentState
    return pages.map(read)
  }
}
