import type { Visit } from '../../../crawl/ledger.ts'
import { selectColumns } from '../columns.ts'

/** The columns that make up a visit, with flags in their database form. */
export interface VisitRecord<Hash>
  extends Pick<
    Visit,
    | 'key'
    | 'url'
    | 'discovery'
    | 'foundOn'
    | 'attempts'
    | 'etag'
    | 'lastModified'
    | 'contentUrl'
    | 'checkedAt'
    | 'target'
  > {
  readonly hasLinks: Flag
  readonly isShell: Flag
  readonly contentHash: Hash | null
  readonly pageHash: Hash | null
  readonly isFinal: Flag
  /** Whether the target row still holds the content. */
  readonly isRepeated: Flag
  /** Whether the last response has the stored content. */
  readonly isAsStored: Flag
}

type Flag = boolean | 0 | 1

/** The columns of a row l that its visit carries unchanged. */
export const VISIT_COLUMNS: string = selectColumns(
  'key, url, discovery, found_on, attempts, etag, last_modified, content_url, is_shell, content_hash, page_hash, checked_at, target, is_final',
  'l',
)

/** The fields of a visit that come from its row. */
type RowVisitFields = Omit<Visit, 'sourceId' | 'host' | 'depth' | 'isConfirmation' | 'notBefore' | 'lease'>

/** Builds a visit. It carries validators only when a 304 response would be sufficient. */
export function toVisit<Hash>(found: VisitRecord<Hash>, unpackHash: (hash: Hash) => string): RowVisitFields {
  const { key, url, discovery, foundOn, attempts, checkedAt, target } = found
  const hasPage = found.pageHash !== null
  const isFinal = Boolean(found.isFinal)
  // When the last response differs from the stored page, a 304 response would say nothing about that page.
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
