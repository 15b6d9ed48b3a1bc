import type { LedgerRow } from '../../crawl/ledger.ts'
import type { CrawlPlanner } from '../../crawl/planning/planner.ts'
import type { MilestoneStore } from '../../crawl/planning/progress-milestones.ts'
import type { Library } from '../library.ts'
import type { VisitedRow } from '../ports/crawl-plans.ts'
import type { Crawl } from '../ports/store.ts'
import { type CrawlType, hasPlan, type Source } from '../source.ts'
import { requireHostMilestones } from './require-milestones.ts'
import { MAX_CRAWLS, splitMilestones } from './split-milestones.ts'

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
  library: Pick<Library, 'jobLog' | 'kindOf' | 'plans' | 'store'>,
  source: Source,
  crawl: Crawl,
): MilestoneStore | undefined {
  const { plans, store } = library
  if (plans === undefined) return undefined
  return {
    async read(isResumed) {
      const counts = isResumed ? await countReached(library, crawl) : { secondLevel: 0, downloads: 0, articles: 0 }
      for (const { id, summary } of await store.listCrawls(source.id, MAX_CRAWLS)) {
        if (id !== crawl.id) counts.downloads += summary?.indexed ?? 0
      }
      return { kinds: await plans.readMilestones(crawl.id), counts }
    },
    async write(kind) {
      const { met } = await splitMilestones(library, new URL(source.siteUrl).host, [kind])
      await plans.writeMilestones(crawl.id, [kind])
      return met.length === 0
    },
  }
}

/** Counts the progress of an interrupted crawl from the ledger. */
async function countReached(library: Pick<Library, 'kindOf' | 'store'>, crawl: Crawl) {
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
