import { foldPagination } from '../core/url/page-url.ts'
import { type Discovery, isRead, type LedgerState, type Reason, type Refusal } from '../crawl/ledger.ts'
import { type CrawlPlanner, NO_STEP, type PlannedFind, type PlannedVisit, type PlanStep } from '../crawl/planner.ts'
import type { Clock, PageKind } from '../crawl/ports.ts'
import { type Address, parseAddress } from './address.ts'
import { type CountryNames, openCountryNames } from './country-names.ts'
import { coverageOf, isOpenSlot, isUnderstood, listCovered, waveStateOf } from './hubs.ts'
import { countLinks, type HubFinding, judgeHub, type LinkCounts } from './judge-hub.ts'
import { listPatterns } from './learned-patterns.ts'
import type { PlanPlaces } from './places.ts'
import type { HubVerdict, LearnedPattern, PlanMemory } from './plan-memory.ts'
import { PlanTale } from './plan-tale.ts'
import { DEFAULT_MAX_SEEDS, type PlannerOptions } from './planner-options.ts'
import { SectionBook } from './sections.ts'
import { isUnknownShape, ShapeBook } from './shapes.ts'
import { type FoundHub, type Hub, type Slot, SlotBook, showSlot, writeHubUrl } from './slots.ts'
import { sizeNextWave } from './waves.ts'
import { NAVIGATION, weighAddress } from './weights.ts'

/** What a planner works with. */
export interface PlannerSetup {
  readonly crawlId: string
  readonly sourceId: string
  /** When the crawl began, also one that was interrupted since. */
  readonly startedAt: number
  readonly clock: Pick<Clock, 'now'>
  /** Without it, nothing is remembered from one crawl to the next. */
  readonly memory?: PlanMemory | undefined
  readonly places: PlanPlaces
  /** What an interrupted run of the crawl has visited; asked only where there was one. */
  readonly listVisited?: (() => AsyncIterable<VisitedRow>) | undefined
  /** Follows the further pages and archives of hubs to their ends, before anything else. @default false */
  readonly isHistory?: boolean
  readonly options?: PlannerOptions | undefined
}

/** An address that an interrupted run of the crawl has visited. */
export interface VisitedRow {
  readonly url: string
  readonly discovery: Discovery
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  readonly kind: PageKind
  /** Where it leads. */
  readonly readLinks: () => Promise<readonly string[]>
}

/** Creates what plans one crawl: it learns how the site writes its addresses, supposes hubs, and finds out whether they are there. */
export function createPlanner(setup: PlannerSetup): CrawlPlanner {
  return new SitePlanner(setup)
}

const DAY_MS = 86_400_000
/** How long an address that was not there is not asked for again. */
const FORGET_MS = 30 * DAY_MS
/** Addresses of earlier crawls that are looked through. */
const SAMPLE = 20_000
const MOST_REMEMBERED = 50_000
/** Links of one page that are looked at, and how many of them lead to hubs on a list of hubs. */
const MOST_LINKS = 400
const LISTED_HUBS = 5
/** Shapes that nobody can make anything of and that are told of. */
const MOST_UNKNOWN = 20

/** What a verdict on a hub is based on. */
interface SeenPage {
  readonly status: number | null
  readonly title: string | null
  readonly counts: LinkCounts
}

/** Why an address is tried: it was a hub before, a pattern implies it, or a section ought to begin there. */
type SeedKind = 'remembered' | 'countries' | 'sections'

class SitePlanner implements CrawlPlanner {
  readonly #setup: PlannerSetup
  readonly #options: PlannerOptions
  readonly #names: CountryNames
  readonly #slots: SlotBook
  readonly #shapes = new ShapeBook()
  readonly #tale: PlanTale
  #sections = new SectionBook(0)
  #host = ''
  #startUrl = ''
  /** Where the home page is, as links are found on it. */
  #home: string | null = null
  /** Whether this is none of the hosts that are planned for. */
  #isOff = false
  /** Whether the start and the lists have been looked at. */
  #isPlanned = false
  /** Whether no wave comes any more. */
  #isPrepared = false
  /** Whether an interrupted run has left something in the frontier that nobody knows any more. */
  #isBlind = false
  /** Slots that are of countries, as of a revision of all slots. */
  #hubSlots: readonly Slot[] = []
  #hubSlotSet: ReadonlySet<Slot> = new Set()
  #revision = -1
  /** What earlier crawls, or an interrupted run of this one, found out. */
  readonly #remembered = new Map<string, HubVerdict>()
  /** Seeds that got no answer yet. */
  readonly #awaited = new Set<string>()
  #seededCount = 0
  readonly #seededKinds: Record<SeedKind, number> = {
    remembered: 0,
    countries: 0,
    sections: 0,
  }
  readonly #seeded = new Set<string>()
  /** Addresses to find one's way by that are in the frontier. */
  readonly #ahead = new Set<string>()
  readonly #visited = new Set<string>()
  /** What was found at a key, for those who lead to it. */
  readonly #findings = new Map<string, { readonly url: string; readonly finding: HubFinding }>()
  /** Hubs that lead to a key where nobody has been yet. */
  readonly #movedTo = new Map<string, FoundHub[]>()
  /** Hubs that were supposed and are not there, by addresses: the site may name them yet. */
  readonly #missed = new Map<string, FoundHub>()
  /** Pages taken from what each hub lists. */
  readonly #taken = new Map<string, number>()
  /** Further pages and archives that were followed. */
  readonly #chased = new Set<string>()
  readonly #verdicts = new Map<string, HubVerdict>()
  /** What was told with the last step, and is to be kept with the next. */
  #unkept: readonly HubVerdict[] = []

  constructor(setup: PlannerSetup) {
    this.#setup = setup
    this.#options = setup.options ?? {}
    this.#names = openCountryNames(setup.places)
    this.#slots = new SlotBook(this.#names, setup.places)
    this.#tale = new PlanTale(this.#options.verbosity)
  }

  async begin(site: {
    readonly startUrl: string
    readonly siteUrl: string
    readonly isResumed: boolean
  }): Promise<PlanStep> {
    const { memory, crawlId, sourceId } = this.#setup
    const start = parseAddress(site.siteUrl)
    this.#startUrl = site.startUrl
    this.#home = site.siteUrl
    this.#host = start?.host ?? ''
    const isFile = start?.hasSlash === false
    this.#sections = new SectionBook(Math.max(0, (start?.segments.length ?? 0) - Number(isFile)))
    const { targetHosts = [] } = this.#options
    if (targetHosts.length > 0 && !targetHosts.some((end) => this.#host.split(':')[0]?.endsWith(end))) {
      this.#isOff = true
      const message = `${this.#host} is none of the hosts that are planned for: it is crawled without a plan`
      this.#tale.problem('planner-skipped-host', this.#host, message, { targetHosts })
      return this.#step([])
    }
    if (memory === undefined) return NO_STEP
    if (site.isResumed) this.#tale.resume(await memory.readReached(crawlId))
    for (const verdict of await memory.readVerdicts(this.#host)) this.#recall(verdict, site.isResumed)
    for (const { url, isPage } of await memory.sampleAddresses(sourceId, SAMPLE)) if (isPage) this.#learn(url)
    if (site.isResumed) await this.#takeUp()
    if (this.#remembered.size > 0) this.#tale.say(1, `${this.#remembered.size} hubs are known from before`)
    this.#isBlind = site.isResumed
    return this.#step(this.#tale.hasReached('patterns-learned') ? this.#plan() : [])
  }

  weigh(find: PlannedFind): number {
    const address = this.#isOff ? undefined : parseAddress(find.url)
    if (address === undefined) return 0
    // What lists name was looked at when they were read.
    const found = isList(find.discovery) ? this.#slots.find(address) : this.#note(address)
    const weight = weighAddress({
      address,
      shape: this.#shapes.plan(address),
      place: this.#placeAmong(found),
      isSectionFront: this.#sections.isFront(address),
      isHistory: this.#setup.isHistory === true,
      isOnHome: find.foundOn === this.#home,
    })
    const isAhead = weight <= NAVIGATION && this.#ahead.size < MOST_REMEMBERED
    // What was visited may be found once more by a shorter way, or be a guess that the site names afterwards.
    if (isAhead && !this.#visited.has(find.url)) this.#ahead.add(find.url)
    return weight
  }

  refuse(find: PlannedFind): Refusal | null {
    const { hubMaxPages, hubMaxDays } = this.#options
    if (this.#isOff || (hubMaxDays === undefined && hubMaxPages === undefined)) return null
    const address = parseAddress(find.url)
    if (address === undefined) return null
    if (hubMaxDays !== undefined && isOlderThan(address, this.#setup.clock.now() - hubMaxDays * DAY_MS)) {
      return { reason: 'hub-age', pattern: `${hubMaxDays} days`, target: null }
    }
    if (hubMaxPages === undefined || find.foundOn === null || find.discovery !== 'link') return null
    const hub = this.#hubOf(find.foundOn)
    if (hub === undefined || this.#placeOf(address) !== 'none' || this.#sections.isFront(address)) return null
    const taken = this.#taken.get(hub) ?? 0
    if (taken >= hubMaxPages) return { reason: 'hub-cap', pattern: `${hubMaxPages} of ${hub}`, target: null }
    this.#taken.set(hub, taken + 1)
    return null
  }

  noteListed(urls: readonly string[]): void {
    if (this.#isOff) return
    for (const url of urls) {
      const address = parseAddress(url)
      if (address !== undefined) this.#note(address)
    }
  }

  noteSeeded(waiting: readonly string[], left: readonly string[]): PlanStep['events'] {
    const seeds = waiting.filter((url) => !this.#chased.has(url))
    for (const url of seeds) this.#awaited.add(url)
    for (const url of left) this.#leave(url)
    if (seeds.length > 0) {
      const { remembered, countries, sections } = this.#seededKinds
      const message = `${seeds.length} addresses are to be tried first`
      const details = { count: seeds.length, remembered, countries, sections }
      this.#tale.milestone('hubs-seeded', this.#startUrl, message, details)
    }
    return this.#tale.take()
  }

  async noteVisit(visit: PlannedVisit): Promise<PlanStep> {
    const address = this.#isOff ? undefined : parseAddress(visit.url)
    if (this.#visited.size >= MOST_REMEMBERED) this.#visited.clear()
    this.#visited.add(visit.url)
    this.#ahead.delete(visit.url)
    this.#awaited.delete(visit.url)
    if (address === undefined) return NO_STEP
    const isHome = !this.#isPlanned && visit.depth === 0 && isRead(visit) && isStart(visit.discovery)
    if (isHome) this.#arrive(address, visit.links)
    const counts = countLinks(visit.links, this.#host)
    const finding = judgeHub(visit, counts.nav + counts.articles)
    this.#shapes.read(address, finding.type === 'missing' ? null : visit.kind)
    this.#noteHub(address, visit, finding, counts)
    this.#noteNamed(visit.links)
    const seeds = isHome ? this.#plan() : this.#isPlanned ? this.#goOn() : []
    return this.#step([...seeds, ...this.#chase(visit)])
  }

  async idle(): Promise<PlanStep> {
    if (this.#isOff) return NO_STEP
    // Whatever has not answered by now is not going to.
    this.#isBlind = false
    this.#ahead.clear()
    this.#awaited.clear()
    for (const { hubs } of this.#hubSlots) {
      for (const hub of hubs.values()) if (hub.isSeeded) hub.state ??= 'open'
    }
    return this.#step(this.#isPlanned ? this.#goOn() : this.#plan())
  }

  async end(isComplete: boolean): Promise<PlanStep> {
    if (this.#isOff) return NO_STEP
    if (isComplete && this.#isPlanned) {
      this.#reportSupposed()
      this.#reportUnknown()
    }
    if (this.#isPlanned) await this.#keepPatterns()
    const step = await this.#step([])
    await this.#keep()
    return step
  }

  /** Takes an address in that the site names. */
  #note(address: Address): readonly FoundHub[] {
    if (address.host !== this.#host) return []
    this.#sections.note(address)
    this.#shapes.note(address)
    return this.#slots.note(address, 'listed')
  }

  /** Takes an address in that was there before. */
  #learn(url: string): readonly FoundHub[] {
    const address = parseAddress(url)
    if (address === undefined || address.host !== this.#host) return []
    this.#sections.note(address)
    this.#shapes.note(address)
    return this.#slots.note(address, 'earlier')
  }

  #recall(verdict: HubVerdict, isResumed: boolean): void {
    const { clock, startedAt } = this.#setup
    const { url, state, status, origin, checkedAt } = verdict
    const isOfThisCrawl = isResumed && checkedAt >= startedAt
    if (state !== 'confirmed' && clock.now() - checkedAt > FORGET_MS) return
    this.#remembered.set(url, verdict)
    for (const { slot, hub } of this.#learn(url)) {
      if (showSlot(slot, 'country') !== verdict.pattern && !isOfThisCrawl && origin === 'listed') continue
      hub.isGuess ||= origin === 'guessed'
      // What was supposed in vain is not asked for again; what was there, or was named, is looked at once more.
      if (isOfThisCrawl) {
        if (origin === 'guessed') this.#seeded.add(url)
        hub.origin = origin
        hub.state = state
        hub.status = status
        hub.isSeeded = origin === 'guessed'
        hub.isReported = state === 'missing' && origin === 'listed'
        if (state === 'missing' && origin === 'guessed') this.#missed.set(url, { slot, hub })
      } else if (state === 'missing' && origin === 'guessed') {
        hub.state = state
        hub.status = status
        hub.isSeeded = true
      }
    }
  }

  /** Makes up for what an interrupted run has visited without having come to keep what that told. */
  async #takeUp(): Promise<void> {
    const open: { readonly one: FoundHub; readonly row: VisitedRow }[] = []
    for await (const row of this.#setup.listVisited?.() ?? []) {
      const address = parseAddress(row.url)
      if (address === undefined || address.host !== this.#host) continue
      const naming = row.discovery === 'planner' ? 'guessed' : 'listed'
      for (const one of this.#slots.note(address, naming)) {
        const isNamedSince = naming === 'listed' && this.#missed.delete(row.url)
        if (one.hub.state === undefined || isNamedSince) open.push({ one, row })
      }
    }
    this.#refreshSlots()
    for (const { one, row } of open) {
      if (row.discovery === 'planner') {
        one.hub.isSeeded = true
        this.#seeded.add(row.url)
      }
      const counts = countLinks(await row.readLinks(), this.#host)
      const finding = judgeHub({ ...row, target: null }, counts.nav + counts.articles)
      this.#decide(one, finding, { status: row.status, title: null, counts })
    }
  }

  /** What an address is, as far as countries in it tell. */
  #placeOf(address: Address): 'hub' | 'maybe' | 'none' {
    return address.host === this.#host ? this.#placeAmong(this.#slots.find(address)) : 'none'
  }

  #placeAmong(found: readonly FoundHub[]): 'hub' | 'maybe' | 'none' {
    if (found.length === 0) return 'none'
    return found.some(({ slot }) => this.#hubSlotSet.has(slot)) ? 'hub' : 'maybe'
  }

  /** The hub that a page belongs to, its further pages included; undefined where it is none. */
  #hubOf(url: string): string | undefined {
    const first = foldPagination(url)
    const address = parseAddress(first)
    if (address === undefined || address.segments.length === 0) return undefined
    if (first !== url || address.kind === 'nav' || address.isTag) return first
    return this.#placeOf(address) !== 'none' || this.#sections.isFront(address) ? first : undefined
  }

  /** Takes note of the home page: the site is where it is, and its navigation is what it leads to. */
  #arrive(address: Address, links: readonly string[]): void {
    this.#host = address.host
    for (const link of links) {
      const linked = parseAddress(link)
      if (linked !== undefined) this.#sections.noteHome(linked)
    }
  }

  /** Plans: tells what was learnt from the start and the lists, and begins. */
  #plan(): string[] {
    this.#isPlanned = true
    this.#refreshSlots()
    const sections = this.#sections.list().map(({ name, count }) => ({ name, count }))
    const patterns = this.#listPatterns()
    const message = `${sections.length} sections and ${patterns.length} patterns of addresses are known`
    this.#tale.milestone('patterns-learned', this.#startUrl, message, { sections, patterns })
    for (const { pattern, role, seen, confidence } of patterns) {
      this.#tale.say(2, `${pattern}: ${role}, ${seen} seen, confidence ${confidence}`)
    }
    return this.#goOn()
  }

  /** Goes on with the plan after something has become known. */
  #goOn(): string[] {
    this.#refreshSlots()
    const seeds = this.#isPrepared ? [] : this.#listSeeds()
    if (seeds.length === 0) this.#checkPrepared()
    if (this.#isPrepared) this.#checkUnderstood()
    return seeds
  }

  #refreshSlots(): void {
    if (this.#slots.revision === this.#revision) return
    this.#revision = this.#slots.revision
    const before = this.#hubSlotSet
    this.#hubSlots = this.#slots.listCountrySlots()
    this.#hubSlotSet = new Set(this.#hubSlots)
    for (const slot of this.#hubSlots) {
      if (before.has(slot)) continue
      this.#tale.say(2, `${showSlot(slot, 'country')} has ${slot.countries.size} countries in it`)
      for (const hub of slot.hubs.values()) {
        if (hub.draft !== undefined) this.#keepVerdict({ slot, hub }, hub.draft)
      }
    }
  }

  /** What is to be tried next: hubs of earlier crawls, then what patterns imply, then fronts of sections. */
  #listSeeds(): string[] {
    const seeds: string[] = []
    const add = (url: string, kind: SeedKind): boolean => {
      if (this.#seededCount >= (this.#options.maxSeeds ?? DEFAULT_MAX_SEEDS)) return false
      if (this.#seeded.has(url)) return true
      this.#seeded.add(url)
      this.#seededCount++
      this.#seededKinds[kind]++
      seeds.push(url)
      return true
    }
    for (const slot of this.#hubSlots) {
      for (const hub of slot.hubs.values()) {
        if (hub.state !== undefined || hub.isSeeded) continue
        // What the site names as well is only visited earlier.
        if (hub.origin === 'guessed') hub.isSeeded = add(hub.url, 'remembered')
        else if (this.#remembered.get(hub.url)?.state === 'confirmed') add(hub.url, 'remembered')
      }
    }
    for (const slot of this.#hubSlots) {
      for (const hub of this.#listWave(slot)) {
        hub.isSeeded = add(hub.url, 'countries')
        if (!hub.isSeeded) slot.hubs.delete(hub.text.toLowerCase())
      }
    }
    if (this.#tale.hasReached('hubs-seeded')) return seeds
    for (const url of this.#sections.guessFronts(new URL(this.#startUrl).origin)) add(url, 'sections')
    return seeds
  }

  /** The hubs that a slot implies and that are to be tried now. */
  #listWave(slot: Slot): Hub[] {
    const missing = this.#names.all.filter(({ id }) => !slot.countries.has(id))
    const total = this.#names.all.length
    const state = waveStateOf(slot, total, missing.length)
    const size = sizeNextWave(state)
    if (size === 0) return []
    slot.lastWave = size
    const spelling = this.#slots.learnSpelling(slot)
    const { tried, confirmed } = state
    const shown = showSlot(slot, 'country')
    this.#tale.say(2, `${shown}: ${confirmed} of ${tried} guesses were right; ${size} more, spelt as ${spelling.name}`)
    return missing.slice(0, size).flatMap((country) => {
      const url = writeHubUrl(slot, spelling.write(country))
      const address = parseAddress(url)
      const found = address === undefined ? [] : this.#slots.note(address, 'guessed')
      // A word that means another country, or none, is no guess.
      return found.flatMap(({ slot: other, hub }) => (other === slot && hub.country.id === country.id ? [hub] : []))
    })
  }

  /** Sees what became of an address where a hub is or could be. */
  #noteHub(address: Address, visit: PlannedVisit, finding: HubFinding, counts: LinkCounts): void {
    if (this.#findings.size >= MOST_REMEMBERED) this.#findings.clear()
    this.#findings.set(visit.key, { url: visit.url, finding })
    const seen = { status: visit.status, title: visit.page?.title ?? null, counts }
    const isGuess = visit.discovery === 'planner'
    for (const one of address.host === this.#host ? this.#slots.meet(address, isGuess ? 'guessed' : 'listed') : []) {
      if (!isGuess) one.hub.origin = 'listed'
      this.#decide(one, finding, seen)
    }
    const moved = this.#movedTo.get(visit.key) ?? []
    this.#movedTo.delete(visit.key)
    for (const one of moved) this.#decide(one, this.#follow(one.hub, visit.url, finding), seen)
  }

  #decide(one: FoundHub, finding: HubFinding, seen: SeenPage): void {
    const { slot, hub } = one
    if (finding.type === 'moved') {
      const known = this.#findings.get(finding.target)
      if (known !== undefined && known.finding.type !== 'moved') {
        this.#decide(one, this.#follow(hub, known.url, known.finding), seen)
      } else this.#movedTo.set(finding.target, [...(this.#movedTo.get(finding.target) ?? []), one])
      return
    }
    hub.status = seen.status
    hub.state = finding.type
    if (finding.type === 'open') return
    this.#tale.say(3, `${hub.url}: ${finding.type} (${hub.origin}, ${hub.country.name})`)
    const { nav: navLinks, articles: articleLinks } = seen.counts
    const { url, origin, country, status } = hub
    const verdict: HubVerdict = {
      ...{ url, origin, status, navLinks, articleLinks },
      pattern: showSlot(slot, 'country'),
      placeId: country.id,
      placeSlug: hub.text.toLowerCase(),
      placeKind: 'country',
      state: finding.type,
      title: seen.title,
      checkedAt: this.#setup.clock.now(),
    }
    if (this.#hubSlotSet.has(slot)) this.#keepVerdict(one, verdict)
    else hub.draft = verdict
  }

  #keepVerdict(one: FoundHub, verdict: HubVerdict): void {
    one.hub.draft = undefined
    this.#verdicts.set(verdict.url, verdict)
    if (verdict.state !== 'missing') return
    if (one.hub.origin === 'listed') this.#reportListed(one)
    else this.#missed.set(verdict.url, one)
  }

  /** What an address is that leads to another: to a page above it, or to the home page, a site leads what it does not have. */
  #follow(hub: Hub, url: string, finding: HubFinding): HubFinding {
    if (finding.type !== 'confirmed') return finding
    const to = parseAddress(url)
    const from = parseAddress(hub.url)
    const isAbove = (to?.segments.length ?? 0) < (from?.segments.length ?? 0)
    return isAbove ? { type: 'missing' } : finding
  }

  /** Sees whether the site names what was supposed in vain. */
  #noteNamed(links: readonly string[]): void {
    if (this.#missed.size === 0) return
    for (const link of links) {
      const one = this.#missed.get(link)
      if (one === undefined) continue
      this.#missed.delete(link)
      one.hub.origin = 'listed'
      const verdict = this.#verdicts.get(link) ?? this.#remembered.get(link)
      if (verdict !== undefined) this.#verdicts.set(link, { ...verdict, origin: 'listed' })
      this.#reportListed(one)
    }
  }

  #leave(url: string): void {
    this.#awaited.delete(url)
    this.#ahead.delete(url)
    const address = parseAddress(url)
    const verdict = this.#remembered.get(url)
    for (const { hub } of address === undefined ? [] : this.#slots.find(address)) {
      if (hub.state !== undefined || hub.url !== url) continue
      hub.state = verdict?.state ?? 'open'
      hub.status = verdict?.status ?? null
    }
  }

  /** Tells when all seeds are there, and when each of them was answered. */
  #checkPrepared(): void {
    if (!this.#isPrepared && !this.#isBlind && this.#ahead.size === 0 && !this.#hasGuessesAhead()) {
      this.#isPrepared = true
      if (this.#seeded.size === 0) this.#reportUnseeded()
      else {
        const message = `all ${this.#seeded.size} addresses of the plan are in the frontier`
        this.#tale.milestone('seeds-prepared', this.#startUrl, message, { count: this.#seeded.size })
      }
    }
    if (this.#isPrepared && this.#seeded.size > 0 && this.#awaited.size === 0) {
      const message = `each of the ${this.#seeded.size} addresses of the plan has answered`
      this.#tale.milestone('cache-primed', this.#startUrl, message, { count: this.#seeded.size })
    }
  }

  /** Whether a wave is on its way that another may follow. */
  #hasGuessesAhead(): boolean {
    const total = this.#names.all.length
    return this.#hubSlots.some((slot) => {
      const { waiting, left } = waveStateOf(slot, total, total - slot.countries.size)
      return waiting > 0 && left > 0
    })
  }

  #reportUnseeded(): void {
    const isListed = this.#hubSlots.length > 0
    if (isListed) return
    const message = 'nothing that is known of the site implies hubs that it does not name itself'
    this.#tale.problem('no-hubs-seeded', this.#startUrl, message, {})
  }

  #checkUnderstood(): void {
    if (this.#tale.hasReached('full-understanding')) return
    const { all } = this.#names
    const coverage = coverageOf(this.#hubSlots, all.length)
    const { slot, covered } = coverage
    if (slot === undefined || !isUnderstood(coverage, all.length)) return
    const missing = all.filter(({ id }) => !covered.has(id)).map(({ name }) => name)
    this.#tale.milestone(
      'full-understanding',
      this.#startUrl,
      `${covered.size} of ${all.length} countries have a hub`,
      {
        countriesCovered: covered.size,
        missing: missing.length,
        missingList: missing,
        pattern: showSlot(slot, 'country'),
      },
    )
  }

  #reportListed({ slot, hub }: FoundHub): void {
    if (!this.#hubSlotSet.has(slot)) return
    this.#reportMissing(slot, hub, `the site names ${hub.url}, and it is not there`)
  }

  /** Tells what an open pattern implies and is not there; and what was named before anybody knew that it is of a pattern. */
  #reportSupposed(): void {
    for (const slot of this.#hubSlots) {
      const covered = listCovered(slot)
      const isWorldwide = isOpenSlot(slot, this.#names.all.length)
      const told = new Set<number>()
      for (const hub of slot.hubs.values()) {
        if (hub.state !== 'missing') continue
        if (hub.origin === 'listed') this.#reportListed({ slot, hub })
        else if (isWorldwide && !covered.has(hub.country.id) && !told.has(hub.country.id)) {
          this.#reportMissing(slot, hub, `${hub.url} ought to be there like those of other countries, and is not`)
        }
        told.add(hub.country.id)
      }
    }
  }

  #reportMissing(slot: Slot, hub: Hub, message: string): void {
    if (hub.isReported) return
    hub.isReported = true
    const { url, text, country, origin, status } = hub
    this.#tale.problem('missing-hub', url, message, {
      slug: text.toLowerCase(),
      place: country.name,
      pattern: showSlot(slot, 'country'),
      origin,
      status,
    })
  }

  #reportUnknown(): void {
    for (const shape of this.#shapes.list().filter(isUnknownShape).slice(0, MOST_UNKNOWN)) {
      const { pattern, seen, examples } = shape
      const message = `${seen} addresses look like ${pattern}, and nothing is known about them`
      this.#tale.problem('unknown-pattern', pattern, message, { count: seen, examples })
    }
  }

  /**
   * Further pages of what lists hubs, and in a crawl of the history those of every hub, and archives: they are visited first, and
   * whatever lies between them and the start.
   */
  #chase(visit: PlannedVisit): string[] {
    if (visit.kind === 'article' || this.#chased.size >= MOST_REMEMBERED) return []
    const isHistory = this.#setup.isHistory === true && (visit.kind === 'hub' || this.#hubOf(visit.url) !== undefined)
    if (!isHistory && !this.#listsHubs(visit)) return []
    const own = foldPagination(visit.url)
    const links = visit.links.filter((link) => {
      if (this.#chased.has(link) || link === visit.url) return false
      const address = parseAddress(link)
      if (address === undefined || address.host !== this.#host) return false
      const isArchive = isHistory && address.date !== null && address.kind === 'nav'
      return isArchive || (address.isPagination && foldPagination(link) === own)
    })
    for (const link of links) {
      this.#chased.add(link)
      this.#ahead.add(link)
    }
    return links
  }

  /** Whether a page leads to so many hubs that it is a list of them. */
  #listsHubs({ links }: PlannedVisit): boolean {
    if (this.#hubSlots.length === 0) return false
    let count = 0
    for (const link of links.slice(0, MOST_LINKS)) {
      const address = parseAddress(link)
      if (address !== undefined && this.#placeOf(address) === 'hub' && ++count >= LISTED_HUBS) return true
    }
    return false
  }

  #listPatterns(): LearnedPattern[] {
    return listPatterns({
      hubSlots: this.#hubSlots,
      placeSlots: this.#slots.listPlaceSlots(),
      sections: this.#sections.list(),
      shapes: this.#shapes.list(),
    })
  }

  async #keepPatterns(): Promise<void> {
    const { memory, clock } = this.#setup
    const patterns = this.#listPatterns()
    if (patterns.length > 0) await memory?.writePatterns(this.#host, patterns, clock.now())
  }

  /**
   * Says what is to be done and told. What was found out is kept one step later, when it has been told: a crawl that is interrupted in
   * between finds it in the ledger and tells it, where the other way round nobody would ever be told.
   */
  async #step(seeds: readonly string[]): Promise<PlanStep> {
    await this.#keep()
    this.#unkept = [...this.#verdicts.values()]
    this.#verdicts.clear()
    for (const verdict of this.#unkept) this.#remembered.set(verdict.url, verdict)
    return { seeds, events: this.#tale.take() }
  }

  async #keep(): Promise<void> {
    const { memory, crawlId } = this.#setup
    const verdicts = this.#unkept
    this.#unkept = []
    if (verdicts.length > 0) await memory?.writeVerdicts(this.#host, verdicts)
    const reached = this.#tale.takeTold()
    if (reached.length > 0) await memory?.writeReached(crawlId, reached)
  }
}

function isList(discovery: Discovery): boolean {
  return discovery === 'sitemap' || discovery === 'llms-txt'
}

/** Whether something found so can be the home page. */
function isStart(discovery: Discovery): boolean {
  return discovery === 'manual' || discovery === 'redirect'
}

/** Whether an address has a date in it that is before a moment; of a month, its end counts. */
function isOlderThan({ date }: Address, moment: number): boolean {
  if (date === null) return false
  const at = Date.parse(date)
  return Number.isFinite(at) && at + (date.length === 7 ? 31 : 1) * DAY_MS <= moment
}
