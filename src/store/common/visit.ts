import type { Discovery, Visit } from '../../crawl/ledger.ts'

/** What a visit is made of; flags as the database has them. */
export interface VisitRecord<Hash> {
  readonly key: string
  readonly url: string
  readonly discovery: Discovery
  readonly foundOn: string | null
  readonly attempts: number
  readonly etag: string | null
  readonly lastModified: string | null
  readonly contentUrl: string | null
  readonly hasLinks: Flag
  readonly isShell: Flag
  readonly contentHash: Hash | null
  readonly pageHash: Hash | null
  readonly checkedAt: number | null
  readonly target: string | null
  readonly isFinal: Flag
  /** Whether the address that holds its content still does. */
  readonly isRepeated: Flag
  /** Whether what it last answered with is what is stored. */
  readonly isAsStored: Flag
}

type Flag = boolean | 0 | 1

/** What a row says of a visit to it. */
type Told = Omit<Visit, 'sourceId' | 'host' | 'depth' | 'isConfirmation' | 'notBefore' | 'lease'>

/** Validators are only worth sending where an answer that nothing changed would be enough. */
export function toVisit<Hash>(found: VisitRecord<Hash>, unpackHash: (hash: Hash) => string): Told {
  const { key, url, discovery, foundOn, attempts, checkedAt, target } = found
  const hasPage = found.pageHash !== null
  const isFinal = Boolean(found.isFinal)
  // What it last answered with need not be what is stored: that nothing changed since would say nothing about the page.
  const isAsStored = hasPage && Boolean(found.isAsStored)
  const isConditional = !isFinal && (hasPage ? isAsStored : Boolean(found.isRepeated))
  const hash = found.pageHash ?? (isConditional ? found.contentHash : null)
  return {
    key,
    url,
    discovery,
    foundOn,
    attempts,
    etag: isConditional ? found.etag : null,
    lastModified: isConditional ? found.lastModified : null,
    contentUrl: found.contentUrl,
    contentHash: hash === null ? null : unpackHash(hash),
    checkedAt,
    hasPage,
    hasLinks: Boolean(found.hasLinks),
    isShell: Boolean(found.isShell),
    target,
    isFinal,
  }
}
