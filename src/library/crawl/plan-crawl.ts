import type { LedgerRow } from '../../crawl/ledger.ts'
import type { CrawlPlanner } from '../../crawl/planning/planner.ts'
import type { MilestoneCounts, MilestoneStore } from '../../crawl/planning/progress-milestones.ts'
import type { Library } from '../library.ts'
import type { VisitedRow } from '../ports/crawl-plans.ts'
import type { Crawl } from '../ports/store.ts'
import { type CrawlType, hasPlan, type Source } from '../source.ts'
import { requireHostMilestones } from './require-milestones.ts'

function typeOf({ settings }: Source, { options }: Pick<Crawl, 'options'>): CrawlType {
  return options.crawlType ?? settings.crawlType
}

/** Throws for a history crawl of a site that lacks the required milestones, unless forced. */
export async function refuseUnprepared(
  library: Pick<Library, 'jobLog' | 'plans' | 'store'>,
  source: Source,
  crawl: Crawl,
): Promise<void> {
  if (typeOf(source, crawl) !== 'history' || crawl.options.force === true) return
  await requireHostMilestones(library, new URL(source.siteUrl).host)
}

/** Creates the planner of a crawl if its type has one and the library can plan. Only crawls that discover pages can be planned. */
export async function planCrawl(
  library: Pick<Library, 'clock' | 'kindOf' | 'plans' | 'store'>,
  source: Source,
  crawl: Crawl,
): Promise<CrawlPlanner | undefined> {
  const type = typeOf(source, crawl)
  const isDiscovering = crawl.kind === 'add' || crawl.kind === 'recrawl'
  if (!isDiscovering || !hasPlan(type)) return undefined
  return library.plans?.createPlanner({
    crawlId: crawl.id,
    sourceId: source.id,
    startedAt: crawl.startedAt,
    clock: library.clock,
    listVisited: () => listVisited(library, crawl),
    isHistory: type === 'history',
    options: crawl.options.planner,
  })
}

/** Number of rows read at once. */
const ROWS_AT_ONCE = 1000

/** Creates the storage for the milestones of a crawl; undefined if the library keeps none. */
export function createMilestoneMemory(
  library: Pick<Library, 'kindOf' | 'plans' | 'store'>,
  crawl: Crawl,
): MilestoneStore | undefined {
  const { plans } = library
  if (plans === undefined) return undefined
  return {
    read: async () => ({
      kinds: await plans.readMilestones(crawl.id),
      counts: await countReached(library, crawl),
    }),
    write: (kind) => plans.writeMilestones(crawl.id, [kind]),
  }
}

/** Counts the progress of an interrupted crawl from the ledger. */
async function countReached(library: Pick<Library, 'kindOf' | 'store'>, crawl: Crawl): Promise<MilestoneCounts> {
  let secondLevel = 0
  let downloads = 0
  let articles = 0
  for await (const { state, status, depth, kind } of listVisited(library, crawl)) {
    const isPage = state === 'indexed' || state === 'unchanged'
    downloads += Number(status === 200)
    secondLevel += Number(isPage && depth === 2)
    articles += Number(isPage && kind === 'article')
  }
  return { secondLevel, downloads, articles }
}

/** Iterates over the addresses that a crawl visited before its interruption, with page kinds. */
async function* listVisited(
  { store, kindOf }: Pick<Library, 'kindOf' | 'store'>,
  { id, sourceId }: Crawl,
): AsyncGenerator<LedgerRow & VisitedRow> {
  let after = ''
  for (;;) {
    const rows = await store.listRows(sourceId, { limit: ROWS_AT_ONCE, after })
    for (const row of rows) {
      const isOpen = row.state === 'pending' || row.state === 'leased'
      if (row.crawlId !== id || isOpen || row.status === null) continue
      const { key, hasPage } = row
      const kind = hasPage ? await kindOf({ sourceId, key }) : 'unknown'
      yield { ...row, kind, readLinks: async () => (hasPage ? store.readLinks(sourceId, key) : []) }
    }
    after = rows.at(-1)?.key ?? ''
    if (rows.length < ROWS_AT_ONCE) return
  }
}
