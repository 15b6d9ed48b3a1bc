import { addSource } from '../../src/library/crawl/add-source.ts'
import { type Crawled, openTestLibrary, runCrawl } from '../sites/crawl.ts'
import type { ChildOptions } from '../sites/crawl-child.ts'
import { withFastClock } from '../sites/fast-clock.ts'
import type { Site } from '../sites/site.ts'

/** Resumes a crawl that another process left unfinished. It runs in this process, which saves starting another one. */
export async function resumeCrawl(path: string, site: Site, { speed, since }: ChildOptions): Promise<Crawled> {
  const library = withFastClock(await openTestLibrary(path, { concurrency: 4 }), speed, since)
  // A process that was killed early may not have added the source yet.
  const [source = await addSource(library, { url: `${site.origin}/` })] = await library.store.listSources()
  return runCrawl(library, source, { kind: 'add' }, site.origin)
}
