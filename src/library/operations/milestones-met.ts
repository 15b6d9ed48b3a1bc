import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/** What milestones are looked up in: those of jobs, and those of crawls that no server was asked for. */
type Reached = Pick<Library, 'jobLog' | 'planMemory'> & Partial<Pick<Library, 'store'>>

/** Among so many of the last crawls of a source. */
const MOST_CRAWLS = 100

/**
 * Which of some milestones a host has reached, in whatever job or crawl, and which it has not; both in the order in which they were
 * asked for. What jobs have noted stays when a source is removed, but what was reached then is gone: where it is known which sources
 * there are, notes count that are not older than the first source at the host.
 */
export async function milestonesMet(
  library: Reached,
  host: string,
  kinds: readonly string[],
): Promise<{ readonly met: readonly string[]; readonly unmet: readonly string[] }> {
  const ofHost = library.store && (await listSourcesAt(library.store, host))
  const since = ofHost === undefined ? 0 : Math.min(...ofHost.map(({ createdAt }) => createdAt))
  const reached = new Set<string>()
  for (const kind of new Set(kinds)) {
    const [newest] = (await library.jobLog?.listMilestones({ scope: host, kind, limit: 1 })) ?? []
    if (newest !== undefined && newest.at >= since) reached.add(kind)
  }
  const isMet = (kind: string): boolean => reached.has(kind)
  if (!kinds.every(isMet)) for (const kind of await listReached(library, ofHost ?? [])) reached.add(kind)
  return { met: kinds.filter(isMet), unmet: kinds.filter((kind) => !isMet(kind)) }
}

/** The sources that are at a host. */
export async function listSourcesAt(store: Pick<Library['store'], 'listSources'>, host: string): Promise<Source[]> {
  return (await store.listSources()).filter(({ siteUrl }) => URL.parse(siteUrl)?.host === host)
}

/** Milestones of crawls of the sources that are at a host. */
async function listReached({ store, planMemory }: Reached, sources: readonly Source[]): Promise<readonly string[]> {
  if (store === undefined || planMemory === undefined) return []
  const reached: string[] = []
  for (const { id } of sources) {
    for (const crawl of await store.listCrawls(id, MOST_CRAWLS)) {
      reached.push(...(await planMemory.readReached(crawl.id)))
    }
  }
  return reached
}
