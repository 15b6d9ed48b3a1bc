import type { Fetcher } from '../../src/crawl/ports.ts'
import type { SimulatedNetwork } from './network.ts'
import type { LedgerClient, SharedLedger, VisitLedger } from './shared-ledger.ts'
import type { SimulatedTime } from './time.ts'

/** Everything that a process needs. */
export interface ProcessSettings {
  readonly time: SimulatedTime
  readonly ledger: SharedLedger
  readonly network: SimulatedNetwork
  readonly random: () => number
  /** Maximum number of concurrent visits. */
  readonly visits: number
  /** Maximum number of hosts that the process may hold. */
  readonly hosts: number
}

/** A crawl of one source by one process. */
export interface RunningCrawl {
  /** Resolves when nothing is left for the process. */
  readonly done: Promise<void>
  stop(): void
}

/** Everything that a crawl needs. */
export interface CrawlParts extends ProcessSettings {
  readonly source: string
  readonly visitLedger: VisitLedger
  readonly fetcher: Fetcher
  /** Delivers a response or a wake-up to the process as soon as the process can receive it. */
  readonly deliver: (answer: () => void) => void
}

/** Starts a crawl. */
export type Crawler = (parts: CrawlParts) => RunningCrawl

/** A process that crawls one source after the other, and that can be killed and frozen. */
export class SimulatedProcess implements LedgerClient {
  readonly id: string
  /** The source that the process crawls now. */
  source: string | null = null
  readonly #settings: ProcessSettings
  readonly #crawler: Crawler
  #isGone = false
  #isFrozen = false
  /** Callbacks that are delayed until the process resumes. */
  #waiting: (() => void)[] = []
  #crawling: RunningCrawl | undefined
  #visitLedger: VisitLedger | undefined

  constructor(id: string, settings: ProcessSettings, crawler: Crawler) {
    this.id = id
    this.#settings = settings
    this.#crawler = crawler
  }

  readonly deliver = (answer: () => void): void => {
    if (this.#isGone) return
    if (this.#isFrozen) this.#waiting.push(answer)
    else answer()
  }

  get isReceiving(): boolean {
    return !this.#isGone && !this.#isFrozen
  }

  get isKilled(): boolean {
    return this.#isGone
  }

  /** Ends the process abruptly, like `kill -9`. */
  kill(): void {
    this.#isGone = true
  }

  /** Freezes the process, like `SIGSTOP`. */
  freeze(): void {
    this.#isFrozen = true
  }

  /** Resumes the process, and delivers everything that arrived meanwhile. */
  thaw(): void {
    this.#isFrozen = false
    for (const answer of this.#waiting.splice(0)) this.deliver(answer)
  }

  /** Crawls a source until nothing of it is left for this process. */
  async crawl(source: string): Promise<void> {
    const { ledger, network } = this.#settings
    const { deliver } = this
    this.source = source
    const visitLedger = ledger.open(this, source)
    const fetcher = network.open(deliver)
    this.#visitLedger = visitLedger
    this.#crawling = this.#crawler({ ...this.#settings, source, visitLedger, fetcher, deliver })
    await this.#crawling.done
    this.#visitLedger = undefined
    await visitLedger.releaseAll()
    this.source = null
  }

  /** Sends a heartbeat. */
  sendHeartbeat(): void {
    void this.#visitLedger?.sendHeartbeat()
  }

  /** Reads the progress of the crawl, like a process that reports it. */
  pollProgress(): void {
    this.#visitLedger?.pollProgress()
  }

  /** Makes the process stop its crawl in an orderly way. */
  stop(): void {
    this.#crawling?.stop()
  }
}
