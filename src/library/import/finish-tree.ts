import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { describeCap, describeStop, dropUnnamed, type Ending, findImbalance, removeGone } from '../../crawl/finish.ts'
import { countFailures } from '../../crawl/run-counts.ts'
import { REASON_WORDS } from '../sources/ledger-words.ts'
import type { ActiveTree, TreeRun } from './active-tree.ts'

/** Removes what is proven gone, within the loss gate, and creates the summary. */
export async function finishFolder(active: ActiveTree): Promise<CrawlSummary> {
  const { run, ports } = active
  const ending = await endFolder(active)
  const ledger = await ports.ledger.countLedger(run.sourceId)
  const isUseless = ending.end === 'completed' && run.kind !== 'retry' && run.kind !== 'refresh' && hasNoPage(ledger)
  const problem =
    ending.end !== 'completed' ? ending.problem : isUseless ? describeNoPages(active) : findImbalance(ledger)
  const end = ending.end === 'completed' && problem !== null ? 'failed' : ending.end
  const { visited, indexed, unchanged, skipped, newInRefresh, bytes, overflow, moved } = active
  const failed = countFailures(active, ending.end === 'completed')
  const place = end === 'completed' ? ports.tree.folderId : run.lastFolderId
  return {
    ...{ crawlId: run.crawlId, kind: run.kind, end, ledger, problem },
    ...{ visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, overflow },
    ...(await describeCap(active, ports.ledger, ledger)),
    removed: ending.removed,
    withheld: ending.withheld,
    parked: [],
    incomplete: null,
    requests: 0,
    elapsedMs: ports.clock.now() - active.startedAt,
    uselessReason:
      isUseless || (end === 'failed' && active.survey.files === 0 && run.focus === undefined)
        ? (findOwnRefusal(active)?.reason ?? 'empty')
        : null,
    ...(place === undefined ? {} : { place }),
    ...(moved === 0 || ending.removed === 0 ? {} : { moved }),
  }
}

async function endFolder(active: ActiveTree): Promise<Ending> {
  const { run, ports, signal, survey, cappedAt, overflow, missing } = active
  if (signal.aborted) return describeStop(signal.reason)
  if (run.focus !== undefined) return endFocus(active)
  if (survey.files === 0) return { end: 'failed', problem: describeNoPages(active), removed: 0, withheld: 0 }
  if (missing > 0) {
    return withholdAll(missing)
  }
  const isWhole = survey.isComplete && cappedAt === null && overflow === 0 && !run.isScopeChanged
  const limitedRun = { ...run, limits: lossLimitsOf(active), lostBefore: run.lostBefore ?? 0, moved: active.moved }
  const isComplete = run.kind === 'recrawl' && isWhole
  if (isComplete) await dropUnnamed({ run, ports })
  return removeGone({ run: limitedRun, ports }, isComplete)
}

/** Ends a partial run. Like a full run, it keeps the pages if all of them would be removed, unless the loss is accepted. */
async function endFocus({ run, ports, moved }: ActiveTree): Promise<Ending> {
  const { removable, pages } = await ports.ledger.countRemovable(run.sourceId, run.crawlId, false)
  if (removable > 0 && removable === pages && !run.acceptLoss) return withholdAll(removable)
  return removeGone({ run: { ...run, lostBefore: run.lostBefore ?? 0, moved }, ports }, false)
}

function withholdAll(pages: number): Ending {
  const problem = `none of the files of ${pages} ${pages === 1 ? 'page' : 'pages'} exists any more`
  return { end: 'gate', problem, removed: 0, withheld: pages }
}

/** Returns the loss limits. If another folder is at the same path, at most half of the pages may be removed, however few there are. */
function lossLimitsOf({ run, ports }: ActiveTree): TreeRun['limits'] {
  const isOther = run.lastFolderId !== undefined && run.lastFolderId !== ports.tree.folderId
  return isOther ? { ...run.limits, lossPages: 0, lossShare: 0.5 } : run.limits
}

function hasNoPage({ states }: CrawlSummary['ledger']): boolean {
  return states.indexed + states.unchanged === 0
}

/** Returns why a source that consists of a single file has no page. */
function findOwnRefusal({ ports, survey, lastRefusal }: ActiveTree): ActiveTree['lastRefusal'] {
  const { url } = ports.tree
  if (treeKindOf(url) !== 'folder' || url.endsWith('/')) return null
  const [path = ''] = survey.paths()
  const state = survey.stateOf(path)
  return typeof state === 'object' ? { reason: state.reason, detail: null } : lastRefusal
}

function describeNoPages(active: ActiveTree): string {
  const { ports, survey } = active
  const { url } = ports.tree
  const refusal = findOwnRefusal(active)
  if (refusal !== null) {
    const { reason, detail } = refusal
    return `${url} has no text to index: ${REASON_WORDS[reason]}${detail === null ? '' : ` (${detail})`}`
  }
  return survey.files === 0 ? `${url} contains no files to read` : `no file of ${url} has text to index`
}
