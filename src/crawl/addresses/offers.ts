import { dropSlash } from '../../core/url/key.ts'
import type { CrawlCounts } from '../crawl-counts.ts'
import type { EventQueue } from '../event-queue.ts'
import type { CrawlEvent } from '../events.ts'
import type { FoundAddress, Ledger, LedgerRow, OfferResult, Refusal, Visit } from '../ledger.ts'
import { type Discovery, isListed, type Reason } from '../ledger-reasons.ts'
import type { Planning } from '../planning/planning.ts'
import type { Clock } from '../ports.ts'
import type { Alias, Settlement, SettlementResult } from '../settlement.ts'
import type { Site } from '../site.ts'

/** Number of offered addresses that are cached in memory. A full cache is cleared; the ledger then recognizes repeated addresses. */
const MAX_CACHED = 500_000
/** Number of listed, and of linked, addresses in the first turn. Each later turn has as many as all turns before it together. */
const FIRST_TURN = 8
/** Depth of an address known only from lists, so that any link to it counts as shorter. */
const LISTED_DEPTH = Infinity

/** Where addresses were found. */
export interface DiscoveryContext {
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
  /** Refuses addresses that the address filter would admit. */
  readonly refusal?: Refusal
}

/** Finds for the ledger, and the aliases that were learned from them. */
export interface FoundAddresses {
  readonly finds: readonly FoundAddress[]
  readonly aliases: readonly Alias[]
}

/** Options of {@link Offers}. */
export interface OffersOptions {
  readonly ledger: Pick<Ledger, 'offer' | 'findRow'>
  readonly clock: Clock
  readonly site: Site
  readonly counts: CrawlCounts
  readonly events: EventQueue<CrawlEvent>
  /** Present only if the crawl has a planner. */
  readonly planning: Pick<Planning, 'refuse' | 'weigh'> | undefined
}

/** Judges found addresses, offers them to the ledger, and remembers what was offered. */
export class Offers {
  readonly #options: OffersOptions
  /** Depths of the offered addresses by key. */
  readonly #depths = new Map<string, number>()
  readonly #stripped = new Set<string>()
  /** Keys that only the planner has named so far. */
  readonly #guesses = new Set<string>()
  /** Keys of planner guesses that this run requested and did not find. */
  readonly #missed = new Set<string>()
  /** Keys of pages that llms-full.txt holds, indexed by the key without its trailing slash. */
  readonly #covered = new Map<string, string>()
  /** Finds so far, by kind. */
  readonly #findCounts = { listed: 0, linked: 0 }

  constructor(options: OffersOptions) {
    this.#options = options
  }

  /** Judges found addresses. Leaves out those that this crawl already offered at the same or a smaller depth. */
  judge(urls: Iterable<string>, context: DiscoveryContext): FoundAddresses {
    const finds: FoundAddress[] = []
    const aliases: Alias[] = []
    for (const url of urls) this.#judgeOne(url, context, finds, aliases)
    return { finds, aliases }
  }

  /** Offers addresses to the ledger. Returns how many were admitted. */
  async offer(urls: Iterable<string>, context: DiscoveryContext): Promise<number> {
    const { finds, aliases } = this.judge(urls, context)
    if (finds.length === 0 && aliases.length === 0) return 0
    const results = await this.record(finds, aliases)
    await this.#options.events.waitForRoom()
    return results.filter((result) => result === 'admitted').length
  }

  /** Writes finds to the ledger and returns its results. */
  async record(finds: readonly FoundAddress[], aliases: readonly Alias[] = []): Promise<readonly OfferResult[]> {
    const { ledger, clock, counts } = this.#options
    const { crawlId, sourceId, limits } = counts.run
    const results = await ledger.offer(sourceId, crawlId, finds, clock.now(), aliases, limits.ledgerRows)
    this.noteOffered(finds, results)
    return results
  }

  /** Remembers the finds that the ledger has taken, and emits their events. */
  noteOffered(finds: readonly FoundAddress[], results: readonly OfferResult[]): void {
    const { site, counts, events } = this.#options
    if (this.#depths.size + finds.length > MAX_CACHED) this.#depths.clear()
    finds.forEach((find, i) => {
      const { url, depth, discovery, refusal } = find
      if (results[i] === 'overflow') {
        this.#noteOverflow(find)
        return
      }
      if (refusal === null) site.spellings.offer(find.key)
      const isLinked = refusal === null && !isListed(discovery)
      this.#depths.set(find.key, isLinked ? depth : (this.#depths.get(find.key) ?? LISTED_DEPTH))
      if (results[i] === 'named') this.#countNamed(find.key)
      if (results[i] === 'admitted') events.push({ type: 'enqueued', url, depth, discovery })
      if (results[i] !== 'refused' || refusal === null) return
      if (refusal.reason === 'new-in-refresh') counts.newInRefresh++
      this.#noteRepetition(refusal.reason, refusal.pattern)
      events.push({ type: 'dropped', url, depth, ...refusal })
    })
  }

  /** Remembers what a settled visit found and showed. */
  noteSettled(
    { visit, status, pattern, record, finds = [], aliases = [] }: Settlement,
    settled: SettlementResult,
  ): void {
    const { type, state, reason } = settled
    if (type === 'lost') {
      // Nothing was written, so the process that repeats the visit must be able to record the aliases again.
      for (const { url, aliasUrl } of aliases) {
        this.#stripped.delete(url)
        this.#stripped.delete(aliasUrl)
      }
      return
    }
    this.noteOffered(finds, settled.finds)
    if (state === 'pending') return
    const contentHash = record?.page.contentHash ?? (status === 304 ? visit.contentHash : null)
    if (contentHash !== null) this.#options.site.spellings.note(visit.key, contentHash)
    this.#noteRepetition(reason, pattern)
    if (reason === 'guess-missed') this.#missed.add(visit.key)
  }

  /** Forgets which addresses were offered, so that they can be offered again. */
  forgetOffered(): void {
    this.#depths.clear()
  }

  /** Whether only the planner has named an address. */
  isGuess({ key, discovery }: Pick<Visit, 'key' | 'discovery'>): boolean {
    return discovery === 'planner' && (this.#guesses.has(key) || !this.#depths.has(key))
  }

  /** Records a page of llms-full.txt. */
  noteCovered(key: string): void {
    this.#covered.set(dropSlash(key), key)
  }

  /** Refuses an address that differs only by a trailing slash from a page in llms-full.txt; null for all others. */
  findCovering(key: string): Refusal | null {
    const target = this.#covered.get(dropSlash(key))
    if (target === undefined || target === key) return null
    return { reason: 'covered', pattern: 'llms-full.txt', target }
  }

  /** Adds the seeds of the planner to the frontier. Returns which of them wait there now. */
  async offerSeeds(urls: readonly string[]): Promise<{ waiting: readonly string[]; admitted: number }> {
    const { site, counts } = this.#options
    const depth = Math.max(1, counts.run.scope.maxDepth ?? 1)
    // Guesses outside the scope are not recorded.
    const allowed = urls.filter((url) => site.addressFilter.judge(url, depth).refusal === null)
    const admitted = await this.offer(allowed, { depth, foundOn: null, discovery: 'planner' })
    const waiting: string[] = []
    for (const url of allowed) if ((await this.#findWaiting(url)) !== undefined) waiting.push(url)
    return { waiting, admitted }
  }

  /** Moves waiting addresses forward in the frontier; refused addresses stay refused. */
  async prioritize(urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      const row = await this.#findWaiting(url)
      if (row !== undefined) await this.offer([row.url], { depth: row.depth, foundOn: null, discovery: 'planner' })
    }
  }

  async #findWaiting(url: string): Promise<LedgerRow | undefined> {
    const { ledger, site, counts } = this.#options
    const row = await ledger.findRow(counts.run.sourceId, site.addressFilter.keyOf(url) ?? url)
    const isWaiting = row?.crawlId === counts.run.crawlId && (row.state === 'pending' || row.state === 'leased')
    return isWaiting ? row : undefined
  }

  #judgeOne(text: string, context: DiscoveryContext, finds: FoundAddress[], aliases: Alias[]): void {
    const { site, counts, planning } = this.#options
    const { kind, discover } = counts.run
    const { depth, foundOn, discovery } = context
    const isGiven = discovery === 'manual'
    const { url, key, host, refusal: filterRefusal, stripped } = site.judge(text, depth, discovery, isGiven)
    if (stripped !== null) {
      this.#noteStripped(url, stripped, filterRefusal, depth, aliases)
      this.#judgeOne(stripped, { ...context, discovery: 'query-strip' }, finds, aliases)
      return
    }
    const offeredDepth = this.#depths.get(key)
    const isNewOnly = kind === 'refresh' || kind === 'retry'
    const refreshRefusal: Refusal | null =
      kind === 'refresh' && !discover ? { reason: 'new-in-refresh', pattern: null, target: null } : null
    const refusal = filterRefusal ?? context.refusal ?? refreshRefusal ?? (isGiven ? null : this.findCovering(key))
    // The ledger must learn that the site itself names an address that was only a guess.
    const isNamed = discovery !== 'planner' && this.#guesses.delete(key)
    if (discovery === 'planner' && offeredDepth === undefined) this.#guesses.add(key)
    const find = { key, url, host, depth, foundOn, discovery, ...(isNewOnly ? { isNewOnly } : {}) }
    const isKnown =
      offeredDepth !== undefined && (refusal === null ? offeredDepth <= depth : refusal.reason !== 'covered')
    // The planner may offer a waiting address again to move it forward.
    if (isKnown && !isNamed && discovery !== 'planner') return
    if (refusal !== null) {
      finds.push({ ...find, refusal })
      return
    }
    if (planning === undefined) {
      finds.push({ ...find, refusal: null, weight: this.#weighTurn(discovery) })
      return
    }
    const planRefusal = planning.refuse(find)
    if (planRefusal !== null && offeredDepth !== undefined) return
    finds.push({ ...find, refusal: planRefusal, weight: planRefusal === null ? planning.weigh(find) : 0 })
  }

  /**
   * Lets listed addresses and links take turns: a few of each are visited first, and each later turn has as many as all before it together.
   * Neither a long list nor many links can delay the other for long.
   */
  #weighTurn(discovery: Discovery): number {
    if (discovery !== 'link' && !isListed(discovery)) return 0
    const count = discovery === 'link' ? this.#findCounts.linked++ : this.#findCounts.listed++
    return count < FIRST_TURN ? 0 : Math.floor(Math.log2(count / FIRST_TURN)) + 1
  }

  /**
   * Replaces an address that has a superfluous query or a session id with the address without it, and keeps the alias. Session ids are
   * unlimited, so only one alias per address is kept.
   */
  #noteStripped(url: string, stripped: string, refusal: Refusal | null, depth: number, aliases: Alias[]): void {
    const { site, events } = this.#options
    const isSession = refusal?.reason === 'session-id'
    const aliasKey = isSession ? stripped : url
    if (this.#stripped.has(aliasKey)) return
    if (this.#stripped.size >= MAX_CACHED) this.#stripped.clear()
    this.#stripped.add(aliasKey)
    const reason = isSession ? 'session-id' : 'query-skip'
    const classification = isSession ? 'session-id' : 'superfluous-query'
    aliases.push({ url, aliasUrl: stripped, classification, reason })
    const pattern = isSession ? refusal.pattern : null
    const target = site.addressFilter.keyOf(stripped) ?? null
    events.push({ type: 'dropped', url, depth, reason, pattern, target })
  }

  /** Records that pages were left out as repetitions. They may have been different, so their absence proves nothing. */
  #noteRepetition(reason: Reason | null, pattern: string | null | undefined): void {
    if (reason !== 'same-content') return
    this.#options.counts.incomplete ??= `addresses like ${pattern} were left out as repetitions`
  }

  /** A missed guess becomes a failure once the site names it. Guesses of earlier runs do not change the counts of this run. */
  #countNamed(key: string): void {
    if (!this.#missed.delete(key)) return
    this.#options.counts.skipped--
    this.#options.counts.failed++
  }

  #noteOverflow({ key, url, depth }: FoundAddress): void {
    const { counts, events } = this.#options
    // Depth 0 keeps the address from being offered again: the ledger stays full.
    this.#depths.set(key, 0)
    counts.overflow++
    const pattern = String(counts.run.limits.ledgerRows)
    counts.incomplete ??= `more addresses were found than the ${pattern} a source may have`
    events.push({ type: 'dropped', url, depth, reason: 'overflow', pattern, target: null })
  }
}
