import type { Library } from '../library.ts'

/** What milestones are looked up in: those of jobs, and those of crawls that no server was asked for. */
type Reached = Pick<Library, 'jobLog' | 'planMemory'> & Partial<Pick<Library, 'store'>>

/** Among so many of the last crawls of a source. */
const MOST_CRAWLS = 100

/**
 * Which of some milestones a host has reached, in whatever job or crawl, and which it has not; both in the order in which they were
 * asked for.
 */
export async function milestonesMet(
  library: Reached,
  host: string,
  kinds: readonly string[],
): Promise<{ readonly met: readonly string[]; readonly unmet: readonly string[] }> {
  const reached = new Set<string>()
  for (const kind of new Set(kinds)) {
    const [found] = (await library.jobLog?.listMilestones({ scope: host, kind, limit: 1 })) ?? []
    if (found !== undefined) reached.add(kind)
  }
  const isMet = (kind: string): boolean => reached.has(kind)
  if (!kinds.every(isMet)) for (const kind of await listReached(library, host)) reached.add(kind)
  return { met: kinds.filter(isMet), unmet: kinds.filter((kind) => !isMet(kind)) }
}

/** Milestones of crawls of the sources that are at a host. */
async function listReached({ store, planMemory }: Reached, host: string): Promise<readonly string[]> {
  if (store === undefined || planMemory === undefined) return []
  const sources = (await store.listSources()).filter(({ siteUrl }) => URL.parse(siteUrl)?.host === host)
  const reached: string[] = []
  for (const { id } of sources) {
    for (const crawl of await store.listCrawls(id, MOST_CRAWLS)) {
      reached.push(...(await planMemory.readReached(crawl.id)))
    }
  }
  return reached
}
