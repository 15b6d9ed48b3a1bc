import type { ActiveCrawl } from '../active-crawl.ts'
import { type FoundAddress, isRead, type LedgerRow, type Visit } from '../ledger.ts'
import { type Discovery, isAbsent, isFilterReason, isListed, type LedgerState } from '../ledger-reasons.ts'
import type { SettlementResult } from '../settlement.ts'
import { type ListedAddressState, listSparedHosts, SpreadSample, StaleListDetector } from './stale-list-detector.ts'
import { walkRows } from './walk-rows.ts'

/** States of rows whose stored links are offered again; a page that failed now has links from an earlier crawl. */
const LINKING_STATES: readonly LedgerState[] = ['indexed', 'unchanged', 'skipped', 'failed']

/** Sets lists aside whose addresses are mostly dead. */
export class StaleLists {
  readonly #active: Pick<ActiveCrawl, 'run' | 'ports' | 'events' | 'counts' | 'offers' | 'lists'>
  readonly #detector = new StaleListDetector()
  /** The last sample of each list. */
  readonly #samples = new Map<string, readonly FoundAddress[]>()

  constructor(active: Pick<ActiveCrawl, 'run' | 'ports' | 'events' | 'counts' | 'offers' | 'lists'>) {
    this.#active = active
  }

  /** Records whether a listed address exists, and samples or sets aside its list. */
  async note({ foundOn, discovery }: Visit, settled: SettlementResult, status: number | null): Promise<void> {
    if (foundOn === null || !isListed(discovery)) return
    const answer = judgeListed({ ...settled, status })
    // While the list is being read, a sample would cover its beginning only.
    if (this.#active.lists.isReading || answer === undefined) return
    const next = this.#detector.note(foundOn, answer === 'missing')
    if (next === 'sample') await this.#sample(foundOn)
    if (next === 'set-aside') await this.#setAside(foundOn, discovery)
  }

  /** Moves a sample of a list to the front of the frontier. */
  async #sample(list: string): Promise<void> {
    const { run, ports, offers } = this.#active
    const sample = new SpreadSample<FoundAddress>()
    for await (const rows of walkRows(ports.ledger, run.sourceId, { state: 'pending' })) {
      for (const { key, url, host, depth, foundOn, discovery } of rows) {
        if (foundOn === list && isListed(discovery))
          sample.add({ key, url, host, depth, foundOn, discovery, refusal: null, weight: -1 })
      }
    }
    this.#samples.set(list, sample.items)
    if (sample.items.length > 0) await offers.record(sample.items)
  }

  /** Returns the host of each address in the last sample of a list, and whether the address exists. Any process may have visited it. */
  async #readSample(list: string): Promise<(readonly [host: string, answer: ListedAddressState | undefined])[]> {
    const { run, ports } = this.#active
    const answers: (readonly [string, ListedAddressState | undefined])[] = []
    for (const { key, host } of this.#samples.get(list) ?? []) {
      const row = await ports.ledger.findRow(run.sourceId, key)
      answers.push([host, row && judgeListed(row)])
    }
    return answers
  }

  /**
   * Skips the pending addresses of a stale list, except on hosts where they may still exist according to the sample. Then offers links
   * again, because pages may link to some of the skipped addresses.
   */
  async #setAside(list: string, discovery: Discovery): Promise<void> {
    const { run, ports, counts, events } = this.#active
    const now = ports.clock.now()
    const listed = { list, exceptHosts: listSparedHosts(await this.#readSample(list)) }
    const count = await ports.ledger.skipPending(run.sourceId, 'stale-list', list, now, run.crawlId, listed)
    counts.incomplete ??= `${list} was set aside: a sample of its addresses is gone`
    const detail = `${count} addresses set aside: those that were requested are gone`
    events.push({ type: 'discovery', discovery, url: list, found: 0, detail })
    if (count > 0 && run.followsLinks) await this.#offerLinksAgain()
  }

  /** Offers all links of this crawl again. Reads them from the ledger, because an interrupted run may have fetched some of the pages. */
  async #offerLinksAgain(): Promise<void> {
    const { run, ports, offers } = this.#active
    offers.forgetOffered()
    for (const state of LINKING_STATES) {
      for await (const rows of walkRows(ports.ledger, run.sourceId, { state })) {
        const linking = rows.filter((row) => row.crawlId === run.crawlId && (isRead(row) || row.hasPage))
        for (const { key, url, depth } of linking) {
          const links = await ports.ledger.readLinks(run.sourceId, key)
          await offers.offer(links, { depth: depth + 1, foundOn: url, discovery: 'link' })
        }
      }
    }
  }
}

/** Whether a listed address exists; undefined if that is unknown. Redirects and pages that are not indexed count as found. */
function judgeListed({
  state,
  reason,
  status,
}: Pick<LedgerRow, 'state' | 'reason' | 'status'>): ListedAddressState | undefined {
  if (state === 'failed') return isAbsent(reason) ? 'missing' : undefined
  // A row that was refused without a request has the status of an earlier run.
  const hasResponded = state === 'skipped' && status !== null && !isFilterReason(reason)
  return state === 'indexed' || state === 'unchanged' || hasResponded ? 'found' : undefined
}
