import { writeDuration } from '../core/text/duration.ts'
import type { CrawlEvent, CrawlProgress, CrawlSummary, HostProgress, PauseCause } from '../crawl/events.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { ErrorFrame, Frame, NoteFrame, ProgressFrame, QueueAction } from '../library/jobs/events/frames.ts'
import { writeCap } from '../library/sources/shortfall.ts'

/** The crawl that frames are written about. */
export interface FrameWriterOptions {
  readonly sourceId: string
  /** The start address of the source. */
  readonly startUrl: string
  /** The current time in milliseconds since 1970. */
  readonly now: () => number
  readonly write: (frame: Frame) => void
  /** Writes a line for users. */
  readonly say: (line: string) => void
}

/** Minimum interval between progress reports. */
const PROGRESS_INTERVAL_MS = 300
/** Maximum number of current downloads in a report. */
const MAX_CURRENT_DOWNLOADS = 5

/** Reasons that have another name in the frame format. All others keep theirs. */
const FRAME_REASONS: Readonly<Partial<Record<Reason, string>>> = {
  'off-site': 'off-domain',
  scheme: 'bad-url',
  'session-id': 'query-skip',
  canonical: 'duplicate',
  spelling: 'duplicate',
  covered: 'duplicate',
  'same-content': 'duplicate',
}

/** Turns the events of a crawl into frames. */
export class FrameWriter {
  readonly #options: FrameWriterOptions
  readonly #domain: string | null
  #crawlId: string | null = null
  #state: CrawlProgress = EMPTY_PROGRESS
  #reportedAt = Number.NEGATIVE_INFINITY
  #found = 0
  #downloaded = 0
  #sitemaps = 0
  #fromSitemaps = 0
  #queueSize = 0
  #unread = 0
  /** The depth of each address that is being visited. */
  readonly #depths = new Map<string, number>()

  constructor(options: FrameWriterOptions) {
    this.#options = options
    this.#domain = hostOf(options.startUrl)
  }

  get progress(): ProgressFrame {
    const { visited, indexed, unchanged, skipped, failed, bytes, own, queued, maxPages, current, hosts, latencies } =
      this.#state
    const domain = hosts.find(({ host }) => host === this.#domain)
    return {
      ...{ visited, unchanged, skipped, bytes, own },
      downloaded: this.#downloaded,
      found: this.#found,
      saved: indexed,
      errors: failed,
      queueSize: queued,
      maxPages,
      unread: this.#unread,
      currentDownloadsCount: current.length,
      currentDownloads: current.slice(0, MAX_CURRENT_DOWNLOADS),
      paused: this.#state.isPaused,
      robotsLoaded: this.#state.hasRobots,
      sitemapCount: this.#sitemaps,
      sitemapEnqueued: this.#fromSitemaps,
      domain: this.#domain,
      domainRpm: domain?.rpm ?? null,
      domainLimit: domain?.limitRpm ?? null,
      domainBackoffMs: domain?.backoffMs ?? 0,
      domainRateLimited: (domain?.backoffMs ?? 0) > 0,
      domainIntervalMs: domain?.intervalMs ?? 0,
      perHost: Object.fromEntries(hosts.map((host) => [host.host, hostFrame(host)])),
      perHostLimits: Object.fromEntries(hosts.map((host) => [host.host, hostLimitFrame(host)])),
      latencies,
      crawlId: this.#crawlId,
      sourceId: this.#options.sourceId,
    }
  }

  tell(event: CrawlEvent): void {
    switch (event.type) {
      case 'started':
        this.#crawlId = event.crawlId
        this.#report()
        return
      case 'discovery':
        if (event.discovery === 'sitemap' && event.found > 0) this.#sitemaps++
        return
      case 'enqueued':
        this.#found++
        this.#queueSize++
        if (event.discovery === 'sitemap') this.#fromSitemaps++
        this.#tellQueue('enqueued', event.url, event.depth, event.discovery === 'planner' ? 'intelligent-seed' : null)
        return
      case 'dropped':
        this.#tellQueue('drop', event.url, event.depth, frameReasonOf(event.reason), event.target)
        return
      case 'begun':
        this.#depths.set(event.url, event.depth)
        this.#tellQueue('dequeued', event.url, event.depth)
        return
      case 'retry':
        this.#tellQueue('retry', event.url, this.#depths.get(event.url) ?? null, 'retriable-error')
        return
      case 'settled':
        this.#tellSettled(event)
        return
      case 'progress':
        this.#state = event
        this.#queueSize = event.queued
        if (this.#options.now() - this.#reportedAt >= PROGRESS_INTERVAL_MS) this.#report()
        return
      case 'paused':
      case 'resumed':
        this.#tellPause(event)
        return
      case 'problem':
      case 'milestone': {
        const { kind, target, message, details } = event
        const type = event.type === 'problem' ? 'PROBLEM' : 'MILESTONE'
        this.#options.write({ type, data: this.#note(kind, target, message, details) })
        return
      }
      case 'plan':
        this.#options.say(`[plan] ${event.message}`)
        return
      case 'ended':
        this.#tellEnd(event.summary)
        return
      default:
        this.#tellHost(event)
    }
  }

  #report(): void {
    this.#reportedAt = this.#options.now()
    this.#options.write({ type: 'PROGRESS', data: this.progress })
  }

  #tellQueue(
    action: QueueAction,
    url: string,
    depth: number | null,
    reason: string | null = null,
    alias: string | null = null,
  ): void {
    // Only an address that was dropped for its query has an alias.
    const queryAlias = reason === 'query-skip' ? alias : null
    const data = { action, url, depth, host: hostOf(url), reason, queueSize: this.#queueSize, alias: queryAlias }
    this.#options.write({ type: 'QUEUE', data })
  }

  #tellSettled(event: Extract<CrawlEvent, { type: 'settled' }>): void {
    const { url, state, reason, status, bytes, storedMs } = event
    const { write } = this.#options
    const depth = this.#depths.get(url) ?? null
    this.#depths.delete(url)
    if (depth !== null) this.#queueSize = Math.max(0, this.#queueSize - 1)
    if (bytes > 0) this.#downloaded++
    if (state === 'skipped' && reason !== null) this.#tellQueue('drop', url, depth, frameReasonOf(reason))
    if (storedMs !== undefined) {
      const source = status === 304 ? 'not-modified' : 'library'
      write({ type: 'CACHE', data: { url, source, ageSeconds: Math.round(storedMs / 1000) } })
    }
    if (state === 'failed') write({ type: 'ERROR', data: errorFrame(event) })
  }

  #tellPause(event: Extract<CrawlEvent, { type: 'paused' | 'resumed' }>): void {
    const { cause } = event
    if (cause === 'requested') {
      // Reported immediately, because the client that requested the pause waits for the confirmation.
      this.#state = { ...this.#state, isPaused: event.type === 'paused' }
      this.#report()
    } else if (event.type === 'paused') {
      this.#tellProblem(PAUSE_KINDS[cause], this.#options.startUrl, event.detail, {})
    }
  }

  #tellHost(event: Extract<CrawlEvent, { type: 'paced' | 'held' | 'parked' }>): void {
    const { host } = event
    if (event.type === 'parked') {
      this.#tellProblem('host-parked', host, event.detail, { reason: event.reason })
      return
    }
    if (event.type === 'paced') {
      const { askedMs, intervalMs } = event
      this.#tellProblem('crawl-delay-cut', host, 'its robots.txt asks for longer pauses than Pharos makes', {
        askedMs,
        intervalMs,
      })
      return
    }
    const { untilMs, reason, strikes } = event
    const until = new Date(untilMs).toISOString()
    const message = `no request for ${writeDuration(Math.max(0, untilMs - this.#options.now()))}, because it failed or asked to slow down`
    this.#tellProblem('host-held', host, message, { until, reason, strikes })
  }

  #tellEnd(summary: CrawlSummary): void {
    const { ledger, end, visited, indexed, unchanged, skipped, failed, bytes, elapsedMs } = summary
    const counts = { visited, indexed, unchanged, skipped, failed, bytes, elapsedMs }
    const queued = ledger.states.pending + ledger.states.leased
    this.#state = { ...this.#state, ...counts, queued, current: [], isPaused: false }
    this.#queueSize = queued
    this.#unread = summary.unread ?? 0
    for (const { kind, message, details } of listEndProblems(summary)) {
      this.#tellProblem(kind, this.#options.startUrl, message, { end, ...details })
    }
    this.#report()
  }

  #tellProblem(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): void {
    this.#options.write({ type: 'PROBLEM', data: this.#note(kind, target, message, details) })
  }

  #note(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): NoteFrame {
    return { kind, scope: this.#domain, target, message, details }
  }
}

const EMPTY_PROGRESS: CrawlProgress = {
  visited: 0,
  indexed: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  bytes: 0,
  queued: 0,
  current: [],
  isPaused: false,
  hasRobots: false,
  hosts: [],
  elapsedMs: 0,
}

const PAUSE_KINDS: Readonly<Record<Exclude<PauseCause, 'requested'>, string>> = {
  'disk-full': 'paused-disk-full',
  locked: 'paused-locked',
  unreachable: 'paused-unreachable',
  'read-only': 'paused-read-only',
  memory: 'paused-memory',
}

/** A problem that is reported at the end of a crawl. */
interface EndProblem {
  readonly kind: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

function listEndProblems(summary: CrawlSummary): EndProblem[] {
  const { end, problem, withheld, cappedAt, spent, unread = 0, overflow, incomplete, uselessReason } = summary
  const problems: EndProblem[] = []
  if (end === 'gate') {
    const message = problem ?? 'the crawl would have removed more pages than allowed'
    problems.push({ kind: 'loss-gate', message, details: { withheld } })
  }
  if (cappedAt !== null) {
    const message = writeCap(cappedAt, unread, spent)
    problems.push({ kind: 'page-cap', message, details: { maxPages: cappedAt, unread } })
  }
  if (overflow > 0) {
    const message = `${overflow} addresses were not recorded: the source has reached its limit (maxAddresses)`
    problems.push({ kind: 'address-overflow', message, details: { overflow } })
  }
  if (uselessReason !== null) {
    const message = problem ?? `nothing could be read: ${uselessReason}`
    problems.push({ kind: 'start-failed', message, details: { reason: uselessReason } })
  }
  if (incomplete !== null) problems.push({ kind: 'coverage-open', message: incomplete, details: {} })
  return problems
}

function frameReasonOf(reason: Reason): string {
  return FRAME_REASONS[reason] ?? reason
}

/** Reasons for which there was no response. */
const UNANSWERED: ReadonlySet<Reason | null> = new Set<Reason | null>([
  'network',
  'tls',
  'address-refused',
  'host-parked',
  'robots-unreachable',
])

function errorFrame({ url, reason, status, detail }: Extract<CrawlEvent, { type: 'settled' }>): ErrorFrame {
  const isSaveError = reason === 'page-defect' || reason === 'unreadable'
  const kind = reason === 'timeout' ? 'timeout' : UNANSWERED.has(reason) ? 'network' : isSaveError ? 'save' : 'http'
  const message = [reason, detail].filter((part) => part !== null).join(': ')
  return { url, kind, code: status, message: message === '' ? null : message }
}

function hostFrame(host: HostProgress): ProgressFrame['perHost'][string] {
  const { rpm, limitRpm, backoffUntil, intervalMs } = host
  return {
    rpm,
    limitRpm,
    backoffUntil: backoffUntil === null ? null : new Date(backoffUntil).toISOString(),
    intervalMs,
  }
}

function hostLimitFrame({ limitRpm, intervalMs, backoffMs }: HostProgress): ProgressFrame['perHostLimits'][string] {
  return { rateLimited: backoffMs > 0, limit: limitRpm, intervalMs, backoffMs }
}

/** The host of an address; null if it has none. */
function hostOf(url: string): string | null {
  return URL.parse(url)?.host || null
}
