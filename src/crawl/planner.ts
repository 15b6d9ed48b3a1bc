import type { Classification, Page } from '../core/model.ts'
import type { CrawlEvent } from './events.ts'
import type { Discovery, LedgerState, Reason, Refusal } from './ledger.ts'
import type { PageKind } from './ports.ts'

/** An address that was found, before it is offered to the ledger. */
export interface PlannedFind {
  readonly url: string
  readonly key: string
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
}

/** A visit that came to its end. */
export interface PlannedVisit {
  readonly url: string
  readonly key: string
  readonly depth: number
  readonly discovery: Discovery
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  /** Key of the address that it leads to, or that holds its content. */
  readonly target: string | null
  /** What it holds, where it was read now. */
  readonly page: Page | null
  readonly classification: Classification | null
  /** The same, also of a page that is as it was. */
  readonly kind: PageKind
  /** Where it leads: absolute addresses, also of a page that is as it was. */
  readonly links: readonly string[]
}

/** What a plan wants to be done and told. */
export interface PlanStep {
  /**
   * Addresses to visit, the most promising first, before everything else. They count as one link away from the start; where a crawl goes
   * only so far, as far away as it goes, so that nothing behind them is read that is further away by links.
   */
  readonly seeds: readonly string[]
  /** Addresses that wait in the frontier already, to be visited sooner. */
  readonly further?: readonly string[]
  readonly events: readonly Extract<CrawlEvent, { type: 'problem' | 'milestone' | 'plan' }>[]
}

/**
 * Plans a crawl while it runs. The engine calls it in the order of what happens, one call at a time, and never waits for anything else
 * meanwhile. Keys are those of the gate.
 */
export interface CrawlPlanner {
  /** Called first, before anything is offered; what earlier crawls taught is known then. */
  begin(site: { readonly startUrl: string; readonly siteUrl: string; readonly isResumed: boolean }): Promise<PlanStep>
  /** How early an address is to be visited: the least first. Called for every find, so it must be quick. */
  weigh(find: PlannedFind): number
  /** Why an address is left out that the gate would let through; null for most. */
  refuse(find: PlannedFind): Refusal | null
  /** Told of addresses that a list of the site names. */
  noteListed(urls: readonly string[], discovery: Discovery): void
  /**
   * Told what became of seeds: which wait in the frontier now, and which do not, because this crawl has visited them before or they
   * are none of the source's. What is to be told because of that.
   */
  noteSeeded(waiting: readonly string[], left: readonly string[]): Promise<PlanStep['events']>
  /** Told of every visit that came to its end; `keyOf` gives the key of an address. */
  noteVisit(visit: PlannedVisit, keyOf: (url: string) => string | undefined): Promise<PlanStep>
  /** Called when nothing is due any more: seeds that come now are visited, and it is called again. */
  idle(): Promise<PlanStep>
  /** Called once at the end, whatever it was; only a crawl that completed may conclude from what was not found. */
  end(isComplete: boolean): Promise<PlanStep>
}

/** A step in which nothing is to be done. */
export const NO_STEP: PlanStep = { seeds: [], events: [] }
