import { PharosError } from '../../core/errors.ts'
import type { CrawlControl } from '../../crawl/control.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import { joinCrawl as join } from '../../crawl/join.ts'
import type { Library } from '../library.ts'
import type { JoinedCrawl } from '../ports/store.ts'
import type { Source } from '../source.ts'
import { createClassifyingReader } from './classifying-reader.ts'
import { createRun } from './create-run.ts'
import { openRendering } from './open-rendering.ts'

/** A crawl that this process joins. */
export interface JoinableCrawl {
  readonly joined: JoinedCrawl
  readonly source: Source
}

/** Finds a running crawl that can be joined. Throws `CRAWL_NOT_RUNNING` for any other. */
export async function findJoinable({ store }: Pick<Library, 'store'>, crawlId: string): Promise<JoinableCrawl> {
  const joined = await store.joinCrawl?.(crawlId)
  const source = (await store.listSources()).find(({ id }) => id === joined?.crawl.sourceId)
  if (joined !== undefined && source !== undefined) return { joined, source }
  throw new PharosError('CRAWL_NOT_RUNNING', { source: crawlId, where: ' that other processes can join' })
}

/** Joins a crawl of another process to make visits for it. Ends when this process finds nothing to do, even if the crawl continues. */
export async function* joinCrawl(
  library: Library,
  { joined, source }: JoinableCrawl,
  signal: AbortSignal,
  control?: CrawlControl,
): AsyncGenerator<CrawlEvent, void, void> {
  const { store, clock } = library
  const { crawl, shared } = joined
  const { render, chunks } = source.settings
  let hasLeft = false
  const leave = async (): Promise<void> => {
    if (hasLeft) return
    await joined.leave(clock.now())
    hasLeft = true
  }
  try {
    const rendering = await openRendering(library, render)
    if (render === 'chromium') await rendering.renderer?.prepare()
    const site = { ...source, siteUrl: shared.siteUrl }
    const ports = {
      ...library,
      ...rendering,
      readPage: createClassifyingReader(library, chunks),
      ledger: store,
      control,
      moveSite: async () => undefined,
      end: leave,
    }
    const run = createRun(library, site, crawl, { headers: {}, isResumed: false })
    yield* join(run, ports, { shared, heartbeat: () => joined.touch(clock.now()) }, signal)
  } finally {
    await leave().catch(() => undefined)
  }
}
