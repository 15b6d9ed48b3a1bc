import { untilResumed } from '../../crawl/control.ts'
import { EventQueue } from '../../crawl/event-queue.ts'
import type { CrawlEvent, CrawlProgress, CrawlSummary } from '../../crawl/events.ts'
import { describeStop, type Ending, findImbalance, removeGone } from '../../crawl/finish.ts'
import { NO_HOST } from '../../crawl/host-lease.ts'
import type { Find, FindResult, LedgerRow, Refusal, Settled, Settlement, Visit } from '../../crawl/ledger.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import { type RunPorts, type Supervisor, supervise } from '../../crawl/supervise.ts'
import type { Pulse } from '../../crawl/watch.ts'
import { type OpenFolder, writeFileUrl } from '../folder.ts'
import { depthOf, FolderSurvey } from '../folder-survey.ts'
import type { Store } from '../store.ts'

/** What one run over a folder is to do. */
export interface FolderRun extends RunFacts {
  /** Which folder it was when it was last read in full; undefined when that is not known. */
  readonly lastPlace: string | undefined
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
export interface FolderPorts extends RunPorts {
  readonly folder: OpenFolder
  readonly listRows: Store['listRows']
}

/** Files that are read at once; what comes out does not depend on it. */
const READERS = 8
/** Visits taken out of the frontier at once. */
const VISITS = 128
/** Rows and finds that are handled at once. */
const ROWS = 1000

/**
 * Takes the files of a folder into the library and tells what happens, as a crawl does. Everything in the folder is in the ledger,
 * each with its state and reason. What did not change since it was last read is not read again, and what is not there any more,
 * which a look at the folder proves, is removed.
 */
export function indexFolder(
  run: FolderRun,
  ports: FolderPorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  return supervise(
    {
      run,
      ports,
      open: (patient, supervisor) => {
        const listRows: FolderPorts['listRows'] = (...asked) => supervisor.patience.ask(() => ports.listRows(...asked))
        return new ActiveFolder(run, { ...patient, listRows }, supervisor)
      },
      work: visitEverything,
      finish: finishFolder,
    },
    signal,
  )
}

/** A run over a folder: what it knows, counts and says. */
class ActiveFolder {
  readonly run: FolderRun
  readonly ports: FolderPorts
  readonly signal: AbortSignal
  readonly pulse: Pulse
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly visiting: Map<string, number> = new Map()
  readonly startedAt: number
  readonly survey: FolderSurvey
  pagesTaken = 0
  visited = 0
  indexed = 0
  unchanged = 0
  skipped = 0
  failed = 0
  newInRefresh = 0
  overflow = 0
  bytes = 0
  cappedAt: number | null = null
  /** Pages that stay because not one of the files they were made of is there. */
  missing = 0

  constructor(run: FolderRun, ports: FolderPorts, { signal, pulse }: Supervisor) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.pulse = pulse
    this.startedAt = ports.clock.now()
    this.survey = new FolderSurvey(run.scope)
  }

  /** Hands finds to the ledger, and says what it made of them. */
  async offer(finds: readonly Find[]): Promise<void> {
    const { sourceId, crawlId, limits } = this.run
    for (let start = 0; start < finds.length; start += ROWS) {
      this.signal.throwIfAborted()
      const some = finds.slice(start, start + ROWS)
      const now = this.ports.clock.now()
      const results = await this.ports.ledger.offer(sourceId, crawlId, some, now, [], limits.ledgerRows)
      some.forEach((find, i) => {
        this.#note(find, results[i] ?? 'known')
      })
      await this.events.hasRoom()
    }
  }

  /** Counts what became of a visit and tells it. */
  count(settlement: Settlement, { type, state, reason }: Settled, bytes: number): void {
    if (type === 'lost' || state === 'pending') return
    const { visit, detail = null, record } = settlement
    this.visited++
    this.bytes += bytes
    // A file that was deleted is no failure: it is counted when its page is removed.
    const isDeleted = state === 'failed' && settlement.isProvenGone === true
    if (state === 'indexed' || state === 'unchanged' || state === 'skipped' || state === 'failed') {
      if (!isDeleted) this[state]++
    }
    if (state === 'indexed' || state === 'unchanged') this.pagesTaken++
    const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
    this.events.push({ type: 'settled', url: visit.url, state, reason, status: null, detail, bytes, chunks })
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
async function visitEverything(active: ActiveFolder): Promise<void> {
  const { run, ports, survey } = active
  for await (const entry of ports.folder.walk(active.signal)) {
    // A slow disk is no standstill.
    active.pulse.beats++
    survey.add(entry)
  }
  // An empty folder may be one whose disk is missing: it proves nothing about what was in it.
  if (survey.files === 0) return
  if (run.isResumed) active.pagesTaken = await ports.ledger.countPages(run.sourceId, run.crawlId)
  const known = await listKnown(active)
  active.missing = countMissing(active, known)
  if (active.missing > 0) return
  // Settled first, so that a file that was moved finds nobody who holds its content.
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFinds(active, known))
  await visitAll(active, run.scope.maxPages)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Keys that the ledger knows: of rows that hold a page, and of those that failed. */
interface Known {
  readonly pages: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

async function listKnown({ run, ports, signal }: ActiveFolder): Promise<Known> {
  const pages = new Set<string>()
  const failed = new Set<string>()
  let rows: LedgerRow[] = []
  do {
    signal.throwIfAborted()
    const after = rows.at(-1)?.key
    rows = await ports.listRows(run.sourceId, { limit: ROWS, ...(after === undefined ? {} : { after }) })
    for (const { key, state, hasPage } of rows) {
      if (hasPage) pages.add(key)
      if (state === 'failed') failed.add(key)
    }
  } while (rows.length === ROWS)
  return { pages, failed }
}

/**
 * How many pages there are, where not one of their files is there: what the folder holds then may be what lies below a disk that is
 * missing. None, where that is known to be so.
 */
function countMissing({ run, survey }: ActiveFolder, { pages }: Known): number {
  if (run.acceptLoss || run.kind === 'retry') return 0
  return [...pages].every((path) => survey.see(path) === 'nothing') ? pages.size : 0
}

/** Pages whose files are not to be read any more. What only a scope leaves out stays. */
function listLost(active: ActiveFolder, { pages }: Known): Find[] {
  if (active.run.kind === 'retry') return []
  return [...pages].filter((path) => active.survey.see(path) !== 'file').map((path) => findOf(active, path, null))
}

/** What the run is to look at, and what it leaves alone. */
function listFinds(active: ActiveFolder, { pages, failed }: Known): Find[] {
  const { kind, discover } = active.run
  if (kind === 'retry') return [...failed].map((path) => findOf(active, path, null))
  return Array.from(active.survey.paths()).flatMap((path) => {
    const sight = active.survey.see(path)
    const refused = typeof sight === 'object' ? sight : sight === 'file' ? active.survey.judge(path) : null
    if (kind !== 'refresh' || pages.has(path)) return [findOf(active, path, refused)]
    const aside: Refusal | null = discover ? null : { reason: 'new-in-refresh', pattern: null, target: null }
    return [{ ...findOf(active, path, refused ?? aside), isNewOnly: true }]
  })
}

function findOf({ ports }: ActiveFolder, path: string, refusal: Refusal | null): Find {
  const url = writeFileUrl(ports.folder.url, path)
  return { key: path, url, host: NO_HOST, depth: depthOf(path), foundOn: null, discovery: 'folder', refusal }
}

/** Visits until nothing is left, or so many pages were taken in. */
async function visitAll(active: ActiveFolder, cap: number | null): Promise<void> {
  const { run, ports, signal } = active
  for (;;) {
    signal.throwIfAborted()
    await untilResumed(ports.control, signal)
    const now = ports.clock.now()
    const room = cap === null ? VISITS : cap - active.pagesTaken
    if (room <= 0) {
      const left = await ports.ledger.skipPending(run.sourceId, 'page-cap', String(cap), now, run.crawlId)
      if (left > 0) active.cappedAt = cap
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

/** Makes some visits, several at once. What was not begun when one fails or all are stopped is given back. */
async function visitTogether(active: ActiveFolder, visits: readonly Visit[]): Promise<void> {
  const { ports, signal } = active
  const waiting = [...visits]
  const readOn = async (number: number): Promise<void> => {
    while (waiting.length > 0 && !signal.aborted) {
      await untilResumed(ports.control, signal)
      // The others read on; should more be allowed again, they take part in the next ones.
      if (number >= (ports.control?.maxVisits ?? READERS)) return
      const visit = waiting.shift()
      if (visit !== undefined) await visitFile(active, visit)
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

async function visitFile(active: ActiveFolder, visit: Visit): Promise<void> {
  const { ports, run, visiting } = active
  visiting.set(visit.url, ports.clock.now())
  active.events.push({ type: 'begun', url: visit.url, depth: visit.depth })
  try {
    const { bytes, ...outcome } = await readVisit(active, visit)
    const settlement: Settlement = { visit, crawlId: run.crawlId, now: ports.clock.now(), ...outcome }
    active.count(settlement, await ports.ledger.settle(settlement), bytes)
  } catch (error) {
    await ports.ledger.release([visit])
    throw error
  } finally {
    visiting.delete(visit.url)
  }
  await active.events.hasRoom()
}

/** What became of a visit, and how many bytes were read for it. */
interface Outcome extends Omit<Settlement, 'visit' | 'crawlId' | 'now'> {
  readonly bytes: number
}

/** Looks at what a visit leads to. Only what is seen proves a loss: a file that may not be read keeps its page. */
async function readVisit({ run, ports, survey }: ActiveFolder, visit: Visit): Promise<Outcome> {
  const { key, hasPage } = visit
  const sight = survey.see(key)
  if (sight === 'unreadable')
    return { state: 'failed', reason: 'unreadable', detail: 'the folder cannot be read', bytes: 0 }
  if (typeof sight === 'object') {
    const { reason, pattern } = sight
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, bytes: 0 }
  }
  const known = run.full ? { version: null, stamp: null } : { version: visit.etag, stamp: visit.lastModified }
  const reading = await ports.folder.read(key, known)
  if (reading.type === 'missing') return { state: 'failed', reason: 'not-found', isProvenGone: hasPage, bytes: 0 }
  if (reading.type === 'failed') return { state: 'failed', reason: reading.reason, detail: reading.detail, bytes: 0 }
  const { version: etag, stamp: lastModified, bytes, detail } = reading
  const seen = { etag, lastModified, contentUrl: visit.url, detail, bytes }
  if (reading.type === 'unchanged') return { state: 'unchanged', ...seen }
  if (reading.type === 'no-page') {
    const { reason, pattern } = reading
    // What a limit keeps from being read proves nothing about what was read before.
    if (reason === 'too-large' && hasPage) return { state: 'failed', reason, detail, bytes }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, ...seen }
  }
  const { record } = reading
  const isSame = hasPage && visit.contentHash === record.page.contentHash && !run.full
  return { state: isSame ? 'unchanged' : 'indexed', record, ...seen }
}

/** Files whose content is kept under another path are read for themselves when that one holds it no longer, or is to go. */
async function requeueOrphans({ run, ports }: ActiveFolder): Promise<boolean> {
  const now = ports.clock.now()
  return (await ports.ledger.requeueOrphanedAliases(run.sourceId, run.crawlId, now, false)) > 0
}

/** Removes what was proven gone, as far as that is allowed, and adds up. */
async function finishFolder(active: ActiveFolder): Promise<CrawlSummary> {
  const { run, ports } = active
  const ending = await endFolder(active)
  const ledger = await ports.ledger.countLedger(run.sourceId)
  const isVain = ending.end === 'completed' && run.kind !== 'retry' && run.kind !== 'refresh' && hasNoPage(ledger)
  const problem = ending.end !== 'completed' ? ending.problem : isVain ? describeVain(active) : findImbalance(ledger)
  const end = ending.end === 'completed' && problem !== null ? 'failed' : ending.end
  const { visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, cappedAt, overflow } = active
  const place = end === 'completed' ? ports.folder.place : run.lastPlace
  return {
    ...{ crawlId: run.crawlId, kind: run.kind, end, ledger, problem },
    ...{ visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, cappedAt, overflow },
    removed: ending.removed,
    withheld: ending.withheld,
    parked: [],
    incomplete: null,
    requests: 0,
    elapsedMs: ports.clock.now() - active.startedAt,
    vainReason: isVain || (end === 'failed' && active.survey.files === 0) ? 'empty' : null,
    ...(place === undefined ? {} : { place }),
  }
}

async function endFolder(active: ActiveFolder): Promise<Ending> {
  const { run, ports, signal, survey, cappedAt, overflow, missing } = active
  if (signal.aborted) return describeStop(signal.reason)
  if (survey.files === 0) return { end: 'failed', problem: describeVain(active), removed: 0, withheld: 0 }
  if (missing > 0) {
    const problem = `none of the files of ${missing} ${missing === 1 ? 'page' : 'pages'} is there any more`
    return { end: 'gate', problem, removed: 0, withheld: missing }
  }
  const isWhole = survey.isComplete && cappedAt === null && overflow === 0 && !run.isScopeChanged
  return removeGone({ run: { ...run, limits: lossLimitsOf(active) }, ports }, run.kind === 'recrawl' && isWhole)
}

/** Another folder in the place of the one that was read may lose half of its pages, however few they are. */
function lossLimitsOf({ run, ports }: ActiveFolder): FolderRun['limits'] {
  const isOther = run.lastPlace !== undefined && run.lastPlace !== ports.folder.place
  return isOther ? { ...run.limits, lossPages: 0, lossShare: 0.5 } : run.limits
}

function hasNoPage({ states }: CrawlSummary['ledger']): boolean {
  return states.indexed + states.unchanged === 0
}

function describeVain({ ports, survey }: ActiveFolder): string {
  const { url } = ports.folder
  return survey.files === 0 ? `${url} holds no file to read` : `no file of ${url} has text to index`
}
