import type { PlannedVisit } from '../crawl/planner.ts'
import { type Address, parseAddress } from './address.ts'
import { countLinks, type HubFinding, judgeHub, type LinkCounts } from './judge-hub.ts'
import { LookAlikes } from './look-alikes.ts'
import type { HubVerdict } from './plan-memory.ts'
import type { PlanNotes } from './plan-notes.ts'
import type { PlanTale } from './plan-tale.ts'
import { Probes } from './probes.ts'
import type { SiteBook } from './site-book.ts'
import { type FoundHub, type Hub, type Slot, showSlot } from './slot.ts'

/** Addresses of which it is remembered what was there. */
const MOST_REMEMBERED = 50_000

/** What a verdict on a hub is based on. */
export interface SeenPage {
  readonly status: number | null
  readonly title: string | null
  readonly links: readonly string[]
  readonly counts: LinkCounts
}

/** What judging hubs works with. */
export interface VerdictSetup {
  readonly site: SiteBook
  readonly notes: PlanNotes
  readonly tale: PlanTale
  readonly now: () => number
}

/** Finds out what became of hubs that were supposed, or that the site names. */
export class VerdictBook {
  readonly #setup: VerdictSetup
  readonly #lookAlikes = new LookAlikes()
  readonly #probes = new Probes()
  /** What was found at a key, for those who lead to it. */
  readonly #findings = new Map<
    string,
    { readonly url: string; readonly finding: HubFinding; readonly seen: SeenPage }
  >()
  /** Hubs that lead to a key where nobody has been yet. */
  readonly #movedTo = new Map<string, FoundHub[]>()
  /** Hubs that were supposed and are not there, by addresses: the site may name them yet. */
  readonly #missed = new Map<string, FoundHub>()
  /** What earlier crawls, or an interrupted run of this one, found out, and what this one has. */
  readonly #known = new Map<string, HubVerdict>()
  /** What is to be kept. */
  readonly #fresh = new Map<string, HubVerdict>()

  constructor(setup: VerdictSetup) {
    this.#setup = setup
  }

  /** How many hubs are known from before. */
  get size(): number {
    return this.#known.size
  }

  wasConfirmed(url: string): boolean {
    return this.#known.get(url)?.state === 'confirmed'
  }

  /** What is to be kept, once. */
  take(): readonly HubVerdict[] {
    const verdicts = [...this.#fresh.values()]
    this.#fresh.clear()
    for (const verdict of verdicts) this.#known.set(verdict.url, verdict)
    return verdicts
  }

  /** Addresses that are to be asked for to see what a site answers where it has nothing. */
  takeProbes(): readonly string[] {
    return this.#probes.take()
  }

  /** Takes in what became of an address before; of an interrupted run of this crawl it is what became of it now. */
  recall(verdict: HubVerdict, isOfThisCrawl: boolean): void {
    const { site } = this.#setup
    const { url, state, status, origin } = verdict
    this.#known.set(url, verdict)
    const address = parseAddress(url)
    for (const one of address === undefined ? [] : site.note(address, 'earlier')) {
      const { slot, hub } = one
      if (showSlot(slot) !== verdict.pattern && !isOfThisCrawl && origin === 'listed') continue
      hub.isGuess ||= origin === 'guessed'
      // What was supposed in vain is not asked for again; what was there, or was named, is looked at once more.
      if (isOfThisCrawl) {
        Object.assign(hub, { origin, state, status, isSeeded: origin === 'guessed' })
        hub.isReported = state === 'missing' && origin === 'listed'
        if (state === 'missing' && origin === 'guessed') this.#missed.set(url, one)
      } else if (state !== 'confirmed' && origin === 'guessed') {
        Object.assign(hub, { state, status, isSeeded: true })
      }
    }
  }

  /** Whether an address of an interrupted run has to be judged, since what it told was not kept, or it was named since. */
  needsVerdict({ hub }: FoundHub, isNamed: boolean): boolean {
    const isNamedSince = isNamed && this.#missed.delete(hub.url)
    return hub.state === undefined || isNamedSince
  }

  /** Takes note of the home page. */
  noteHome({ links }: PlannedVisit): void {
    this.#lookAlikes.noteHome(links)
  }

  /** Sees what became of an address where a hub is or could be. Answers what was found. */
  note(address: Address, visit: PlannedVisit): HubFinding {
    const { site } = this.#setup
    const { links, status } = visit
    const counts = countLinks(links, site.host)
    const finding = judgeHub(visit, counts.nav + counts.articles)
    const seen = { status, title: visit.page?.title ?? null, links, counts }
    if (this.#findings.size >= MOST_REMEMBERED) this.#findings.clear()
    // Whoever leads there is told apart by that: what it leads to in turn is not kept.
    this.#findings.set(visit.key, { url: visit.url, finding, seen: { ...seen, links: [visit.url] } })
    const isGuess = visit.discovery === 'planner'
    const probe = this.#probes.find(visit.url)
    if (probe !== undefined) this.#decide(probe, finding, seen)
    else if (address.host === site.host) {
      for (const one of site.slots.meet(address, isGuess ? 'guessed' : 'listed')) {
        if (!isGuess) one.hub.origin = 'listed'
        this.#decide(one, finding, seen)
      }
    }
    const moved = this.#movedTo.get(visit.key) ?? []
    this.#movedTo.delete(visit.key)
    for (const one of moved) {
      this.#decide(one, this.#follow(one.hub, visit.url, finding), { ...seen, links: [visit.url] })
    }
    this.#noteNamed(links)
    return finding
  }

  /** Judges a hub by what an interrupted run left of its visit. */
  judge(
    one: FoundHub,
    row: Pick<PlannedVisit, 'state' | 'reason' | 'kind' | 'status'>,
    links: readonly string[],
  ): void {
    const counts = countLinks(links, this.#setup.site.host)
    const finding = judgeHub({ ...row, target: null }, counts.nav + counts.articles)
    this.#decide(one, finding, { status: row.status, title: null, links, counts })
  }

  /** Says that an address is not going to be visited. */
  leave(url: string): void {
    const address = parseAddress(url)
    const verdict = this.#known.get(url)
    const probe = this.#probes.find(url)
    if (probe !== undefined) this.#settleProbe(probe.slot, 'open')
    for (const { hub } of address === undefined ? [] : this.#setup.site.slots.find(address)) {
      if (hub.state !== undefined || hub.url !== url) continue
      hub.state = verdict?.state ?? 'open'
      hub.status = verdict?.status ?? null
    }
  }

  /** Keeps what was found out about a slot before anybody knew that it is one of places. */
  keepDrafts(slot: Slot): void {
    for (const hub of slot.hubs.values()) if (hub.draft !== undefined) this.#keep({ slot, hub }, hub.draft)
  }

  #decide(one: FoundHub, finding: HubFinding, seen: SeenPage): void {
    const { slot, hub } = one
    const isAway = finding.type === 'moved' && parseAddress(finding.target)?.host !== this.#setup.site.host
    if (finding.type === 'moved' && !isAway) {
      const known = this.#findings.get(finding.target)
      if (known !== undefined && known.finding.type !== 'moved') {
        this.#decide(one, this.#follow(hub, known.url, known.finding), { ...known.seen, status: seen.status })
      } else this.#movedTo.set(finding.target, [...(this.#movedTo.get(finding.target) ?? []), one])
    } else if (this.#probes.find(hub.url) === one)
      this.#settleProbe(slot, finding.type === 'moved' ? 'open' : finding.type)
    else if (finding.type === 'open' || finding.type === 'moved')
      Object.assign(hub, { status: seen.status, state: 'open' })
    else this.#conclude(one, finding.type, seen)
  }

  /** Concludes, unless it is a guess that looks like another one or like the home page: then it depends on what the site answers where it has nothing. */
  #conclude(one: FoundHub, state: HubVerdict['state'], seen: SeenPage): void {
    const { slot, hub } = one
    const isGuess = hub.origin === 'guessed' && state !== 'missing' && seen.links.length > 0
    const first = isGuess ? this.#lookAlikes.note(one, seen.links) : undefined
    if (first === undefined || this.#probes.foundIn(slot) === 'missing') this.#enter(one, state, seen)
    else {
      const doubtful = [{ one, state, seen }]
      if (first !== 'home' && first.slot === slot && first.hub.state === 'confirmed') {
        doubtful.push({ one: first, state: 'confirmed', seen })
        first.hub.state = undefined
      }
      hub.state = undefined
      this.#probes.doubt(slot, doubtful)
      const found = this.#probes.foundIn(slot)
      if (found !== undefined) this.#settleProbe(slot, found)
    }
  }

  /** A site that has something for a place that does not exist has nothing for those that look the same. */
  #settleProbe(slot: Slot, found: HubVerdict['state'] | 'open'): void {
    for (const { one, state, seen } of this.#probes.settle(slot, found)) {
      if (found === 'open') Object.assign(one.hub, { status: seen.status, state: 'open' })
      else this.#enter(one, found === 'missing' ? state : 'rejected', seen)
    }
  }

  #enter(one: FoundHub, state: HubVerdict['state'], seen: SeenPage): void {
    const { slot, hub } = one
    const { site, tale, now } = this.#setup
    hub.status = seen.status
    hub.state = state
    const { url, origin, place, status } = hub
    tale.say(3, `${url}: ${state} (${origin}, ${place.name})`)
    const { nav: navLinks, articles: articleLinks } = seen.counts
    const verdict: HubVerdict = {
      ...{ url, origin, status, navLinks, articleLinks, state },
      pattern: showSlot(slot),
      placeId: place.id,
      placeSlug: hub.text.toLowerCase(),
      placeKind: slot.kind,
      title: seen.title,
      checkedAt: now(),
    }
    // What was supposed is remembered, whatever its slot turns out to be.
    if (site.isHubSlot(slot) || hub.isSeeded) this.#keep(one, verdict)
    else hub.draft = verdict
  }

  #keep(one: FoundHub, verdict: HubVerdict): void {
    one.hub.draft = undefined
    this.#fresh.set(verdict.url, verdict)
    if (verdict.state !== 'missing') return
    if (one.hub.origin === 'listed') this.#setup.notes.reportListed(one)
    else this.#missed.set(verdict.url, one)
  }

  /**
   * What an address is that leads to another: to a page above it, to the home page, or to the hub of another place, a site leads what
   * it does not have.
   */
  #follow(hub: Hub, url: string, finding: HubFinding): HubFinding {
    if (finding.type !== 'confirmed') return finding
    const { site } = this.#setup
    const to = parseAddress(url)
    const from = parseAddress(hub.url)
    const isAbove = (to?.segments.length ?? 0) < (from?.segments.length ?? 0)
    const others = to === undefined ? [] : site.slots.find(to).filter(({ slot }) => site.isHubSlot(slot))
    const isOther = others.length > 0 && others.every(({ hub: { place } }) => place.id !== hub.place.id)
    return isAbove || isOther ? { type: 'missing' } : finding
  }

  /** Sees whether the site names what was supposed in vain. */
  #noteNamed(links: readonly string[]): void {
    if (this.#missed.size === 0) return
    for (const link of links) {
      const one = this.#missed.get(link)
      if (one === undefined) continue
      this.#missed.delete(link)
      one.hub.origin = 'listed'
      const verdict = this.#fresh.get(link) ?? this.#known.get(link)
      if (verdict !== undefined) this.#fresh.set(link, { ...verdict, origin: 'listed' })
      this.#setup.notes.reportListed(one)
    }
  }
}
