/**
 * Crawls or searches a library in a process of its own. Arguments: a verb, the path of the library, and the address of the source
 * or the query. What it does is told on stdout, a line of JSON each.
 */
import { PharosError } from '../../src/core/errors.ts'
import { addSource } from '../../src/library/operations/add-source.ts'
import { crawlSource } from '../../src/library/operations/crawl-source.ts'
import { openLibrary } from '../../src/open-library.ts'

const [verb = '', path = '', text = ''] = process.argv.slice(2)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const library = await openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: { concurrency: 4 } })
try {
  if (verb === 'crawl') await crawl()
  else if (verb === 'search') await search()
  else throw new Error(`unknown verb ${verb}`)
} catch (error) {
  say({ type: 'error', code: error instanceof PharosError ? error.code : null, message: String(error) })
  process.exitCode = 1
} finally {
  await library.close()
}

async function crawl(): Promise<void> {
  const known = (await library.store.listSources()).find(({ url }) => url === text)
  const source = known ?? (await addSource(library, { url: text }))
  for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) say(event)
}

/** Searches until stdin is closed. */
async function search(): Promise<void> {
  let isStopped = false
  process.stdin.on('end', () => {
    isStopped = true
  })
  process.stdin.resume()
  let searches = 0
  let most = 0
  while (!isStopped) {
    const hits = await library.store.search({ query: text, limit: 50 })
    for (const { sourceId, chunk } of hits) {
      const found = await library.store.readChunk(sourceId, chunk.id)
      if (found !== undefined && found.chunk.content !== chunk.content)
        throw new Error(`${chunk.id} is not what was found`)
    }
    searches++
    most = Math.max(most, hits.length)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  say({ type: 'searched', searches, most })
}
