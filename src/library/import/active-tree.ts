import { PathSelection } from '../../core/folder/path-selection.ts'
import { withAnchor } from '../../core/retrieval/anchored-url.ts'
import type { EventQueue } from '../../crawl/event-queue.ts'
import type { CrawlEvent, CrawlProgress } from '../../crawl/events.ts'
import { NO_HOST } from '../../crawl/hosts/host-lease.ts'
import type { FoundAddress, OfferResult, Refusal } from '../../crawl/ledger.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import type { ActivityCounter } from '../../crawl/observe-crawl.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import { countVisit, type RunCounts } from '../../crawl/run-counts.ts'
import type { Settlement, SettlementResult } from '../../crawl/settlement.ts'
import type { RunPorts, Supervisor } from '../../crawl/supervise.ts'
import type { Store } from '../ports/store.ts'
import type { KnownFile, OpenTree } from '../ports/tree.ts'
import { depthOf, possibleContainers, TreeSurvey } from './tree-survey.ts'

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

/** Number of found addresses offered to the ledger at once. */
const FIND_BATCH_SIZE = 1000

const EVERYTHING = new PathSelection([''])

/** State, counters and events of a run over a tree. */
export class ActiveTree implements RunCounts {
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
  readonly #walked: PathSelection[] = []

  constructor(run: TreeRun, ports: TreePorts, { signal, activity, events }: Supervisor) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.activity = activity
    this.events = events
    this.startedAt = ports.clock.now()
    this.survey = new TreeSurvey(run.scope)
  }

  /** Walks the folder, or a part of it. */
  async walk(part?: PathSelection): Promise<void> {
    for await (const entry of this.ports.tree.walk(this.signal, part)) {
      // Entries count as activity, so that a slow disk is not mistaken for a stall.
      this.activity.count++
      this.survey.add(entry)
    }
    this.#walked.push(part ?? EVERYTHING)
  }

  /**
   * Walks the files of those keys that are outside of what was walked. A key with `#` may name a file, or a page of a container file, so both
   * are looked for.
   */
  async walkMissing(keys: readonly string[]): Promise<void> {
    const missing = keys.filter((key) => !this.#walked.some((part) => part.contains(key)))
    if (missing.length === 0) return
    const paths = missing.flatMap((key) => [key, ...possibleContainers(key)])
    // A folder before a `#` is no container, and must not be walked whole.
    await this.walk(new PathSelection(paths, { isDeep: false }))
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
      maxPages: this.run.scope.maxPages ?? undefined,
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

/** Known state of a file with several pages. */
export interface KnownContainer extends KnownFile {
  /** Keys of its pages. */
  readonly parts: string[]
}

export function createFoundAddress(active: ActiveTree, path: string, refusal: Refusal | null): FoundAddress {
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
