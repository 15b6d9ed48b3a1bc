import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { embedLibrary } from '../../src/library/embed/embed-library.ts'
import { openLibrary } from '../../src/open-library.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { until } from '../e2e/server.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { connect } from '../mcp/connect.ts'
import { openSite, type Site } from '../sites/site.ts'
import { openTeiServer, type TeiServer } from './servers/tei.ts'

const NONE_YET = 'no chunk has a vector yet (make them with pharos embed run); answered by words alone'

let sandbox: ProgramSandbox
let tei: TeiServer
let site: Site

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  tei = await openTeiServer()
  site = await openSite({ '/': page('Tower', 'The keeper lights the lamp of the tower every evening.') })
})

afterEach(async () => {
  await Promise.all([tei.close(), site.close()])
  sandbox.remove()
})

/** Starts a server that uses the embedding service. `end` stops it. */
async function serve() {
  const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'serve', '--json'], {
    PHAROS_LIBRARY: sandbox.path('library.db'),
    PHAROS_EMBEDDER: 'tei',
    PHAROS_EMBED_ENDPOINT: tei.origin,
    PHAROS_ALLOW_PRIVATE: '127.0.0.0/8',
    PHAROS_EMBED: 'true',
  })
  let log = ''
  child.stderr.on('data', (text: string) => {
    log += text
  })
  const [line] = (await once(child.stdout, 'data')) as [string]
  const { origin, pid } = JSON.parse(line) as { origin: string; pid: number }
  const ask = async (path: string, init?: RequestInit): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${origin}${path}`, { signal: AbortSignal.timeout(60_000), ...init })
    return (await answer.json()) as Record<string, unknown>
  }
  return {
    search: (query: string) => ask(`/api/search?q=${encodeURIComponent(query)}`),
    crawl: (url: string) =>
      ask('/api/crawl', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ startUrl: url }),
      }),
    readLog: () => log,
    async end() {
      process.kill(pid, 'SIGTERM')
      return await ended
    },
  }
}

test('a server embeds new chunks as soon as a crawl ends, and reports when vector search is unavailable', async () => {
  const server = await serve()
  await server.crawl(`${site.origin}/`)
  const found = await until(
    () => server.search('lamp'),
    ({ engines }) => Array.isArray(engines) && engines.includes('vectors'),
  )
  expect(found).toMatchObject({ engines: ['words', 'vectors'], notices: [] })
  tei.setFault('POST /embed', { type: 'answer', status: 503, json: { error: 'unhealthy', error_type: 'Unhealthy' } })
  expect(await server.search('lamp')).toMatchObject({
    engines: ['words'],
    notices: [expect.stringMatching(/^the model cannot be used: .+ answered 503.+; answered by words alone$/)],
    passages: [{ title: 'Tower' }],
  })
  expect(await server.end()).toMatchObject({ code: 0 })
})

test('a server whose embedding service is gone logs a warning, and still answers searches', async () => {
  const library = await openLibrary({ path: sandbox.path('library.db'), version: '0.0.0' })
  await addSourceTo(library.store, 'docs')
  await writePage(library.store, 'docs', '/lamp', 'The lamp is lit at dusk.')
  await library.close()
  await tei.stopListening()
  const server = await serve()
  await until(
    async () => server.readLog(),
    (log) => log.includes('warning: could not update the vectors; retrying: '),
  )
  expect(await server.search('lamp')).toMatchObject({ engines: ['words'], notices: [NONE_YET] })
  expect(await server.end()).toMatchObject({ code: 0 })
})

test('an agent gets the notice that vector search is unavailable', async () => {
  const path = sandbox.path('library.db')
  const embedding = { type: 'tei', endpoint: tei.origin } as const
  const library = await openLibrary({ path, version: '0.0.0', embedding })
  await addSourceTo(library.store, 'docs')
  await writePage(library.store, 'docs', '/lamp', 'The lamp is lit at dusk.')
  for await (const _ of embedLibrary(library));
  const { callForText, call } = await connect({ openLibrary: async () => library })
  const both = await call('search_docs', { query: 'lamp', explain: true })
  expect(both.structuredContent).toMatchObject({
    passages: [{ explain: { similarity: expect.any(Number) } }],
    notices: [],
  })
  tei.setFault('POST /embed', {
    type: 'answer',
    status: 429,
    json: { error: 'Model is overloaded', error_type: 'Overloaded' },
  })
  const alone = await call('search_docs', { query: 'lamp' })
  expect(alone.structuredContent).toMatchObject({
    notices: [expect.stringContaining('answered by words alone')],
  })
  expect(await callForText('search_docs', { query: 'lamp' })).toContain('Note: the model cannot be used: ')
})
