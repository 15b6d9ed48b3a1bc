import { mergeFields } from '../core/header-fields.ts'
import { dropSlash } from '../core/url/key.ts'
import { followRedirect } from '../core/url/reach.ts'
import { type AddressDecision, type AddressFilter, createAddressFilter } from './addresses/address-filter.ts'
import { ContentTraps, type PageContent } from './addresses/content-traps.ts'
import { Spellings } from './addresses/spellings.ts'
import type { CrawlCounts } from './crawl-counts.ts'
import { isRead, type Ledger, type Visit } from './ledger.ts'
import { type Discovery, isListed } from './ledger-reasons.ts'
import type { CrawlRun } from './run.ts'

/** Number of redirect targets that are remembered. */
const MAX_HOPS = 500_000

/** Where a site is, and which addresses belong to it. The site moves when its start redirects. */
export class Site {
  /** The start with its actual scheme and host, after redirects. */
  url: string
  addressFilter: AddressFilter
  /** Whether the start has responded, so that the location of the site is known. */
  isLocated: boolean
  readonly spellings: Spellings = new Spellings()
  readonly #counts: CrawlCounts
  /** Site address to store at the end of the crawl. */
  #urlToStore: string
  readonly #startOrigin: string
  /** Keys of the start and of its redirect targets, and whether only permanent redirects lead there. */
  readonly #startKeys = new Map<string, boolean>()
  /** Number of consecutive redirects that led to a key. */
  readonly #hops = new Map<string, number>()
  /** Hosts of the site: the given one, and those it redirected to. */
  readonly #hosts = new Set<string>()
  readonly #traps = new ContentTraps(this.#hosts)
  /** The targets of redirects whose visits are not settled yet, by key. */
  readonly moves: Map<string, string> = new Map()

  constructor(counts: CrawlCounts, isLocated: boolean) {
    const { startUrl, siteUrl } = counts.run
    this.#counts = counts
    this.url = siteUrl
    this.isLocated = isLocated
    this.#urlToStore = siteUrl
    this.#startOrigin = new URL(startUrl).origin
    for (const url of [startUrl, siteUrl]) this.#hosts.add(new URL(url).host)
    this.addressFilter = this.#createAddressFilter()
    this.#startKeys.set(this.addressFilter.keyOf(startUrl) ?? startUrl, true)
  }

  /** The new address of a site that moved permanently. */
  get movedTo(): string | undefined {
    return this.#urlToStore === this.#counts.run.siteUrl ? undefined : this.#urlToStore
  }

  /**
   * Headers may hold credentials: those of the run go to the origin of the start only, even if the site has moved, and those that are
   * configured to their own origin only.
   */
  headersFor(url: string): CrawlRun['headers'] {
    const { headers, siteHeaders } = this.#counts.run
    return mergeFields(siteHeaders?.find(url), new URL(url).origin === this.#startOrigin ? headers : {})
  }

  /** Judges an address by how it was found. A list is finite, so content traps do not apply to its addresses. */
  judge(url: string, depth: number, discovery: Discovery, isNoTrap = false): AddressDecision {
    const verdict = this.addressFilter.judge(url, depth, isNoTrap)
    const isSpared = isListed(discovery) && verdict.refusal?.reason === 'same-content'
    return isSpared ? { ...verdict, refusal: null } : verdict
  }

  /** The address to request: earlier versions recorded addresses with parameters that only track readers. */
  writeUrl({ key, url }: Visit): string {
    if (!url.includes('?')) return url
    const { stripped } = this.addressFilter.judge(url, 0)
    return stripped !== null && this.addressFilter.keyOf(stripped) === key ? stripped : url
  }

  /** Passes content to the trap detection. Second readings and listed addresses are left out: neither is evidence of a trap. */
  noteContent({ url, depth, discovery, isFinal, isConfirmation }: Visit, content: PageContent): void {
    const isEvidence = !isFinal && !isConfirmation && !isListed(discovery)
    if (this.#counts.run.scope.trapGuards && isEvidence) this.#traps.note(url, depth, content)
  }

  /** Whether a key is the start, or one of its redirect targets. */
  isStart(key: string): boolean {
    return this.#startKeys.has(key)
  }

  /** Depth of a redirect target: at least 1 except for the start, so that a listed redirect and a link give the same depth in any order. */
  redirectDepth({ key, depth }: Pick<Visit, 'key' | 'depth'>): number {
    return this.isStart(key) ? depth : Math.max(depth, Math.min(1, this.#counts.run.scope.maxDepth ?? 1))
  }

  /** Number of consecutive redirects that led to a key. */
  countHops(key: string): number {
    return this.#hops.get(key) ?? 0
  }

  noteHops(key: string, hops: number): void {
    if (this.#hops.size >= MAX_HOPS) this.#hops.clear()
    this.#hops.set(key, hops)
  }

  /**
   * Records where an address redirects. If it is the start, the site moves there. The site keeps its folder if the target is inside that
   * folder. A temporary redirect counts for this crawl only.
   */
  noteRedirect(key: string, target: string, isPermanent: boolean): void {
    const isPermanentSoFar = this.#startKeys.get(key)
    const targetKey = this.addressFilter.keyOf(target)
    if (isPermanentSoFar === undefined || targetKey === undefined) return
    this.#startKeys.set(targetKey, isPermanentSoFar && isPermanent)
    const url = followRedirect(this.url, target)
    if (url !== this.url) this.#move(url, isPermanentSoFar && isPermanent)
  }

  /** Records that an address responded with its own page. If it is the start that the user gave, the site is located there again. */
  notePage(key: string): void {
    const { startUrl } = this.#counts.run
    if (key === this.addressFilter.keyOf(startUrl) && this.url !== startUrl) this.#move(startUrl, true)
  }

  /** Follows the redirects of the start of a resumed crawl. Returns the key of the start if it is settled. */
  async resume(ledger: Pick<Ledger, 'findRow'>): Promise<string | undefined> {
    const { sourceId, crawlId, limits } = this.#counts.run
    let settled: string | undefined
    for (const key of this.#startKeys.keys()) {
      const row = await ledger.findRow(sourceId, key)
      if (row?.crawlId !== crawlId || row.state === 'pending' || row.state === 'leased') break
      const isRedirect = row.reason === 'redirect' && row.target !== null && this.#startKeys.size <= limits.redirects
      if (isRedirect) {
        const target = await ledger.findRow(sourceId, row.target ?? '')
        this.noteRedirect(key, target?.url ?? row.target ?? '', row.status === 301 || row.status === 308)
        continue
      }
      if (isRead(row) && row.status !== null) this.notePage(key)
      this.isLocated = true
      settled = key
    }
    return settled
  }

  #move(url: string, isPermanent: boolean): void {
    this.url = url
    this.addressFilter = this.#createAddressFilter()
    this.#hosts.add(new URL(url).host)
    if (isPermanent) this.#urlToStore = url
    if (dropSlash(url) === dropSlash(this.#counts.run.siteUrl)) return
    // Pages at the old address may still exist.
    this.#counts.incomplete ??= `the site has moved from ${this.#counts.run.siteUrl} to ${url}`
  }

  #createAddressFilter(): AddressFilter {
    const { run, startedAt: now } = this.#counts
    const { startUrl, scope } = run
    const { url: siteUrl, spellings } = this
    return createAddressFilter({ startUrl, siteUrl, scope, now, contentTraps: this.#traps, spellings })
  }
}
