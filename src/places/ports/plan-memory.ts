import type { HubVerdict, LearnedPattern } from '../../library/ports/findings.ts'

/** An address of an earlier crawl, and whether it was a page. */
export interface EarlierAddress {
  readonly url: string
  readonly kind: 'article' | 'nav' | 'other' | 'unknown'
  readonly isPage: boolean
}

/** Data that planners keep from one crawl to the next, by host. Lists are empty when nothing is stored. */
export interface PlanMemory {
  readPatterns(host: string): Promise<readonly LearnedPattern[]>
  /** Replaces the stored patterns of a host. */
  writePatterns(host: string, patterns: readonly LearnedPattern[], now: number): Promise<void>
  readVerdicts(host: string): Promise<readonly HubVerdict[]>
  /** Stores verdicts; a new one replaces that of the same address. Confirmed ones also become place hubs. */
  writeVerdicts(host: string, verdicts: readonly HubVerdict[]): Promise<void>
  /** An even sample of the source's addresses from earlier crawls, up to `limit`. */
  sampleAddresses(sourceId: string, limit: number): Promise<readonly EarlierAddress[]>
  /** Kinds of milestones that this crawl reached before it was interrupted. */
  readMilestones(crawlId: string): Promise<readonly string[]>
  writeMilestones(crawlId: string, kinds: readonly string[]): Promise<void>
}
