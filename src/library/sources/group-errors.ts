import { groupBy } from '../../core/group-by.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import type { AddressEntry, ErrorGroup } from '../ports/addresses.ts'

/** Fields of a failed address that grouping needs. */
export type Failure = Pick<AddressEntry, 'status' | 'reason' | 'host' | 'url' | 'at' | 'detail'>

const MAX_GROUPS = 50
const MAX_EXAMPLES = 3

/** Groups failures by status, reason and host. The input must be sorted newest first. */
export function groupFailures(failures: readonly Failure[]): ErrorGroup[] {
  const groups = groupBy(failures, ({ status, reason, host }) => JSON.stringify([status, reason, host]))
  return [...groups]
    .sort(([nameA, a], [nameB, b]) => b.length - a.length || lastOf(b) - lastOf(a) || compareUtf8(nameA, nameB))
    .slice(0, MAX_GROUPS)
    .flatMap(([, group]) => {
      const [newest] = group
      if (newest === undefined) return []
      const { status, reason, host, at: lastAt } = newest
      const examples = group.slice(0, MAX_EXAMPLES).map(({ url, at, detail }) => ({ url, at, detail }))
      return { status, reason, host, count: group.length, lastAt, examples }
    })
}

function lastOf([newest]: readonly Failure[]): number {
  return newest?.at ?? 0
}
