import type { JSX } from 'preact'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import type { Kept } from '../keep/shelf.ts'

/** When an index was added or last updated. */
export function Since({ kept }: { readonly kept: Kept }): JSX.Element {
  const { addedAt, updatedAt } = kept
  return (
    <span title={writeMoment(updatedAt)}>
      {addedAt === updatedAt ? 'added' : 'updated'} {writeAgo(updatedAt, Date.now())}
    </span>
  )
}
