import type { Classification, Page } from '../../core/model.ts'
import type { CrawlEvent } from '../events.ts'
import type { FoundAddress, LedgerRow, Refusal } from '../ledger.ts'
import type { Discovery } from '../ledger-reasons.ts'
import type { PageKind } from '../ports.ts'

/** An address that was found, before it is offered to the ledger. */
export type CandidateAddress = Pick<FoundAddress, 'url' | 'key' | 'depth' | 'foundOn' | 'discovery'>

/** A completed visit. */
export interface CompletedVisit
  extends Pick<LedgerRow, 'url' | 'key' | 'depth' | 'discovery' | 'state' | 'reason' | 'status'> {
  /** Key of the redirect target, or of the address that holds the content. */
  readonly target: string | null
  /** The page, if it was read in this visit. */
  readonly page: Page | null
  readonly classification: Classification | null
  /** The kind of page, known for an unchanged page too. */
  readonly kind: PageKind
  /** Absolute addresses of its links, known for an unchanged page too. */
  readonly links: readonly string[]
}

/** Instructions of a planner to the crawl. */
export interface PlanStep {
  /**
   * Addresses to visit before all others, best first. Without a depth limit, they count as one link from the start. With a limit, they
   * count as being at the limit, so that the crawl follows no links from them to pages that are too deep.
   */
  readonly seeds: readonly string[]
  /** Addresses already in the frontier that should be visited sooner. */
  readonly prioritized?: readonly string[]
  readonly events: readonly Extract<CrawlEvent, { type: 'problem' | 'milestone' | 'plan' }>[]
}

/**
 * Plans a crawl while it runs. The engine calls the planner sequentially, in the order of events, and waits for each call. Keys are those
 * of the address filter.
 */
export interface CrawlPlanner {
  /** Called first, before any address is offered; results of earlier crawls are available. */
  begin(site: { readonly startUrl: string; readonly siteUrl: string; readonly isResumed: boolean }): Promise<PlanStep>
  /** Weight of an address; lower is visited earlier. Called for every found address, so it must be fast. */
  weigh(candidate: CandidateAddress): number
  /** Returns why an address that the address filter admits is left out; usually null. */
  refuse(candidate: CandidateAddress): Refusal | null
  /** Receives addresses that a list of the site names. */
  noteListed(urls: readonly string[], discovery: Discovery): void
  /**
   * Receives the result of offering seeds: those that wait in the frontier, and those that do not, because this crawl has visited them or
   * they are out of scope. Returns events to emit.
   */
  noteSeeded(waiting: readonly string[], left: readonly string[]): Promise<PlanStep['events']>
  /** Receives every completed visit; `keyOf` returns the key of an address. */
  noteVisit(visit: CompletedVisit, keyOf: (url: string) => string | undefined): Promise<PlanStep>
  /** Called when nothing is due, and again after the seeds of the returned step were visited. */
  idle(): Promise<PlanStep>
  /** Called once at the end; only a completed crawl may treat missing addresses as gone. */
  end(isComplete: boolean): Promise<PlanStep>
}

/** A step without seeds and events. */
export const EMPTY_STEP: PlanStep = { seeds: [], events: [] }
