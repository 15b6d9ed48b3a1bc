import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import type { Library } from '../../src/library/library.ts'
import { openTestServer, until } from '../http/server.ts'
import { connect } from '../mcp/connect.ts'
import { openTestLibrary } from '../sites/crawl.ts'
import { openSite, page } from '../sites/site.ts'
import { createRepository, openGitServer } from './git-fixture.ts'

/* Agents and HTTP requests can add the same sources as the command line, except for files of this machine. */

const FILES = {
  'README.md': '# Lamp\n\nLights the tower.\n',
  'docs/guide.md': '# Guide\n\nPour the whale oil in at dusk.\n',
}

async function serveRepository(): Promise<string> {
  const repository = createRepository(FILES)
  repository.git('tag', 'v1.0')
  repository.commit({ 'docs/guide.md': '# Guide\n\nLater.\n' })
  return `${(await openGitServer(join(repository.folder, '..'))).origin}/lamp/.git`
}

test('an agent adds a repository at a tag, and searches its folder', async () => {
  const url = await serveRepository()
  const { call, callForText } = await connect()
  const { structuredContent } = await call('add_source', { url, ref: 'v1.0', path: 'docs' })
  expect(structuredContent).toMatchObject({ source: { name: 'lamp', version: 'v1.0' } })
  await expect.poll(() => callForText('crawl_status', { source: 'lamp' })).toContain('INDEXED')
  expect(JSON.stringify(await call('search_docs', { query: 'whale oil' }))).toMatch(
    /lamp\/\.git@[0-9a-f]{40}!\/docs\/guide\.md#guide/,
  )
  expect(JSON.stringify(await call('read_page', { url: 'docs/guide.md', source: 'lamp' }))).toContain('at dusk')
  expect(await callForText('add_source', { url: '/etc', path: 'docs' })).toContain('URL_INVALID')
  expect(await callForText('add_source', { url: 'git+file:///etc' })).toContain('URL_INVALID')
})

test('an HTTP request adds a repository, and a process of the server reads it', async () => {
  const url = await serveRepository()
  const server = await openTestServer()
  const { status, body } = await server.post('/api/sources', { url, ref: 'v1.0', path: 'docs', name: 'far' })
  expect([status, body.source]).toEqual([
    202,
    { id: expect.any(String), name: 'far', version: 'v1.0', url: `git+${url}` },
  ])
  const job = await until(
    () => server.ask(`/api/crawls/${body.jobId}`),
    (answer) => ['done', 'failed'].includes(answer.body.status),
  )
  expect(job.body).toMatchObject({ status: 'done' })
  expect((await server.ask('/api/sources/far')).body).toMatchObject({ status: 'INDEXED', pages: 1 })
  const refused = await server.post('/api/sources', { url: 'file:///etc/' })
  expect([refused.status, refused.body.code]).toEqual([400, 'URL_INVALID'])
  const again = await server.post('/api/sources', { url, ref: 'v1.0', name: 'far' })
  expect([again.status, again.body.code]).toEqual([409, 'SOURCE_EXISTS'])
})

test('an HTTP request says what a pasted page means, and another page of a queued repository starts nothing', async () => {
  const slow = await openSite({ '/': { body: page('Slow'), delayMs: 20_000 } })
  const server = await openTestServer()
  await server.post('/api/sources', { url: `${slow.origin}/`, name: 'slow' })
  const add = (url: string, more: object = {}) => server.post('/api/sources', { url, ...more })
  const first = await add('<https://github.com/o/lamp/tree/main/docs>.')
  expect(first).toMatchObject({
    status: 202,
    body: {
      status: 'queued',
      understoodAs: 'repository github.com/o/lamp, folder docs, at main',
      source: { name: 'lamp', url: 'git+https://github.com/o/lamp.git' },
    },
  })
  for (const url of ['https://github.com/o/lamp/blob/main/docs/a.md', 'github.com/o/lamp/tree/main/guide', 'o/lamp']) {
    expect(await add(url)).toMatchObject({ status: 409, body: { code: 'CRAWL_RUNNING' } })
  }
  const { body } = await server.ask('/api/sources')
  expect(body.items).toHaveLength(2)
  expect(body.items).toContainEqual(
    expect.objectContaining({
      name: 'lamp',
      settings: expect.objectContaining({ tree: { ref: 'main', path: 'docs' } }),
    }),
  )
  const refused = await add('https://github.com/o/lamp/wiki')
  expect(refused).toMatchObject({ status: 400, body: { advice: expect.stringContaining('"as": "site"') } })
  const site = await add('https://github.com/o/lamp/wiki', { as: 'site' })
  expect(site).toMatchObject({ status: 202, body: { source: { url: 'https://github.com/o/lamp/wiki' } } })
  expect(site.body).not.toHaveProperty('understoodAs')
  // The queued crawls must not start, because they would leave this machine.
  for (const { jobId } of [first.body, site.body]) await server.post(`/api/crawls/${jobId}/stop`)
  await slow.close()
})

test('a second source with the same address and version is added with a notice, everywhere', async () => {
  const library = await openTestLibrary()
  const url = 'https://docs.example/'
  const add = (name: string, version?: string) =>
    prepareSource(library, { url, name, ...(version === undefined ? {} : { version }) })
  expect((await add('one')).notice).toBeUndefined()
  expect((await add('two', '2')).notice).toBeUndefined()
  expect((await add('two')).notice).toBe('one has the same address, so its pages are stored twice')
  const openJobs = async (opened: Library) => ({ ...createJobs(opened), start: async () => randomUUID() })
  const { callForText } = await connect({ openJobs })
  await callForText('add_source', { url, name: 'one' })
  expect(await callForText('add_source', { url, name: 'two' })).toMatch(
    /^Added two \(https:\/\/docs\.example\/\)\. one has the same address, so its pages are stored twice/,
  )
  const server = await openTestServer()
  const slow = await openSite({ '/': { body: page('Slow'), delayMs: 20_000 } })
  await server.post('/api/sources', { url: `${slow.origin}/`, name: 'one' })
  const { body } = await server.post('/api/sources', { url: `${slow.origin}/`, name: 'two' })
  expect(body.notice).toContain('one has the same address')
  await server.post(`/api/crawls/${body.jobId}/stop`)
  await slow.close()
})

test('an agent is told what a pasted page means, and can crawl it as a site', async () => {
  // Crawls that would leave this machine are not started.
  const openJobs = async (library: Library) => ({ ...createJobs(library), start: async () => randomUUID() })
  const { callForText } = await connect({ openJobs })
  const page = 'https://github.com/o/lamp/tree/main/docs'
  expect(await callForText('add_source', { url: page })).toMatch(
    /^Added lamp \(git\+https:\/\/github\.com\/o\/lamp\.git\), understood as repository github\.com\/o\/lamp, folder docs, at main\.\n/,
  )
  const site = await callForText('add_source', { url: page, as: 'site' })
  expect(site).toMatch(
    /^Added github\.com\/o\/lamp\/tree\/main\/docs \(https:\/\/github\.com\/o\/lamp\/tree\/main\/docs\)\.\n/,
  )
  expect(await callForText('add_source', { url: 'https://github.com/o/lamp/wiki' })).toMatch(
    /names no repository.* with as site$/,
  )
  expect(await callForText('add_source', { url: page, as: 'page' })).toMatch(/^Error \(USAGE\): as/)
})

/** One chunk for each text, each on a page of its own. */
function chunksOf(...texts: readonly string[]) {
  return texts.map((text, i) => ({
    text,
    source_url: `https://docs.example/page/${i}#place`,
    section_path: 'lamp/dusk',
    content_type: 'prose',
    last_updated: '2026-02-20',
  }))
}

test('an agent imports chunks, which are searchable when it gets the answer', async () => {
  const { call, callForText } = await connect()
  const args = { url: 'https://docs.example/', name: 'guide', prechunked: chunksOf('Pour the whale oil in.', 'Fog.') }
  const { structuredContent } = await call('add_source', args)
  expect(structuredContent).toMatchObject({ source: { name: 'guide' }, status: 'INDEXED' })
  const found = await call('search_docs', { query: 'whale oil', sectionPath: 'lamp/dusk' })
  expect(JSON.stringify(found)).toContain('https://docs.example/page/0#place')
  expect(await callForText('add_source', { ...args, prechunked: chunksOf('Pour the whale oil in.', '') })).toMatch(
    /^Error \(IMPORT_INVALID\): it cannot be imported: chunks\[1\]\.text: received "", give a text of 1 to 32000/,
  )
  expect(await callForText('add_source', { ...args, maxPages: 3 })).toContain('maxPages: a crawl option')
  expect(await callForText('add_source', { url: args.url, acceptLoss: true })).toContain(
    'acceptLoss: only for prechunked',
  )
  expect(await callForText('add_source', { url: args.url, embed: true })).toContain('embed: only for prechunked')
  expect(await callForText('add_source', { ...args, embed: true })).toContain('0 new or changed, 2 unchanged')
  expect(await callForText('add_source', { ...args, prechunked: Array(1001).fill(0) })).toContain(
    'at most 1000 chunks at once',
  )
  const other = { ...args, prechunked: [{ ...chunksOf('Other.')[0], source_url: 'https://docs.example/other' }] }
  expect(await callForText('add_source', other)).toMatch(
    /^Error \(CRAWL_LOSS\): .* 2 of 2 pages.* repeat the call with acceptLoss/,
  )
  expect(await callForText('recrawl_source', { source: 'guide' })).toMatch(/^Error \(SOURCE_IMPORTED\): .*prechunked/)
  expect(await callForText('add_source', { ...other, acceptLoss: true })).toContain(
    '1 new or changed, 0 unchanged, 2 removed',
  )
})

test('an HTTP request imports chunks, with a higher size limit than other requests', async () => {
  const server = await openTestServer()
  const long = chunksOf(...Array.from({ length: 60 }, (_, i) => `${i} ${'The lamp burns whale oil. '.repeat(900)}`))
  const source_url = 'https://docs.example/'
  const { status, body } = await server.post('/api/import?name=guide&version=2', { source_url, chunks: long })
  expect([status, body]).toEqual([
    200,
    {
      source: { id: expect.any(String), name: 'guide', version: '2', url: `import+${source_url}` },
      crawlId: expect.any(String),
      ...{ pages: 60, chunks: 60, indexed: 60, unchanged: 0, removed: 0 },
      ...{ embedded: false, notice: null },
    },
  ])
  const refusals = [
    [
      422,
      'IMPORT_INVALID',
      'the body cannot be imported: chunks[0].text: received "", ',
      { source_url, chunks: chunksOf('') },
    ],
    [409, 'CRAWL_LOSS', 'would remove 30 of 60 pages', { source_url, chunks: long.slice(30) }],
    [422, 'IMPORT_INVALID', 'the body cannot be imported: the import: missing, give an object', undefined],
  ] as const
  for (const [expectedStatus, code, words, requestBody] of refusals) {
    const answer = await server.post('/api/import?version=2', requestBody)
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      expectedStatus,
      code,
      expect.stringContaining(words),
    ])
  }
  const embedded = await server.post('/api/import?version=2&embed=1', { source_url, chunks: long })
  expect([embedded.status, embedded.body]).toMatchObject([200, { embedded: true }])
  const again = await server.post('/api/import?version=2&acceptLoss=1', { source_url, chunks: long.slice(30) })
  expect([again.status, again.body]).toMatchObject([200, { pages: 30, unchanged: 30, removed: 30 }])
  const recrawl = await server.post('/api/sources/guide/recrawl', {})
  expect([recrawl.status, recrawl.body]).toMatchObject([
    409,
    { code: 'SOURCE_IMPORTED', advice: expect.stringContaining('POST /api/import') },
  ])
})
