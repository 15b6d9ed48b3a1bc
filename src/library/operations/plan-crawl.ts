import { NO_PLACES } from '../../analysis/matcher.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { CrawlPlanner } from '../../crawl/planner.ts'
import type { MilestoneCounts, MilestoneMemory } from '../../crawl/progress-milestones.ts'
import { createPlanner } from '../../plan/create-planner.ts'
import type { VisitedRow } from '../../plan/planner-setup.ts'
import type { Library } from '../library.ts'
import { type CrawlType, hasPlan, type Source } from '../source.ts'
import type { Crawl } from '../store.ts'
import { requireUnderstood } from './require-understood.ts'

function typeOf({ settings }: Source, { options }: Pick<Crawl, 'options'>): CrawlType {
  return options.crawlType ?? settings.crawlType
}

/** Throws for a history crawl of a site that is not understood yet, unless forced. */
export async function refuseUnprepared(library: Library, source: Source, crawl: Crawl): Promise<void> {
  if (typeOf(source, crawl) !== 'history' || crawl.options.force === true) return
  await requireUnderstood(library, new URL(source.siteUrl).host)
}

/** Creates the planner of a crawl if its type has one. Only crawls that discover pages can be planned. */
export async function planCrawl(library: Library, source: Source, crawl: Crawl): Promise<CrawlPlanner | undefined> {
  const type = typeOf(source, crawl)
  const isSearching = crawl.kind === 'add' || crawl.kind === 'recrawl'
  if (!isSearching || !hasPlan(type)) return undefined
  return createPlanner({
    crawlId: crawl.id,
    sourceId: source.id,
    startedAt: crawl.startedAt,
    clock: library.clock,
    memory: library.planMemory,
    places: (await library.openPlaces?.()) ?? NO_PLACES,
    listVisited: () => listVisited(library, crawl),
    isHistory: type === 'history',
    options: crawl.options.planner,
  })
}

/** Number of rows read at once. */
const PAGE = 1000

/** Stores the milestones that a crawl has reached, if the library supports it. */
export function keepMilestones(library: Library, crawl: Crawl): MilestoneMemory | undefined {
  const { planMemory } = library
  if (planMemory === undefined) return undefined
  return {
    read: async () => ({
      kinds: await planMemory.readReached(crawl.id),
      counts: await countReached(library, crawl),
    }),
    write: (kind) => planMemory.writeReached(crawl.id, [kind]),
  }
}

/** Counts the progress of an interrupted crawl from the ledger. */
async function countReached(library: Library, crawl: Crawl): Promise<MilestoneCounts> {
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
  { store, kindOf }: Library,
  { id, sourceId }: Crawl,
): AsyncGenerator<LedgerRow & VisitedRow> {
  let after = ''
  for (;;) {
    const rows = await store.listRows(sourceId, { limit: PAGE, after })
    for (const row of rows) {
      const isOpen = row.state === 'pending' || row.state === 'leased'
      if (row.crawlId !== id || isOpen || row.status === null) continue
      const { key, hasPage } = row
      const kind = hasPage ? await kindOf({ sourceId, key }) : 'unknown'
      yield { ...row, kind, readLinks: async () => (hasPage ? store.readLinks(sourceId, key) : []) }
    }
    after = rows.at(-1)?.key ?? ''
    if (rows.length < PAGE) return
  }
}
