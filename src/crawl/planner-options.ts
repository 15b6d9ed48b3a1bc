/** Options of a planner. */
export interface PlannerOptions {
  /** Limit of pages taken from one hub, its pagination included. @default no limit */
  readonly hubMaxPages?: number
  /** Skips articles older than this many days, by the date in their address. @default no limit */
  readonly hubMaxDays?: number
  /** Limit of guessed addresses that are tried per crawl. @default 500 */
  readonly maxSeeds?: number
  /** Hosts, or suffixes of host names, that are planned; others are crawled without a plan. @default all */
  readonly targetHosts?: readonly string[]
  /** How much of its reasoning the planner reports: 0 nothing, 1 milestones, 2 each pattern and wave, 3 every hub. @default 1 */
  readonly verbosity?: number
}

/** Default limit of seeds per crawl: the number of countries, and about as many sections and topics. */
export const DEFAULT_MAX_SEEDS = 500
