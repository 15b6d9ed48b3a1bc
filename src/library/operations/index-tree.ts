import { Focus } from '../../core/folder/focus.ts'
import { withAnchor } from '../../core/retrieval/anchored-url.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { untilResumed } from '../../crawl/control.ts'
import { EventQueue } from '../../crawl/event-queue.ts'
import type { CrawlEvent, CrawlProgress, CrawlSummary } from '../../crawl/events.ts'
import {
  describeCap,
  describeStop,
  dropUnnamed,
  type Ending,
  findImbalance,
  removeGone,
  skipForCap,
} from '../../crawl/finish.ts'
import { NO_HOST } from '../../crawl/host-lease.ts'
import {
  type Find,
  type FindResult,
  isRead,
  type LedgerRow,
  type Reason,
  type Refusal,
  type Settled,
  type Settlement,
  type Visit,
} from '../../crawl/ledger.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import { countedSince, countFailures, countVisit, type RunCounts, uncountSkipped } from '../../crawl/run-counts.ts'
import { type RunPorts, type Supervisor, supervise } from '../../crawl/supervise.ts'
import type { Pulse } from '../../crawl/watch.ts'
import { REASON_WORDS } from '../ledger-words.ts'
import { readRows, readRowsAt } from '../read-rows.ts'
import type { Store } from '../store.ts'
import { type KnownFile, type OpenTree, partKey } from '../tree.ts'
import { depthOf, TreeSurvey } from '../tree-survey.ts'

/** What one run over a folder is to do. */
export interface TreeRun extends RunFacts {
  /** Which folder it was when it was last read in full; undefined when that is not known. */
  readonly lastPlace: string | undefined
  /** Where everything is to be read again: when that was first begun, if it was interrupted. What was read since then is known. */
  readonly fullSince?: number | undefined
  /** Paths that may have changed: nothing else is looked at. @default everything is */
  readonly focus?: readonly string[] | undefined
  /** Pages that runs shortly before have removed. @default 0 */
  readonly lostBefore?: number | undefined
}

type RunFacts = Pick<
  CrawlRun,
  | 'crawlId'
  | 'sourceId'
  | 'kind'
  | 'isResumed'
  | 'scope'
  | 'isScopeChanged'
  | 'full'
  | 'acceptLoss'
  | 'discover'
  | 'limits'
>

/** The outside world of such a run. */
export interface TreePorts extends RunPorts {
  readonly tree: OpenTree
  readonly listRows: Store['listRows']
}

/** Files that are read at once; what comes out does not depend on it. */
const READERS = 8
/** Visits taken out of the frontier at once. */
const VISITS = 128
/** Finds that are handed to the ledger at once. */
const FINDS = 1000

/**
 * Takes the files of a folder into the library and tells what happens, as a crawl does. Everything in the folder is in the ledger,
 * each with its state and reason. What did not change since it was last read is not read again, and what is not there any more,
 * which a look at the folder proves, is removed.
 */
export function indexTree(run: TreeRun, ports: TreePorts, signal: AbortSignal): AsyncGenerator<CrawlEvent, void, void> {
  return supervise(
    {
      run,
      ports,
      open: (patient, supervisor) => {
        const listRows: TreePorts['listRows'] = (...asked) => supervisor.patience.ask(() => ports.listRows(...asked))
        return new ActiveTree(run, { ...patient, listRows }, supervisor)
      },
      work: visitEverything,
      finish: finishFolder,
    },
    signal,
  )
}

/** A run over a folder: what it knows, counts and says. */
class ActiveTree implements RunCounts {
  readonly run: TreeRun
  readonly ports: TreePorts
  readonly signal: AbortSignal
  readonly pulse: Pulse
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly visiting: Map<string, number> = new Map()
  readonly startedAt: number
  readonly survey: TreeSurvey
  pagesTaken = 0
  visited = 0
  indexed = 0
  unchanged = 0
  skipped = 0
  failed = 0
  provenGone = 0
  newInRefresh = 0
  overflow = 0
  bytes = 0
  cappedAt: number | null = null
  /** Pages of earlier runs that are kept as they are because the cap was reached before their turn. */
  keptByCap = 0
  /** What is held by pages whose files are gone, and by those that were read. */
  readonly goneHashes: string[] = []
  readonly readHashes: Set<string> = new Set()
  /** Files of several pages of which nothing is open, by their keys. */
  readonly containers: Map<string, KnownContainer> = new Map()
  /** What the last file that gave no page was left out for. */
  lastRefusal: { readonly reason: Reason; readonly detail: string | null } | null = null
  /** Pages that stay because not one of the files they were made of is there. */
  missing = 0

  constructor(run: TreeRun, ports: TreePorts, { signal, pulse }: Supervisor) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.pulse = pulse
    this.startedAt = ports.clock.now()
    this.survey = new TreeSurvey(run.scope)
  }

  /** Where a reader opens what a key stands for. */
  addressOf(key: string): string {
    const file = this.survey.findFile(key) ?? { path: key, part: null }
    const address = this.ports.tree.addressOf(file.path)
    return file.part === null ? address : withAnchor(address, file.part)
  }

  /** Why a key is outside of the scope. A page of several is judged by its file. */
  judge(key: string): Refusal | null {
    return this.survey.judge(this.survey.findFile(key)?.path ?? key)
  }

  /** Hands finds to the ledger, and says what it made of them. */
  async offer(finds: readonly Find[]): Promise<void> {
    const { sourceId, crawlId, limits } = this.run
    for (let start = 0; start < finds.length; start += FINDS) {
      this.signal.throwIfAborted()
      const some = finds.slice(start, start + FINDS)
      const now = this.ports.clock.now()
      const results = await this.ports.ledger.offer(sourceId, crawlId, some, now, [], limits.ledgerRows)
      some.forEach((find, i) => {
        this.#note(find, results[i] ?? 'known')
      })
      await this.events.hasRoom()
    }
  }

  /** Counts what became of a visit and tells it. */
  count(settlement: Settlement, settled: Settled, bytes: number): void {
    const { type, state, reason } = settled
    if (type === 'lost' || state === 'pending') return
    const { visit, detail = null, record } = settlement
    if (record !== undefined) this.readHashes.add(record.page.contentHash)
    if (settlement.isProvenGone === true && visit.contentHash !== null) this.goneHashes.push(visit.contentHash)
    this.bytes += bytes
    countVisit(this, settlement, settled)
    if (state === 'indexed' || state === 'unchanged') this.pagesTaken++
    else if (reason !== null) this.lastRefusal = { reason, detail }
    const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
    this.events.push({ type: 'settled', url: visit.url, state, reason, status: null, detail, bytes, chunks })
  }

  /** Pages whose content is at another path now: a folder that was given another name is told as one that is gone and one that is new. */
  get moved(): number {
    return this.goneHashes.filter((hash) => this.readHashes.has(hash)).length
  }

  async progress(): Promise<CrawlProgress> {
    const now = this.ports.clock.now()
    const { pending, leased } = await this.ports.ledger.countOpen(this.run.sourceId, now)
    const { visited, indexed, unchanged, skipped, failed, bytes } = this
    return {
      ...{ visited, indexed, unchanged, skipped, failed, bytes },
      queued: pending + leased,
      current: Array.from(this.visiting, ([url, since]) => ({ url, ageMs: now - since })),
      isPaused: this.ports.control?.isPaused === true,
      hasRobots: false,
      hosts: [],
      elapsedMs: now - this.startedAt,
    }
  }

  #note({ url, depth, discovery, refusal }: Find, result: FindResult): void {
    if (result === 'admitted') this.events.push({ type: 'enqueued', url, depth, discovery })
    if (result === 'refused' && refusal !== null) {
      if (refusal.reason === 'new-in-refresh') this.newInRefresh++
      this.events.push({ type: 'dropped', url, depth, ...refusal })
    }
    if (result === 'overflow') {
      this.overflow++
      const pattern = String(this.run.limits.ledgerRows)
      this.events.push({ type: 'dropped', url, depth, reason: 'overflow', pattern, target: null })
    }
  }
}

/** Looks at the folder, then at every file of it that is to be read. */
async function visitEverything(active: ActiveTree): Promise<void> {
  const { run, survey } = active
  if (run.focus !== undefined) return visitFocus(active, run.focus)
  await lookAround(active)
  // An empty folder may be one whose disk is missing: it proves nothing about what was in it.
  if (survey.files === 0) return
  const known: MutableKnown = { pages: new Set(), failed: new Set() }
  await noteRows(active, known, readRows(active.ports, run.sourceId))
  active.missing = countMissing(active, known)
  if (active.missing > 0) return
  // Settled first, so that a file that was moved finds nobody who holds its content.
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFinds(active, known))
  await visitAll(active, run.scope.maxPages)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Looks at what may have changed, and at nothing else. That the folder is the one that was read is known. */
async function visitFocus(active: ActiveTree, paths: readonly string[]): Promise<void> {
  const known: MutableKnown = { pages: new Set(), failed: new Set() }
  const { ports, run } = active
  const { listRows, ledger } = ports
  const asked = { listRows, findRow: ledger.findRow.bind(ledger) }
  for (const path of new Focus(paths).paths) {
    await noteRows(active, known, readRowsAt(asked, run.sourceId, path))
  }
  // What looks like a page of a changed file may be a file of that name.
  const alike = [...known.pages, ...known.failed].filter((key) => key.includes('#'))
  await lookAround(active, new Focus([...paths, ...alike]))
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFinds(active, known))
  await visitAll(active, null)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Looks at the folder, or at a part of it. */
async function lookAround({ ports, survey, signal, pulse }: ActiveTree, focus?: Focus): Promise<void> {
  for await (const entry of ports.tree.walk(signal, focus)) {
    // A slow disk is no standstill.
    pulse.beats++
    survey.add(entry)
  }
}

/** Keys that the ledger knows: of rows that hold a page, and of those that failed. */
interface Known {
  readonly pages: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

interface MutableKnown extends Known {
  readonly pages: Set<string>
  readonly failed: Set<string>
}

async function noteRows(
  { signal, containers }: ActiveTree,
  known: MutableKnown,
  lots: AsyncIterable<readonly LedgerRow[]>,
): Promise<void> {
  for await (const rows of lots) {
    signal.throwIfAborted()
    for (const { key, state, hasPage } of rows) {
      if (hasPage) known.pages.add(key)
      if (state === 'failed') known.failed.add(key)
    }
    noteContainers(containers, rows)
  }
}

/** A file of several pages as it was when these were last read. */
interface KnownContainer extends KnownFile {
  /** Keys of its pages. */
  readonly parts: string[]
}

/** Notes files of several pages with those. They come in front of their pages; one with a page that is not settled is to be read. */
function noteContainers(containers: Map<string, KnownContainer>, rows: readonly LedgerRow[]): void {
  for (const row of rows) {
    const { key, state, reason, etag, lastModified } = row
    if (reason === 'container') containers.set(key, { version: etag, stamp: lastModified, parts: [] })
    if (state === 'gone') continue
    for (let end = key.lastIndexOf('#'); end > 0; end = key.lastIndexOf('#', end - 1)) {
      const container = containers.get(key.slice(0, end))
      if (container === undefined) continue
      if (isRead(row)) container.parts.push(key)
      else containers.delete(key.slice(0, end))
      break
    }
  }
}

/**
 * How many pages there are, where not one of their files is there: what the folder holds then may be what lies below a disk that is
 * missing. None, where that is known to be so.
 */
function countMissing({ run, ports, survey }: ActiveTree, { pages }: Known): number {
  if (run.acceptLoss || run.kind === 'retry') return 0
  const kind = treeKindOf(ports.tree.url)
  // What could be opened is there.
  if (kind === 'archive' || kind === 'package' || kind === 'repository') return 0
  return [...pages].every((path) => survey.see(path) === 'nothing') ? pages.size : 0
}

/** Pages whose files are not to be read any more. What only a scope leaves out stays. */
function listLost(active: ActiveTree, { pages }: Known): Find[] {
  if (active.run.kind === 'retry') return []
  return [...pages].filter((path) => active.survey.see(path) !== 'file').map((path) => findOf(active, path, null))
}

/** What the run is to look at, and what it leaves alone. Pages of files that hold several come along with those that are known. */
function listFinds(active: ActiveTree, { pages, failed }: Known): Find[] {
  const { kind, discover, focus } = active.run
  if (kind === 'retry') return [...failed].map((path) => findOf(active, path, null))
  const parts = [...pages].filter((key) => (active.survey.findFile(key)?.part ?? null) !== null)
  return [...active.survey.paths(), ...parts].flatMap((path) => {
    const sight = active.survey.see(path)
    const refused = typeof sight === 'object' ? sight : sight === 'file' ? active.judge(path) : null
    if (kind !== 'refresh' || focus !== undefined || pages.has(path)) return [findOf(active, path, refused)]
    const aside: Refusal | null = discover ? null : { reason: 'new-in-refresh', pattern: null, target: null }
    return [{ ...findOf(active, path, refused ?? aside), isNewOnly: true }]
  })
}

function findOf(active: ActiveTree, path: string, refusal: Refusal | null): Find {
  const { discovery = 'folder' } = active.ports.tree
  return {
    key: path,
    url: active.addressOf(path),
    host: NO_HOST,
    // What was given by hand is no deeper than where one starts.
    depth: discovery === 'manual' ? 0 : depthOf(path),
    foundOn: null,
    discovery,
    refusal,
  }
}

/** Visits until nothing is left, or so many pages were taken in. */
async function visitAll(active: ActiveTree, cap: number | null): Promise<void> {
  const { run, ports, signal } = active
  for (;;) {
    signal.throwIfAborted()
    await untilResumed(ports.control, signal)
    const now = ports.clock.now()
    const room = cap === null ? VISITS : cap - active.pagesTaken
    if (room <= 0) {
      const { left, kept } = await skipForCap(ports.ledger, run, String(cap), now)
      if (left > 0) active.cappedAt = cap
      active.keptByCap += kept
      return
    }
    const visits = await ports.ledger.lease({
      sourceId: run.sourceId,
      crawlId: run.crawlId,
      limit: Math.min(room, VISITS),
      now,
      until: now + run.limits.leaseMs,
      horizon: now,
      isLevelled: false,
    })
    if (visits.length === 0) return
    await visitTogether(active, visits)
  }
}

/**
 * Makes some visits, several at once. What was not begun when one fails or all are stopped is given back, and so it is when a file turns
 * out to hold several pages: those come first.
 */
async function visitTogether(active: ActiveTree, visits: readonly Visit[]): Promise<void> {
  const { ports, signal } = active
  const waiting = [...visits]
  let hasParts = false
  const readOn = async (number: number): Promise<void> => {
    while (waiting.length > 0 && !signal.aborted && !hasParts) {
      await untilResumed(ports.control, signal)
      // The others read on; should more be allowed again, they take part in the next ones.
      if (number >= (ports.control?.maxVisits ?? READERS)) return
      const visit = waiting.shift()
      if (visit !== undefined && (await visitFile(active, visit))) hasParts = true
    }
  }
  const readers = Array.from({ length: READERS }, (_, number) => readOn(number))
  try {
    await Promise.all(readers)
  } finally {
    const unread = waiting.splice(0)
    await Promise.allSettled(readers)
    await ports.ledger.release(unread)
  }
}

/** Tells whether more is to be visited than before. */
async function visitFile(active: ActiveTree, visit: Visit): Promise<boolean> {
  const { ports, run, visiting } = active
  visiting.set(visit.url, ports.clock.now())
  active.events.push({ type: 'begun', url: visit.url, depth: visit.depth })
  let hasFound = false
  try {
    const { bytes, ...outcome } = await readVisit(active, visit)
    const settlement: Settlement = { visit, crawlId: run.crawlId, now: ports.clock.now(), ...outcome }
    const settled = await ports.ledger.settle(settlement)
    active.count(settlement, settled, bytes)
    hasFound = settled.finds.includes('admitted')
  } catch (error) {
    await ports.ledger.release([visit])
    throw error
  } finally {
    visiting.delete(visit.url)
  }
  await active.events.hasRoom()
  return hasFound
}

/** What became of a visit, and how many bytes were read for it. */
interface Outcome extends Omit<Settlement, 'visit' | 'crawlId' | 'now'> {
  readonly bytes: number
}

/** Looks at what a visit leads to. Only what is seen proves a loss: a file that may not be read keeps its page. */
async function readVisit(active: ActiveTree, visit: Visit): Promise<Outcome> {
  const { run, ports, survey } = active
  const { key, hasPage } = visit
  const sight = survey.see(key)
  if (sight === 'unreadable')
    return { state: 'failed', reason: 'unreadable', detail: 'the folder cannot be read', bytes: 0 }
  if (typeof sight === 'object') {
    const { reason, pattern } = sight
    if (KEEPING.has(reason) && hasPage) return { state: 'failed', reason, pattern, bytes: 0 }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, bytes: 0 }
  }
  const container = active.containers.get(key)
  const known = container ?? { version: visit.etag, stamp: visit.lastModified }
  const file = survey.findFile(key) ?? { path: key, part: null }
  const isFull = run.full && (visit.checkedAt ?? 0) <= (run.fullSince ?? Number.POSITIVE_INFINITY)
  const reading = await ports.tree.read(file, isFull ? { version: null, stamp: null } : known)
  if (reading.type === 'missing') return { state: 'failed', reason: 'not-found', isProvenGone: hasPage, bytes: 0 }
  if (reading.type === 'failed') return { state: 'failed', reason: reading.reason, detail: reading.detail, bytes: 0 }
  const { version: etag, stamp: lastModified, bytes, detail } = reading
  // Another commit has other addresses of the same files; the one that they were read at may be gone one day.
  const url = active.addressOf(key)
  const seen = { etag, lastModified, url, contentUrl: url, detail, bytes }
  // The page goes at the end of the run. Where that is not reached the next one has to see for itself, and may take nothing as unchanged.
  const unproven = hasPage ? { etag: null, lastModified: null } : {}
  if (reading.type === 'unchanged' && container !== undefined) {
    const finds = container.parts.map((part) => findOf(active, part, active.judge(key)))
    return { state: 'skipped', reason: 'container', finds, ...seen }
  }
  if (reading.type === 'unchanged') return { state: 'unchanged', ...seen }
  if (reading.type === 'no-page') {
    const { reason, pattern } = reading
    // What keeps a file from being read proves nothing about what was read before.
    if (KEEPING.has(reason) && hasPage) return { state: 'failed', reason, detail, bytes }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, ...seen, ...unproven }
  }
  if (reading.type === 'container') {
    // At once, as long as what was made of the file is kept.
    const finds = reading.parts.map((part) => ({
      ...findOf(active, partKey(key, part), active.judge(key)),
      weight: -1,
    }))
    return { state: 'skipped', reason: 'container', isProvenGone: hasPage, finds, ...seen, ...unproven }
  }
  const { record } = reading
  const isSame = hasPage && visit.contentHash === record.page.contentHash && !isFull && reading.isRecut !== true
  return { state: isSame ? 'unchanged' : 'indexed', record, ...seen }
}

/** Reasons for which there is no page, although there may be something to read: it is too large, or only half written yet. */
const KEEPING: ReadonlySet<Reason> = new Set<Reason>(['too-large', 'damaged', 'encrypted'])

/** Files whose content is kept under another path are read for themselves when that one holds it no longer, or is to go. */
async function requeueOrphans(active: ActiveTree): Promise<boolean> {
  const { run, ports } = active
  const { requeued, settled } = await ports.ledger.requeueOrphanedAliases(
    run.sourceId,
    run.crawlId,
    countedSince(active),
    false,
  )
  uncountSkipped(active, settled)
  return requeued > 0
}

/** Removes what was proven gone, as far as that is allowed, and adds up. */
async function finishFolder(active: ActiveTree): Promise<CrawlSummary> {
  const { run, ports } = active
  const ending = await endFolder(active)
  const ledger = await ports.ledger.countLedger(run.sourceId)
  const isVain = ending.end === 'completed' && run.kind !== 'retry' && run.kind !== 'refresh' && hasNoPage(ledger)
  const problem = ending.end !== 'completed' ? ending.problem : isVain ? describeVain(active) : findImbalance(ledger)
  const end = ending.end === 'completed' && problem !== null ? 'failed' : ending.end
  const { visited, indexed, unchanged, skipped, newInRefresh, bytes, overflow, moved } = active
  const failed = countFailures(active, ending.end === 'completed')
  const place = end === 'completed' ? ports.tree.place : run.lastPlace
  return {
    ...{ crawlId: run.crawlId, kind: run.kind, end, ledger, problem },
    ...{ visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, overflow },
    ...(await describeCap(active, ledger)),
    removed: ending.removed,
    withheld: ending.withheld,
    parked: [],
    incomplete: null,
    requests: 0,
    elapsedMs: ports.clock.now() - active.startedAt,
    vainReason:
      isVain || (end === 'failed' && active.survey.files === 0 && run.focus === undefined)
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
  if (survey.files === 0) return { end: 'failed', problem: describeVain(active), removed: 0, withheld: 0 }
  if (missing > 0) {
    return withholdAll(missing)
  }
  const isWhole = survey.isComplete && cappedAt === null && overflow === 0 && !run.isScopeChanged
  const limited = { ...run, limits: lossLimitsOf(active), lostBefore: run.lostBefore ?? 0, moved: active.moved }
  const isComplete = run.kind === 'recrawl' && isWhole
  if (isComplete) await dropUnnamed({ run, ports })
  return removeGone({ run: limited, ports }, isComplete)
}

/** What became of a part. That nothing of all is left is doubted, as it is where everything is looked at. */
async function endFocus({ run, ports, moved }: ActiveTree): Promise<Ending> {
  const { removable, pages } = await ports.ledger.countRemovable(run.sourceId, run.crawlId, false)
  if (removable > 0 && removable === pages && !run.acceptLoss) return withholdAll(removable)
  return removeGone({ run: { ...run, lostBefore: run.lostBefore ?? 0, moved }, ports }, false)
}

function withholdAll(pages: number): Ending {
  const problem = `none of the files of ${pages} ${pages === 1 ? 'page' : 'pages'} is there any more`
  return { end: 'gate', problem, removed: 0, withheld: pages }
}

/** Another folder in the place of the one that was read may lose half of its pages, however few they are. */
function lossLimitsOf({ run, ports }: ActiveTree): TreeRun['limits'] {
  const isOther = run.lastPlace !== undefined && run.lastPlace !== ports.tree.place
  return isOther ? { ...run.limits, lossPages: 0, lossShare: 0.5 } : run.limits
}

function hasNoPage({ states }: CrawlSummary['ledger']): boolean {
  return states.indexed + states.unchanged === 0
}

/** Why a file that is all of a source has no page. */
function findOwnRefusal({ ports, survey, lastRefusal }: ActiveTree): ActiveTree['lastRefusal'] {
  const { url } = ports.tree
  if (treeKindOf(url) !== 'folder' || url.endsWith('/')) return null
  const [path = ''] = survey.paths()
  const sight = survey.see(path)
  return typeof sight === 'object' ? { reason: sight.reason, detail: null } : lastRefusal
}

function describeVain(active: ActiveTree): string {
  const { ports, survey } = active
  const { url } = ports.tree
  const refusal = findOwnRefusal(active)
  if (refusal !== null) {
    const { reason, detail } = refusal
    return `${url} has no text to index: ${REASON_WORDS[reason]}${detail === null ? '' : ` (${detail})`}`
  }
  return survey.files === 0 ? `${url} holds no file to read` : `no file of ${url} has text to index`
}
