// Crawls a small site into a library of its own, and asks it what became of an address.
import { strict as assert } from 'node:assert'
import { createServer } from 'node:http'
import { addSource, crawlSource, explainUrl, openLibrary, reportSource } from 'pharos/node'

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

  const [hit] = await library.store.search({ query: 'which oil freezes', limit: 1 })
  assert.equal(hit?.url, `${site}/oil`)
  console.log(hit.chunk.content)
} finally {
  await library.close()
  server.close()
}
