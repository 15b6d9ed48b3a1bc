import type { JSX } from 'preact'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import type { StoredIndex } from '../keep/index-store.ts'

/** When an index was added or last updated. */
export function Since({ kept }: { readonly kept: StoredIndex }): JSX.Element {
  const { addedAt, updatedAt } = kept
  return (
    <span title={writeMoment(updatedAt)}>
      {addedAt === updatedAt ? 'added' : 'updated'} {writeAgo(updatedAt, Date.now())}
    </span>
  )
}
