import type { ListedRows, RequeueResult, RequeueSelection } from '../../src/crawl/ledger.ts'
import { isListed, type Reason } from '../../src/crawl/ledger-reasons.ts'
import { nextState } from '../../src/crawl/transitions.ts'
import { readmit } from './found-addresses.ts'
import { isRemovable } from './removal.ts'
import { applyAction, type Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Makes rows pending again without a new find. */
export function requeueRows(ledger: SourceLedger, crawlId: string, which: RequeueSelection, maxDepth: number): number {
  const isSelected = (row: Row): boolean => {
    if (row.depth > maxDepth) return false
    if (which === 'failed') return row.state === 'failed'
    return row.hasPage && (which === 'pages' || row.crawlId !== crawlId)
  }
  return ledger.putEach(
    (row) => isSelected(row) && nextState(row.state, 'requeue') !== undefined,
    (row) => ({ ...readmit(applyAction(row, 'requeue')), crawlId }),
  )
}

/** Requeues rows whose target does not hold their content (any more), and marks them as final. */
export function requeueOrphans(ledger: SourceLedger, crawlId: string, since: number): RequeueResult {
  const isStaying = (key: string | null): boolean => {
    const row = key === null ? undefined : ledger.get(key)
    return row !== undefined && !isRemovable(ledger, row, crawlId, false)
  }
  // The content may have moved to a third address, which then becomes the target of all duplicates.
  for (const row of ledger.rows().filter(({ state, reason }) => state === 'skipped' && reason === 'duplicate')) {
    if (isStaying(row.target) && ledger.holds(row.target, row.contentHash)) continue
    const target = ledger.listHolders(row.contentHash).find(isStaying)
    if (target !== undefined) ledger.put({ ...row, target })
  }
  const shouldRequeue = (row: Row): boolean =>
    row.finalCrawl !== crawlId && isOrphan(ledger, row, isStaying(row.target))
  const orphans = ledger.rows().filter(shouldRequeue)
  const requeued = ledger.putEach(shouldRequeue, (row) => ({
    ...readmit(applyAction(row, 'requeue')),
    isFinal: true,
    finalCrawl: crawlId,
  }))
  return {
    requeued,
    settled: orphans.filter((row) => row.crawlId === crawlId && (row.checkedAt ?? -1) >= since).length,
  }
}

/** Takes pending rows out of the frontier. A row with a page was not visited, so its page stays valid. */
export function skipPending(ledger: SourceLedger, reason: Reason, pattern: string | null, listed?: ListedRows): number {
  const isOfList = ({ hasPage, foundOn, discovery, host }: Row, { list, exceptHosts }: ListedRows) =>
    !hasPage && foundOn === list && isListed(discovery) && !exceptHosts.includes(host)
  return ledger.putEach(
    (row) => row.state === 'pending' && (listed === undefined || isOfList(row, listed)),
    (row) =>
      row.hasPage
        ? { ...applyAction(row, 'confirm'), reason: null, pattern: null, target: null }
        : { ...applyAction(row, 'refuse'), reason, pattern, target: null },
  )
}

/**
 * Whether a row relies on a target that does not hold its content. `isStaying` says that the page of the target is not about to be removed.
 */
function isOrphan(ledger: SourceLedger, { state, reason, target, contentHash }: Row, isStaying: boolean): boolean {
  if (state !== 'skipped') return false
  if (reason === 'duplicate') return !(isStaying && ledger.holds(target, contentHash))
  if (reason === 'canonical' || reason === 'spelling')
    return !(isStaying && ledger.holds(target)) && !isAliasOfPage(ledger, target)
  return false
}

/** Whether an address is itself an alias of an existing page. Follows only one step, because aliases may form a cycle. */
function isAliasOfPage(ledger: SourceLedger, key: string | null): boolean {
  const row = key === null ? undefined : ledger.get(key)
  const isAlias = row?.reason != null && ALIAS_REASONS.has(row.reason)
  return row?.state === 'skipped' && isAlias && ledger.holds(row.target)
}

const ALIAS_REASONS: ReadonlySet<Reason> = new Set<Reason>(['duplicate', 'redirect', 'canonical', 'spelling'])
