import type { ActiveCrawl } from '../active-crawl.ts'
import { readLists } from './discover.ts'

/** The lists of a site, which a crawl reads once, and what they have shown. */
export class SiteLists {
  /** Whether the crawl reads lists. A joined process does not. */
  readonly areUsed: boolean
  /** Whether lists are being read; links of pages wait until that is done. */
  isReading = false
  /** Whether the current pages of llms-full.txt are known. */
  isLlmsFullKnown: boolean
  /** Whether llms-full.txt was to be the only content but holds no page. */
  isLlmsFullMissing = false
  readonly #crawl: ActiveCrawl
  #reading: Promise<void> | undefined
  /** Key of a start that was settled before the crawl was interrupted. */
  #settledStart: string | undefined

  constructor(crawl: ActiveCrawl, areUsed: boolean, isLlmsFullKnown: boolean) {
    this.#crawl = crawl
    this.areUsed = areUsed
    this.isLlmsFullKnown = isLlmsFullKnown
  }

  /** Reads the lists once. The visit of the start waits for it, so that listed addresses are recorded as listed, not as links. */
  readOnce(startKey?: string): Promise<void> {
    if (this.#reading === undefined) {
      this.isReading = true
      this.#reading = readLists(this.#crawl, startKey).finally(() => {
        this.isReading = false
      })
    }
    return this.#reading
  }

  /** Reads the lists if no visit of the start did. Returns whether it read them. */
  async readIfNeeded(): Promise<boolean> {
    if (this.#reading !== undefined || !this.areUsed) return false
    await this.readOnce(this.#settledStart)
    return true
  }

  /**
   * Continues after an interruption. Once the start is settled, its lists have been read too. A recrawl reads them again, because only
   * lists that can be read now prove that an address is missing.
   */
  async resume(): Promise<void> {
    const { run, ports, site } = this.#crawl
    const settledStart = await site.resume(ports.ledger)
    if (run.kind === 'recrawl') this.#settledStart = settledStart
    else if (settledStart !== undefined) this.#reading = Promise.resolve()
  }
}
