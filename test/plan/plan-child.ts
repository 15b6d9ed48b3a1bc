/**
 * Crawls a site by a plan in a separate process, which a test may kill. Arguments: the path of the library and the address of the site.
 * Events are printed on stdout as JSON lines.
 */
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { openLibrary } from '../../src/open-library.ts'

const [path = '', url = ''] = process.argv.slice(2)
const library = await openLibrary({
  path,
  version: '0.0.0',
  allowPrivate: ['127.0.0.0/8'],
  limits: { concurrency: 4 },
})
const known = (await library.store.listSources()).find((source) => source.url === url)
const source = known ?? (await addSource(library, { url, settings: { crawlType: 'intelligent' } }))
for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}
await library.close()
