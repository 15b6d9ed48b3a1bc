import type { JSX } from 'preact'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import type { Kept } from '../keep/shelf.ts'

/** How long an index is here, or as it is. */
export function Since({ kept }: { readonly kept: Kept }): JSX.Element {
  const { addedAt, updatedAt } = kept
  return (
    <span title={writeMoment(updatedAt)}>
      {addedAt === updatedAt ? 'added' : 'updated'} {writeAgo(updatedAt, Date.now())}
    </span>
  )
}
