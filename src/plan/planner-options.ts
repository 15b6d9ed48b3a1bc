/** What may be asked of a planner. */
export interface PlannerOptions {
  /** Most pages that are taken in from what one hub lists, its further pages included. @default any number */
  readonly hubMaxPages?: number
  /** Articles that are older than so many days, by the date in their address, are left out. @default of any age */
  readonly hubMaxDays?: number
  /** Most addresses that are supposed and tried in one crawl. @default 500 */
  readonly maxSeeds?: number
  /** Hosts, or ends of their names, that are planned for; others are crawled without a plan. @default all */
  readonly targetHosts?: readonly string[]
  /** How much is told of what the planner thinks: 0 nothing, 1 each turn, 2 each pattern and wave, 3 every single address. @default 1 */
  readonly verbosity?: number
}

/** Most seeds of one crawl where nothing is said: as many as there are countries, and as many sections and topics again. */
export const DEFAULT_MAX_SEEDS = 500
