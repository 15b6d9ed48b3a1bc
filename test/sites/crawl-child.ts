/**
 * Crawls, joins a crawl, removes a source or searches in a separate process. Arguments: a verb; the path of the library; depending on the
 * verb, the address of the source, the crawl id or the query; {@link ChildOptions} as JSON. The process writes one JSON event per line to
 * stdout.
 */
import { PharosError } from '../../src/core/errors.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { findJoinable, joinCrawl } from '../../src/library/crawl/join-crawl.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { type LibraryOptions, openLibrary } from '../../src/open-library.ts'
import { withFastClock } from './fast-clock.ts'

/** Options for the process. */
export interface ChildOptions extends Pick<LibraryOptions, 'limits' | 'patienceMs'> {
  /** How many times faster the clock of the process runs. @default 1 */
  readonly speed?: number
  /** The start of the speed-up, in milliseconds since 1970. @default the start of the process */
  readonly since?: number
}

const [verb = '', path = '', subject = '', json = '{}'] = process.argv.slice(2)
const { limits, speed = 1, since, ...otherOptions } = JSON.parse(json) as ChildOptions
const writeEvent = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
try {
  const opened = await openLibrary({
    path,
    version: '0.0.0',
    allowPrivate: ['127.0.0.0/8'],
    limits: { concurrency: 4, ...limits },
    ...otherOptions,
  })
  const library = withFastClock(opened, speed, since)
  try {
    if (verb === 'crawl') await crawl(library)
    else if (verb === 'join') await join(library)
    else if (verb === 'remove') await remove(library)
    else if (verb === 'search') await search(library)
    else throw new Error(`unknown verb ${verb}`)
  } finally {
    await library.close()
  }
} catch (error) {
  writeEvent({ type: 'error', code: error instanceof PharosError ? error.code : null, message: String(error) })
  process.exitCode = 1
}

type ChildLibrary = ReturnType<typeof withFastClock>

async function crawl(library: ChildLibrary): Promise<void> {
  const known = (await library.store.listSources()).find(({ url }) => url === subject)
  const source = known ?? (await addSource(library, { url: subject }))
  const { signal } = new AbortController()
  for await (const event of crawlSource(library, source, { kind: 'add' }, signal)) writeEvent(event)
}

async function join(library: ChildLibrary): Promise<void> {
  const joining = await findJoinable(library, subject)
  for await (const event of joinCrawl(library, joining, new AbortController().signal)) writeEvent(event)
}

/** Removes a source, and writes an event before and after. */
async function remove(library: ChildLibrary): Promise<void> {
  const source = (await library.store.listSources()).find(({ url }) => url === subject)
  if (source === undefined) throw new Error(`there is no source ${subject}`)
  writeEvent({ type: 'removing' })
  await library.store.removeSource(source.id)
  writeEvent({ type: 'removed' })
}

/** Searches until stdin is closed. */
async function search(library: ChildLibrary): Promise<void> {
  let isStopped = false
  process.stdin.on('end', () => {
    isStopped = true
  })
  process.stdin.resume()
  let searches = 0
  let maxHits = 0
  while (!isStopped) {
    const hits = await searchHits(library.store, { query: subject, limit: 50 })
    for (const { sourceId, chunk } of hits) {
      const found = await library.store.readChunk(sourceId, chunk.id)
      if (found !== undefined && found.chunk.content !== chunk.content)
        throw new Error(`${chunk.id} differs from the hit`)
    }
    searches++
    maxHits = Math.max(maxHits, hits.length)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  writeEvent({ type: 'searched', searches, maxHits })
}
