// Crawls a small site into its own library, then explains the state of an address and searches the library.
import { strict as assert } from 'node:assert'
import { createServer } from 'node:http'
import { addSource, crawlSource, explainUrl, findChunk, openLibrary, reportSource, searchLibrary } from 'pharos/node'

const pages = {
  '/': '<h1>Lamps</h1><p>How the light is kept burning through the night.</p><a href="/oil">Oil</a> <a href="/lens">Lens</a>',
  '/oil': '<h1>Oil</h1><p>Colza oil burns cleaner than whale oil and freezes less easily.</p>',
}
const server = createServer((request, response) => {
  const page = pages[request.url]
  response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const site = `http://127.0.0.1:${server.address().port}`

const library = await openLibrary({ path: ':memory:', version: '0.1.0', allowPrivate: ['127.0.0.1'] })
try {
  const source = await addSource(library, { url: `${site}/`, name: 'lamps' })
  for await (const event of crawlSource(library, source, { kind: 'add' }, AbortSignal.timeout(30_000))) {
    if (event.type === 'settled') console.log(event.state, event.url)
  }

  const { balance } = await reportSource(library, source)
  assert.deepEqual([balance.discovered, balance.indexed, balance.failed], [3, 2, 1])

  const { row } = await explainUrl(library, source, '/lens')
  assert.equal(row?.reason, 'not-found')

  const { passages } = await searchLibrary(library, { query: 'which oil freezes', sources: ['lamps'], tokens: 500 })
  const [best] = passages
  assert.equal(best?.url, `${site}/oil`)
  console.log(`${best.url} lines ${best.startLine}-${best.endLine}\n${best.text}`)

  const { chunk } = await findChunk(library, best.chunk)
  assert.match(chunk.content, /freezes less easily/)
} finally {
  await library.close()
  server.close()
}
