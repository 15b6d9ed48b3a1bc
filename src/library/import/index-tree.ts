import { PathSelection } from '../../core/folder/path-selection.ts'
import { withAnchor } from '../../core/retrieval/anchored-url.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { waitUntilResumed } from '../../crawl/control.ts'
import type { EventQueue } from '../../crawl/event-queue.ts'
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
import { NO_HOST } from '../../crawl/hosts/host-lease.ts'
import {
  type FoundAddress,
  isRead,
  type LedgerRow,
  type OfferResult,
  type Reason,
  type Refusal,
  type Settlement,
  type SettlementResult,
  type Visit,
} from '../../crawl/ledger.ts'
import type { ActivityCounter } from '../../crawl/observe-crawl.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import { countedSince, countFailures, countVisit, type RunCounts, uncountSkipped } from '../../crawl/run-counts.ts'
import { type RunPorts, Supervisor } from '../../crawl/supervise.ts'
import { readRows, readRowsAt } from '../copy/read-rows.ts'
import type { Store } from '../ports/store.ts'
import { type KnownFile, type OpenTree, partKey } from '../ports/tree.ts'
import { REASON_WORDS } from '../sources/ledger-words.ts'
import { depthOf, TreeSurvey } from './tree-survey.ts'

/** Parameters of a run over a tree. */
export interface TreeRun extends RunFacts {
  /** Identity of the folder at the last full run; undefined if unknown. */
  readonly lastFolderId: string | undefined
  /** For a full run that was interrupted: its first start. Files read since then are not read again. */
  readonly fullSince?: number | undefined
  /** Paths that may have changed; nothing else is checked. @default everything */
  readonly focus?: readonly string[] | undefined
  /** Pages removed by recent runs. @default 0 */
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

/** Ports of a run over a tree. */
export interface TreePorts extends RunPorts {
  readonly tree: OpenTree
  readonly listRows: Store['listRows']
}

/** Number of files read concurrently; the result does not depend on it. */
const MAX_READERS = 8
/** Number of visits leased at once. */
const VISIT_BATCH_SIZE = 128
/** Number of found addresses offered to the ledger at once. */
const FIND_BATCH_SIZE = 1000

/**
 * Indexes the files of a folder and emits the events of a crawl. Every file has a ledger row with state and reason. Unchanged files are not
 * read again; pages of files that a walk proves missing are removed.
 */
export async function* indexTree(
  run: TreeRun,
  ports: TreePorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const supervisor = new Supervisor(run, ports, signal)
  const listRows: TreePorts['listRows'] = (...args) => supervisor.storeRetry.retryRead(() => ports.listRows(...args))
  const active = new ActiveTree(run, { ...supervisor.ports, listRows }, supervisor)
  yield* supervisor.run(active, visitEverything, finishFolder)
}

/** State, counters and events of a run over a tree. */
class ActiveTree implements RunCounts {
  readonly run: TreeRun
  readonly ports: TreePorts
  readonly signal: AbortSignal
  readonly activity: ActivityCounter
  readonly events: EventQueue<CrawlEvent>
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
  /** Pages of earlier runs left unchanged because the cap was reached first. */
  keptByCap = 0
  /** Content hashes of pages whose files no longer exist. */
  readonly goneHashes: string[] = []
  /** Content hashes of files that were read. */
  readonly readHashes: Set<string> = new Set()
  /** Known files with several pages, all of which were read, by key. */
  readonly containers: Map<string, KnownContainer> = new Map()
  /** Why the last file without a page was skipped. */
  lastRefusal: { readonly reason: Reason; readonly detail: string | null } | null = null
  /** Number of pages kept because none of their files exists, which suggests a missing disk. */
  missing = 0

  constructor(run: TreeRun, ports: TreePorts, { signal, activity, events }: Supervisor) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.activity = activity
    this.events = events
    this.startedAt = ports.clock.now()
    this.survey = new TreeSurvey(run.scope)
  }

  /** Returns the address at which a user can open the file or page with this key. */
  addressOf(key: string): string {
    const file = this.survey.findFile(key) ?? { path: key, part: null }
    const address = this.ports.tree.addressOf(file.path)
    return file.part === null ? address : withAnchor(address, file.part)
  }

  /** Returns why a key is outside the scope. A page of a container file is judged by its file. */
  judge(key: string): Refusal | null {
    return this.survey.findRefusal(this.survey.findFile(key)?.path ?? key)
  }

  /** Offers found addresses to the ledger and emits the results. */
  async offer(finds: readonly FoundAddress[]): Promise<void> {
    const { sourceId, crawlId, limits } = this.run
    for (let start = 0; start < finds.length; start += FIND_BATCH_SIZE) {
      this.signal.throwIfAborted()
      const batch = finds.slice(start, start + FIND_BATCH_SIZE)
      const now = this.ports.clock.now()
      const results = await this.ports.ledger.offer(sourceId, crawlId, batch, now, [], limits.ledgerRows)
      batch.forEach((find, i) => {
        this.#note(find, results[i] ?? 'known')
      })
      await this.events.waitForRoom()
    }
  }

  /** Counts a settled visit and emits its event. */
  count(settlement: Settlement, settled: SettlementResult, bytes: number): void {
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

  /** Number of removed pages whose content reappeared at another path, as after renaming a folder. */
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

  #note({ url, depth, discovery, refusal }: FoundAddress, result: OfferResult): void {
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

/** Walks the folder, then visits every file due. */
async function visitEverything(active: ActiveTree): Promise<void> {
  const { run, survey } = active
  if (run.focus !== undefined) return visitFocus(active, run.focus)
  await walkTree(active)
  // An empty folder may be the mount point of a missing disk, so it proves nothing.
  if (survey.files === 0) return
  const known: MutableKnownKeys = { pages: new Set(), failed: new Set() }
  await noteRows(active, known, readRows(active.ports, run.sourceId))
  active.missing = countMissing(active, known)
  if (active.missing > 0) return
  // Lost pages are settled first, so that a moved file is not treated as a duplicate of its old path.
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFoundAddresses(active, known))
  await visitAll(active, run.scope.maxPages)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Checks only what may have changed. The caller has verified that the folder is the same. */
async function visitFocus(active: ActiveTree, paths: readonly string[]): Promise<void> {
  const known: MutableKnownKeys = { pages: new Set(), failed: new Set() }
  const { ports, run } = active
  const { listRows, ledger } = ports
  const store = { listRows, findRow: ledger.findRow.bind(ledger) }
  for (const path of new PathSelection(paths).paths) {
    await noteRows(active, known, readRowsAt(store, run.sourceId, path))
  }
  // A key that looks like a page of a changed file may be a file with `#` in its name.
  const keysWithHash = [...known.pages, ...known.failed].filter((key) => key.includes('#'))
  await walkTree(active, new PathSelection([...paths, ...keysWithHash]))
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFoundAddresses(active, known))
  await visitAll(active, null)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Walks the folder, or a part of it. */
async function walkTree({ ports, survey, signal, activity }: ActiveTree, focus?: PathSelection): Promise<void> {
  for await (const entry of ports.tree.walk(signal, focus)) {
    // Entries count as activity, so that a slow disk is not mistaken for a stall.
    activity.count++
    survey.add(entry)
  }
}

/** Keys of rows with a page, and of failed rows. */
interface KnownKeys {
  readonly pages: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

interface MutableKnownKeys extends KnownKeys {
  readonly pages: Set<string>
  readonly failed: Set<string>
}

async function noteRows(
  { signal, containers }: ActiveTree,
  known: MutableKnownKeys,
  batches: AsyncIterable<readonly LedgerRow[]>,
): Promise<void> {
  for await (const rows of batches) {
    signal.throwIfAborted()
    for (const { key, state, hasPage } of rows) {
      if (hasPage) known.pages.add(key)
      if (state === 'failed') known.failed.add(key)
    }
    noteContainers(containers, rows)
  }
}

/** Known state of a file with several pages. */
interface KnownContainer extends KnownFile {
  /** Keys of its pages. */
  readonly parts: string[]
}

/**
 * Collects container files with their pages. The row of a container precedes those of its pages. A container with an unread page is left
 * out, so that it is read again.
 */
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
 * Returns the number of pages if none of their files exists, because the folder may be the mount point of a missing disk. Returns 0
 * otherwise, or if the owner accepts the loss.
 */
function countMissing({ run, ports, survey }: ActiveTree, { pages }: KnownKeys): number {
  if (run.acceptLoss || run.kind === 'retry') return 0
  const kind = treeKindOf(ports.tree.url)
  // These trees cannot lose single files: if they open, they are complete.
  if (kind === 'archive' || kind === 'package' || kind === 'repository') return 0
  return [...pages].every((path) => survey.stateOf(path) === 'nothing') ? pages.size : 0
}

/** Lists pages whose path is no longer a file to read. Pages of files outside the scope stay. */
function listLost(active: ActiveTree, { pages }: KnownKeys): FoundAddress[] {
  if (active.run.kind === 'retry') return []
  return [...pages]
    .filter((path) => active.survey.stateOf(path) !== 'file')
    .map((path) => createFoundAddress(active, path, null))
}

/** Lists the addresses that the run must visit or skip. Pages of container files are taken from the known pages. */
function listFoundAddresses(active: ActiveTree, { pages, failed }: KnownKeys): FoundAddress[] {
  const { kind, discover, focus } = active.run
  if (kind === 'retry') return [...failed].map((path) => createFoundAddress(active, path, null))
  const parts = [...pages].filter((key) => (active.survey.findFile(key)?.part ?? null) !== null)
  return [...active.survey.paths(), ...parts].flatMap((path) => {
    const state = active.survey.stateOf(path)
    const refused = typeof state === 'object' ? state : state === 'file' ? active.judge(path) : null
    if (kind !== 'refresh' || focus !== undefined || pages.has(path)) return [createFoundAddress(active, path, refused)]
    const newRefusal: Refusal | null = discover ? null : { reason: 'new-in-refresh', pattern: null, target: null }
    return [{ ...createFoundAddress(active, path, refused ?? newRefusal), isNewOnly: true }]
  })
}

function createFoundAddress(active: ActiveTree, path: string, refusal: Refusal | null): FoundAddress {
  const { discovery = 'folder' } = active.ports.tree
  return {
    key: path,
    url: active.addressOf(path),
    host: NO_HOST,
    // A path given by the user has the depth of a start.
    depth: discovery === 'manual' ? 0 : depthOf(path),
    foundOn: null,
    discovery,
    refusal,
  }
}

/** Visits until nothing is due or the page cap is reached. */
async function visitAll(active: ActiveTree, cap: number | null): Promise<void> {
  const { run, ports, signal } = active
  for (;;) {
    signal.throwIfAborted()
    await waitUntilResumed(ports.control, signal)
    const now = ports.clock.now()
    const remaining = cap === null ? VISIT_BATCH_SIZE : cap - active.pagesTaken
    if (remaining <= 0) {
      const { left, kept } = await skipForCap(ports.ledger, run, String(cap), now)
      if (left > 0) active.cappedAt = cap
      active.keptByCap += kept
      return
    }
    const visits = await ports.ledger.lease({
      sourceId: run.sourceId,
      crawlId: run.crawlId,
      limit: Math.min(remaining, VISIT_BATCH_SIZE),
      now,
      until: now + run.limits.leaseMs,
      horizon: now,
      isBreadthFirst: false,
    })
    if (visits.length === 0) return
    await visitTogether(active, visits)
  }
}

/**
 * Makes visits concurrently. Unstarted visits are released if one fails, on abort, or when a file turns out to have several pages, because
 * those come first.
 */
async function visitTogether(active: ActiveTree, visits: readonly Visit[]): Promise<void> {
  const { ports, signal } = active
  const waiting = [...visits]
  let hasParts = false
  const runReader = async (number: number): Promise<void> => {
    while (waiting.length > 0 && !signal.aborted && !hasParts) {
      await waitUntilResumed(ports.control, signal)
      // Readers above the limit stop; they take part again in the next batch if the limit is raised.
      if (number >= (ports.control?.maxVisits ?? MAX_READERS)) return
      const visit = waiting.shift()
      if (visit !== undefined && (await visitFile(active, visit))) hasParts = true
    }
  }
  const readers = Array.from({ length: MAX_READERS }, (_, number) => runReader(number))
  try {
    await Promise.all(readers)
  } finally {
    const unread = waiting.splice(0)
    await Promise.allSettled(readers)
    await ports.ledger.release(unread)
  }
}

/** Visits a file; returns true if that added new visits. */
async function visitFile(active: ActiveTree, visit: Visit): Promise<boolean> {
  const { ports, run, visiting } = active
  visiting.set(visit.url, ports.clock.now())
  active.events.push({ type: 'begun', url: visit.url, depth: visit.depth })
  let hasNewVisits = false
  try {
    const { bytes, ...outcome } = await readVisit(active, visit)
    const settlement: Settlement = { visit, crawlId: run.crawlId, now: ports.clock.now(), ...outcome }
    const settled = await ports.ledger.settle(settlement)
    active.count(settlement, settled, bytes)
    hasNewVisits = settled.finds.includes('admitted')
  } catch (error) {
    await ports.ledger.release([visit])
    throw error
  } finally {
    visiting.delete(visit.url)
  }
  await active.events.waitForRoom()
  return hasNewVisits
}

/** Settlement of a visit and the number of bytes read. */
interface Outcome extends Omit<Settlement, 'visit' | 'crawlId' | 'now'> {
  readonly bytes: number
}

/** Reads the file of a visit. Only an observed absence proves a loss: an unreadable file keeps its page. */
async function readVisit(active: ActiveTree, visit: Visit): Promise<Outcome> {
  const { run, ports, survey } = active
  const { key, hasPage } = visit
  const pathState = survey.stateOf(key)
  if (pathState === 'unreadable')
    return { state: 'failed', reason: 'unreadable', detail: 'the folder cannot be read', bytes: 0 }
  if (typeof pathState === 'object') {
    const { reason, pattern } = pathState
    if (RECOVERABLE_REASONS.has(reason) && hasPage) return { state: 'failed', reason, pattern, bytes: 0 }
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
  // A new commit changes the addresses of unchanged files; an old commit may disappear one day.
  const url = active.addressOf(key)
  const common = { etag, lastModified, url, contentUrl: url, detail, bytes }
  // The page is removed at the end of the run. If the run is interrupted before, the next run must check the file again, so its validators
  // are cleared.
  const clearedValidators = hasPage ? { etag: null, lastModified: null } : {}
  if (reading.type === 'unchanged' && container !== undefined) {
    const finds = container.parts.map((part) => createFoundAddress(active, part, active.judge(key)))
    return { state: 'skipped', reason: 'container', finds, ...common }
  }
  if (reading.type === 'unchanged') return { state: 'unchanged', ...common }
  if (reading.type === 'no-page') {
    const { reason, pattern } = reading
    // A file that cannot be read now proves nothing about its earlier page.
    if (RECOVERABLE_REASONS.has(reason) && hasPage) return { state: 'failed', reason, detail, bytes }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, ...common, ...clearedValidators }
  }
  if (reading.type === 'container') {
    // A negative weight puts the pages next, while the converted file is still cached.
    const finds = reading.parts.map((part) => ({
      ...createFoundAddress(active, partKey(key, part), active.judge(key)),
      weight: -1,
    }))
    return { state: 'skipped', reason: 'container', isProvenGone: hasPage, finds, ...common, ...clearedValidators }
  }
  const { record } = reading
  const isSame = hasPage && visit.contentHash === record.page.contentHash && !isFull && reading.isRecut !== true
  return { state: isSame ? 'unchanged' : 'indexed', record, ...common }
}

/** Reasons why a file has no page now but may have one later: it is too large, damaged or encrypted. */
const RECOVERABLE_REASONS: ReadonlySet<Reason> = new Set<Reason>(['too-large', 'damaged', 'encrypted'])

/**
 * Queues duplicates again if the path with their content has other content now or is about to be removed. Returns whether there were any.
 */
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

/** Removes what is proven gone, within the loss gate, and creates the summary. */
async function finishFolder(active: ActiveTree): Promise<CrawlSummary> {
  const { run, ports } = active
  const ending = await endFolder(active)
  const ledger = await ports.ledger.countLedger(run.sourceId)
  const isVain = ending.end === 'completed' && run.kind !== 'retry' && run.kind !== 'refresh' && hasNoPage(ledger)
  const problem = ending.end !== 'completed' ? ending.problem : isVain ? describeNoPages(active) : findImbalance(ledger)
  const end = ending.end === 'completed' && problem !== null ? 'failed' : ending.end
  const { visited, indexed, unchanged, skipped, newInRefresh, bytes, overflow, moved } = active
  const failed = countFailures(active, ending.end === 'completed')
  const place = end === 'completed' ? ports.tree.folderId : run.lastFolderId
  return {
    ...{ crawlId: run.crawlId, kind: run.kind, end, ledger, problem },
    ...{ visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, overflow },
    ...(await describeCap(active, active.ports.ledger, ledger)),
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
