import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/** Where milestones are stored: the log of jobs, and the plans, which also have those of crawls that ran without a server. */
type MilestoneStores = Pick<Library, 'jobLog' | 'plans'> & Partial<Pick<Library, 'store'>>

/** Maximum number of recent crawls of a source to check. */
export const MAX_CRAWLS = 100

/**
 * Splits milestones into those a host has reached, in any job or crawl, and the others, in the given order. The log of jobs keeps
 * milestones of removed sources, so those that are older than the oldest existing source at the host are ignored.
 */
export async function splitMilestones(
  library: MilestoneStores,
  host: string,
  kinds: readonly string[],
): Promise<{ readonly met: readonly string[]; readonly unmet: readonly string[] }> {
  const hostSources = library.store && (await listSourcesAt(library.store, host))
  const since = hostSources === undefined ? 0 : Math.min(...hostSources.map(({ createdAt }) => createdAt))
  const reached = new Set<string>()
  for (const kind of new Set(kinds)) {
    const [newest] = (await library.jobLog?.listMilestones({ scope: host, kind, limit: 1 })) ?? []
    if (newest !== undefined && newest.at >= since) reached.add(kind)
  }
  const isMet = (kind: string): boolean => reached.has(kind)
  for await (const found of kinds.every(isMet) ? [] : listCrawlMilestones(library, hostSources ?? [])) {
    for (const kind of found) reached.add(kind)
    if (kinds.every(isMet)) break
  }
  return { met: kinds.filter(isMet), unmet: kinds.filter((kind) => !isMet(kind)) }
}

/** Lists the sources at a host. */
export async function listSourcesAt(store: Pick<Library['store'], 'listSources'>, host: string): Promise<Source[]> {
  return (await store.listSources()).filter(({ siteUrl }) => URL.parse(siteUrl)?.host === host)
}

/** Lists the milestones of each crawl of the given sources. */
async function* listCrawlMilestones(
  { store, plans }: MilestoneStores,
  sources: readonly Source[],
): AsyncGenerator<readonly string[]> {
  if (store === undefined || plans === undefined) return
  for (const { id } of sources) {
    for (const crawl of await store.listCrawls(id, MAX_CRAWLS)) yield plans.readMilestones(crawl.id)
  }
}
