import type { CompletedVisit } from '../../crawl/planning/planner.ts'
import type { HubVerdict } from '../../library/ports/findings.ts'
import { type Address, parseAddress } from './address.ts'
import { countLinks, type HubFinding, judgeHub, type LinkCounts } from './judge-hub.ts'
import type { PlanLog } from './plan-log.ts'
import type { PlanReporter } from './plan-reporter.ts'
import { Probes } from './probes.ts'
import type { SiteModel } from './site-model.ts'
import { type FoundHub, type Hub, type Slot, writeSlotPattern } from './slot.ts'
import { Soft404Detector } from './soft-404-detector.ts'

/** Limit of remembered findings. */
const MAX_FINDINGS = 50_000

/** The page that a hub's verdict is based on. */
export interface HubPage {
  readonly status: number | null
  readonly title: string | null
  readonly links: readonly string[]
  readonly counts: LinkCounts
}

/** Dependencies of a {@link HubVerifier}. */
export interface HubVerifierSetup {
  readonly site: SiteModel
  readonly reporter: PlanReporter
  readonly log: PlanLog
  readonly now: () => number
}

/** Judges hubs that were guessed, or that the site links to. */
export class HubVerifier {
  readonly #setup: HubVerifierSetup
  readonly #soft404s = new Soft404Detector()
  readonly #probes = new Probes()
  /** Findings by key of the visited address, for hubs that redirect there. */
  readonly #findings = new Map<string, { readonly url: string; readonly finding: HubFinding; readonly seen: HubPage }>()
  /** Hubs that redirect to a key which was not visited yet. */
  readonly #movedTo = new Map<string, FoundHub[]>()
  /** Guessed hubs that are missing, by URL, because the site may still link to them. */
  readonly #missed = new Map<string, FoundHub>()
  /** Verdicts of earlier crawls, of an interrupted run and of this crawl. */
  readonly #known = new Map<string, HubVerdict>()
  /** Verdicts that are not stored yet. */
  readonly #unstored = new Map<string, HubVerdict>()

  constructor(setup: HubVerifierSetup) {
    this.#setup = setup
  }

  /** Number of hubs with a stored verdict. */
  get size(): number {
    return this.#known.size
  }

  wasConfirmed(url: string): boolean {
    return this.#known.get(url)?.state === 'confirmed'
  }

  /** Returns and clears the verdicts to store. */
  take(): readonly HubVerdict[] {
    const verdicts = [...this.#unstored.values()]
    this.#unstored.clear()
    for (const verdict of verdicts) this.#known.set(verdict.url, verdict)
    return verdicts
  }

  /** Returns and clears the probes to request. */
  takeProbes(): readonly string[] {
    return this.#probes.take()
  }

  /** Adds a stored verdict. A verdict from an interrupted run of this crawl counts as one of this crawl. */
  restore(verdict: HubVerdict, isOfThisCrawl: boolean): void {
    const { site } = this.#setup
    const { url, state, status, origin } = verdict
    this.#known.set(url, verdict)
    const address = parseAddress(url)
    for (const foundHub of address === undefined ? [] : site.note(address, 'earlier')) {
      const { slot, hub } = foundHub
      if (writeSlotPattern(slot) !== verdict.pattern && !isOfThisCrawl && origin === 'listed') continue
      hub.isGuess ||= origin === 'guessed'
      // A guess that failed in an earlier crawl is not tried again; confirmed and listed hubs are visited again.
      if (isOfThisCrawl) {
        Object.assign(hub, { origin, state, status, isSeeded: origin === 'guessed' })
        hub.isReported = state === 'missing' && origin === 'listed'
        if (state === 'missing' && origin === 'guessed') this.#missed.set(url, foundHub)
      } else if (state !== 'confirmed' && origin === 'guessed') {
        Object.assign(hub, { state, status, isSeeded: true })
      }
    }
  }

  /** Whether a hub of an interrupted run must be judged, because its verdict was not stored or the site linked to it since. */
  needsVerdict({ hub }: FoundHub, isLinked: boolean): boolean {
    const isLinkedSince = isLinked && this.#missed.delete(hub.url)
    return hub.state === undefined || isLinkedSince
  }

  /** Records the home page. */
  noteHome({ links }: CompletedVisit): void {
    this.#soft404s.noteHome(links)
  }

  /** Records the visit to a possible hub. Returns the finding. */
  note(address: Address, visit: CompletedVisit): HubFinding {
    const { site } = this.#setup
    const { links, status } = visit
    const counts = countLinks(links, site.host)
    const finding = judgeHub(visit, counts.nav + counts.articles)
    const seen = { status, title: visit.page?.title ?? null, links, counts }
    if (this.#findings.size >= MAX_FINDINGS) this.#findings.clear()
    // The URL replaces the links of the page. It is enough to show that two hubs redirect to the same page.
    this.#findings.set(visit.key, { url: visit.url, finding, seen: { ...seen, links: [visit.url] } })
    const isGuess = visit.discovery === 'planner'
    const probe = this.#probes.find(visit.url)
    if (probe !== undefined) this.#decide(probe, finding, seen)
    else if (address.host === site.host) {
      for (const foundHub of site.slots.findOrNote(address, isGuess ? 'guessed' : 'listed')) {
        if (!isGuess) foundHub.hub.origin = 'listed'
        this.#decide(foundHub, finding, seen)
      }
    }
    const moved = this.#movedTo.get(visit.key) ?? []
    this.#movedTo.delete(visit.key)
    for (const foundHub of moved) {
      const redirected = this.#findingAfterRedirect(foundHub.hub, visit.url, finding)
      this.#decide(foundHub, redirected, { ...seen, links: [visit.url] })
    }
    this.#noteLinked(links)
    return finding
  }

  /** Judges a hub from an interrupted run's stored visit. */
  judgeStoredVisit(
    foundHub: FoundHub,
    row: Pick<CompletedVisit, 'state' | 'reason' | 'kind' | 'status'>,
    links: readonly string[],
  ): void {
    const counts = countLinks(links, this.#setup.site.host)
    const finding = judgeHub({ ...row, target: null }, counts.nav + counts.articles)
    this.#decide(foundHub, finding, { status: row.status, title: null, links, counts })
  }

  /** Records that an address will not be visited. */
  noteSkipped(url: string): void {
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

  /** Stores the verdicts that were made before a slot was recognized as a slot of places. */
  storePendingVerdicts(slot: Slot): void {
    for (const hub of slot.hubs.values())
      if (hub.pendingVerdict !== undefined) this.#queueVerdict({ slot, hub }, hub.pendingVerdict)
  }

  #decide(foundHub: FoundHub, finding: HubFinding, seen: HubPage): void {
    const { slot, hub } = foundHub
    const leavesSite = finding.type === 'moved' && parseAddress(finding.target)?.host !== this.#setup.site.host
    if (finding.type === 'moved' && !leavesSite) {
      const known = this.#findings.get(finding.target)
      if (known !== undefined && known.finding.type !== 'moved') {
        const redirected = this.#findingAfterRedirect(hub, known.url, known.finding)
        this.#decide(foundHub, redirected, { ...known.seen, status: seen.status })
      } else this.#movedTo.set(finding.target, [...(this.#movedTo.get(finding.target) ?? []), foundHub])
    } else if (this.#probes.find(hub.url) === foundHub)
      this.#settleProbe(slot, finding.type === 'moved' ? 'open' : finding.type)
    else if (finding.type === 'open' || finding.type === 'moved')
      Object.assign(hub, { status: seen.status, state: 'open' })
    else this.#conclude(foundHub, finding.type, seen)
  }

  /** Records a verdict. If a guess looks like another guess or like the home page, the result of the slot's probe decides instead. */
  #conclude(foundHub: FoundHub, state: HubVerdict['state'], seen: HubPage): void {
    const { slot, hub } = foundHub
    const isGuess = hub.origin === 'guessed' && state !== 'missing' && seen.links.length > 0
    const first = isGuess ? this.#soft404s.note(foundHub, seen.links) : undefined
    if (first === undefined || this.#probes.resultOf(slot) === 'missing') this.#recordVerdict(foundHub, state, seen)
    else {
      const doubtful = [{ foundHub, state, seen }]
      if (first !== 'home' && first.slot === slot && first.hub.state === 'confirmed') {
        doubtful.push({ foundHub: first, state: 'confirmed', seen })
        first.hub.state = undefined
      }
      hub.state = undefined
      this.#probes.deferVerdicts(slot, doubtful)
      const result = this.#probes.resultOf(slot)
      if (result !== undefined) this.#settleProbe(slot, result)
    }
  }

  /** Records the deferred verdicts of a slot. If the site returns a page even for a place that does not exist, the guesses are rejected. */
  #settleProbe(slot: Slot, result: HubVerdict['state'] | 'open'): void {
    for (const { foundHub, state, seen } of this.#probes.settle(slot, result)) {
      if (result === 'open') Object.assign(foundHub.hub, { status: seen.status, state: 'open' })
      else this.#recordVerdict(foundHub, result === 'missing' ? state : 'rejected', seen)
    }
  }

  #recordVerdict(foundHub: FoundHub, state: HubVerdict['state'], seen: HubPage): void {
    const { slot, hub } = foundHub
    const { site, log, now } = this.#setup
    hub.status = seen.status
    hub.state = state
    const { url, origin, place, status } = hub
    log.addThought(3, `${url}: ${state} (${origin}, ${place.name})`)
    const { nav: navLinks, articles: articleLinks } = seen.counts
    const verdict: HubVerdict = {
      ...{ url, origin, status, navLinks, articleLinks, state },
      pattern: writeSlotPattern(slot),
      placeId: place.id,
      placeSlug: hub.text.toLowerCase(),
      placeKind: slot.kind,
      title: seen.title,
      checkedAt: now(),
    }
    // The verdict of a guess is stored even if its slot is never recognized.
    if (site.isHubSlot(slot) || hub.isSeeded) this.#queueVerdict(foundHub, verdict)
    else hub.pendingVerdict = verdict
  }

  #queueVerdict(foundHub: FoundHub, verdict: HubVerdict): void {
    foundHub.hub.pendingVerdict = undefined
    this.#unstored.set(verdict.url, verdict)
    if (verdict.state !== 'missing') return
    if (foundHub.hub.origin === 'listed') this.#setup.reporter.reportBrokenHubLink(foundHub)
    else this.#missed.set(verdict.url, foundHub)
  }

  /**
   * The finding for a hub that redirects. Sites redirect pages they do not have to a parent page, the home page or the hub of another
   * place, so these count as missing.
   */
  #findingAfterRedirect(hub: Hub, url: string, finding: HubFinding): HubFinding {
    if (finding.type !== 'confirmed') return finding
    const { site } = this.#setup
    const to = parseAddress(url)
    const from = parseAddress(hub.url)
    const isParent = (to?.segments.length ?? 0) < (from?.segments.length ?? 0)
    const others = to === undefined ? [] : site.slots.find(to).filter(({ slot }) => site.isHubSlot(slot))
    const isOtherPlace = others.length > 0 && others.every(({ hub: { place } }) => place.id !== hub.place.id)
    return isParent || isOtherPlace ? { type: 'missing' } : finding
  }

  /** Checks whether the site links to a guess that was missing. */
  #noteLinked(links: readonly string[]): void {
    if (this.#missed.size === 0) return
    for (const link of links) {
      const foundHub = this.#missed.get(link)
      if (foundHub === undefined) continue
      this.#missed.delete(link)
      foundHub.hub.origin = 'listed'
      const verdict = this.#unstored.get(link) ?? this.#known.get(link)
      if (verdict !== undefined) this.#unstored.set(link, { ...verdict, origin: 'listed' })
      this.#setup.reporter.reportBrokenHubLink(foundHub)
    }
  }
}
