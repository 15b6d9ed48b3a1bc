import { expect, test } from 'vitest'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import { openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { connect, until } from './connect.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('a running crawl and a finished one are reported in the layouts of the contract', async () => {
  const site = await openTestSite({
    '/docs/': page('Start', ['/docs/one', '/docs/slow', '/docs/archive/v1', '/docs/missing']),
    '/docs/one': page('One'),
    '/docs/slow': { body: page('Slow'), delayMs: 1500 },
    '/docs/archive/v1': page('Old'),
  })
  const { call, callForText } = await connect()
  const { structuredContent } = await call('add_source', {
    url: `${site.origin}/docs/`,
    name: 'docs',
    blockPatterns: '!/docs/archive/**',
  })
  const { sourceId, crawlId } = structuredContent as { sourceId: string; crawlId: string }
  expect(sourceId).toMatch(UUID)
  expect(crawlId).toMatch(UUID)

  const running = await until(
    () => callForText('crawl_status', { sourceId }),
    (text) => text.includes('missing: not-found') && text.includes('Progress: 2/4'),
  )
  const runningText = running.replaceAll(site.origin, 'http://site').replace(crawlId, '<id>')
  expect(
    runningText.replace(/Started: .+Z/, 'Started: <time>').replace(/Elapsed: \d+s/, 'Elapsed: <time>'),
  ).toMatchInlineSnapshot(`
    "Source: docs (http://site/docs/)
    Status: CRAWLING
    Progress: 2/4 pages crawled (50%)
    Skipped: 0 pages (unchanged content)
    Errors: 1 page failed
      - http://site/docs/missing: not-found, answered 404
    Filtered: 1 URL excluded by scope
      - http://site/docs/archive/v1: blocked by !/docs/archive/**
    Started: <time>
    Elapsed: <time>
    Crawl: <id>"
  `)

  const ended = await until(
    () => callForText('crawl_status', { crawlId }),
    (text) => text.includes('INDEXED'),
  )
  const endText = ended.replaceAll(site.origin, 'http://site').replace(crawlId, '<id>')
  expect(endText.replace(/crawl: .+Z/, 'crawl: <time>').replace(/after \S+$/m, 'after <time>')).toMatchInlineSnapshot(`
    "Source: docs (http://site/docs/)
    Status: INDEXED
    Last crawl: <time>
    Pages: 3 crawled, 0 skipped (unchanged), 1 error
    Chunks: 3 total
    Crawl: <id>, add, completed after <time>
    Errors: 1 page failed
      - http://site/docs/missing: not-found, answered 404
    Filtered: 1 URL excluded by scope
      - http://site/docs/archive/v1: blocked by !/docs/archive/**"
  `)
  expect(await callForText('crawl_status', { crawlId })).toBe(ended)
})

test('the elapsed time of a crawl stays fixed after its end', async () => {
  const site = await openTestSite({ '/': page('Start') })
  const { call } = await connect()
  await call('add_source', { url: `${site.origin}/`, name: 'docs' })
  const readReport = async () => {
    const { structuredContent } = await call('crawl_status', { source: 'docs' })
    const { report } = structuredContent as { report: { status: string; crawl: { elapsedMs: number } } }
    return report
  }
  const first = await until(readReport, ({ status }) => status === 'INDEXED')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await readReport()).crawl.elapsedMs).toBe(first.crawl.elapsedMs)
})

test('crawl_status without a source lists crawls, and a status filters them', async () => {
  const site = await openTestSite({ '/': page('Start') })
  const { call, callForText } = await connect()
  expect(await callForText('crawl_status')).toBe('There are no such crawls.')
  await call('add_source', { url: `${site.origin}/`, name: 'docs' })
  await until(
    () => callForText('crawl_status', { source: 'docs' }),
    (text) => text.includes('INDEXED'),
  )
  expect(await callForText('crawl_status')).toMatch(/^[0-9a-f-]{36} {2}docs {2}add {2}completed {2}started \S+, \S+$/)
  expect(await callForText('crawl_status', { status: 'completed' })).toContain('completed')
  expect(await callForText('crawl_status', { status: 'running' })).toBe('There are no such crawls.')
})

test('a cancelled crawl keeps its pages, reports what is left, and resumes', async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `/p${i}`)
  const site = await openTestSite({
    '/': page('Start', paths),
    ...Object.fromEntries(paths.map((path) => [path, { body: page(path), delayMs: 150 }])),
  })
  const { call, callForText } = await connect()
  const { structuredContent } = await call('add_source', { url: `${site.origin}/`, name: 'docs', maxPages: 20 })
  const { crawlId } = structuredContent as { crawlId: string }
  const running = await until(
    () => callForText('crawl_status', { jobId: crawlId }),
    (text) => /Progress: [1-9]\d*\/(?!1 )/.test(text),
  )
  // The total is the page limit of 20, although the site has 31 pages.
  expect(running).toMatch(/^Status: CRAWLING\nProgress: \d+\/20 pages crawled/m)
  expect(await callForText('recrawl_source', { source: 'docs' })).toMatch(/^Error \(CRAWL_RUNNING\)/)
  expect(await callForText('cancel_crawl', { crawlId })).toMatch(/^Cancel(?:led|ling) the crawl/)
  const stopped = await until(
    () => callForText('crawl_status', { crawlId }),
    (text) => text.includes('cancelled'),
  )
  expect(stopped).toMatch(
    /^PARTIAL: interrupted: \d+ addresses not read; recrawl_source with source docs completes it\n/,
  )
  expect(await callForText('cancel_crawl', { source: 'docs' })).toMatch(
    /^Error \(CRAWL_NOT_RUNNING\): no crawl of docs is running – crawl_status shows/,
  )

  expect(await callForText('refresh_source', { source: 'docs' })).toMatch(/^Error \(CRAWL_UNFINISHED\)/)
  const again = await call('recrawl_source', { source: 'docs' })
  expect(again.structuredContent).toMatchObject({ crawlId, status: 'CRAWLING' })
  await until(
    () => callForText('crawl_status', { source: 'docs' }),
    (text) => text.includes('INDEXED') && text.includes('completed'),
  )
  expect(await callForText('crawl_status', { source: 'docs' })).toMatch(
    /^PARTIAL: the cap of 20 was reached: 11 known addresses not read; recrawl_source with source docs and maxPages 40 completes it\n/,
  )
  const { structuredContent: found } = await call('search_docs', { query: 'start', source: 'docs' })
  expect(found).toMatchObject({
    notices: [
      'docs is PARTIAL: the cap of 20 was reached: 11 known addresses not read',
      'recrawl_source with source docs and maxPages 40 completes it',
    ],
  })
})

test('removing a source also ends its crawl', async () => {
  const site = await openTestSite({ '/': page('Start', ['/slow']), '/slow': { body: page('Slow'), delayMs: 3000 } })
  const { call, callForText, library } = await connect()
  await call('add_source', { url: `${site.origin}/`, name: 'docs' })
  await until(
    () => callForText('crawl_status', { source: 'docs' }),
    (text) => text.includes('Progress: 1/2'),
  )
  const removed = await call('remove_source', { library: 'docs' })
  expect(removed.structuredContent).toMatchObject({ pages: 1, chunks: 1, cancelled: true })
  expect(await (await library()).store.listSources()).toEqual([])
})

test('a recrawl uses its scope for one run and keeps its new name', async () => {
  const site = await openTestSite({ '/': page('Start', ['/a', '/b']), '/a': page('A'), '/b': page('B') })
  const { call, callForText, library } = await connect()
  await call('add_source', { url: `${site.origin}/`, name: 'docs' })
  const isDone = (text: string) => text.includes('INDEXED')
  await until(() => callForText('crawl_status', { source: 'docs' }), isDone)
  await call('recrawl_source', {
    source: 'docs',
    blockPatterns: ['/b'],
    newName: 'guide',
    newVersion: '2.0',
    acceptLoss: true,
  })
  await until(() => callForText('crawl_status', { source: 'guide@2.0' }), isDone)
  const [source] = await (await library()).store.listSources()
  expect(source).toMatchObject({ name: 'guide', version: '2.0', scope: { block: [] } })
})

test('a version selects one source in every tool, even if a source of the same name has no version', async () => {
  const site = await openTestSite({ '/none/': page('None'), '/1/': page('One'), '/2/': page('Two') })
  const { call, callForText, library } = await connect()
  const opened = await library()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  await addSource(opened, { url: `${site.origin}/none/`, name: 'guide' })
  await addSource(opened, { url: `${site.origin}/1/`, name: 'guide', version: '2.0.0' })
  await addSource(opened, { url: `${site.origin}/2/`, name: 'guide', version: '2.1.0' })
  const isIdle = (text: string) => /^Status: INDEXED$/m.test(text)

  for (const [requested, version] of [
    ['2.0.0', '2.0.0'],
    ['2.x', '2.1.0'],
  ] as const) {
    const status = () => callForText('crawl_status', { source: 'guide', version: requested })
    expect(await status()).toMatch(new RegExp(`^Source: guide@${version} `, 'm'))
    const started = await call('recrawl_source', { source: 'guide', version: requested })
    expect(started.structuredContent).toMatchObject({ source: { name: 'guide', version } })
    await until(() => callForText('crawl_status', { source: `guide@${version}` }), isIdle)
    const refreshed = await call('refresh_source', { source: 'guide', version: requested })
    expect(refreshed.structuredContent).toMatchObject({ source: { name: 'guide', version } })
    await until(() => callForText('crawl_status', { source: `guide@${version}` }), isIdle)
    expect(await callForText('cancel_crawl', { source: 'guide', version: requested })).toMatch(
      /^Error \(CRAWL_NOT_RUNNING\)/,
    )
  }
  expect(await callForText('crawl_status', { source: 'guide', version: '5.x' })).toMatch(
    /no version 5\.x of guide; there are 2\.1\.0, 2\.0\.0/,
  )
  expect((await opened.store.listSources()).map(({ version }) => version)).toEqual([null, '2.0.0', '2.1.0'])

  expect(await callForText('remove_source', { source: 'guide', version: '2.x' })).toMatch(
    /has several versions, name one/,
  )
  const start = `${site.origin}/1/`
  expect(await callForText('crawl_status', { source: start, version: '2.x' })).toMatch(/^Source: guide@2\.0\.0 /m)
  const removed = await call('remove_source', { source: 'guide', version: '2.0.0' })
  expect(removed.structuredContent).toMatchObject({ removed: { version: '2.0.0' } })
  const last = await call('remove_source', { source: 'guide', version: '2.x' })
  expect(last.structuredContent).toMatchObject({ removed: { version: '2.1.0' } })
  expect((await opened.store.listSources()).map(({ version }) => version)).toEqual([null])
})

test('an ambiguous spelling of a version removes neither of the two sources', async () => {
  const { callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  for (const version of ['3', 'v3'])
    await addSource(await library(), { url: `https://docs.example/${version}/`, name: 'guide', version })
  expect(await callForText('remove_source', { source: 'guide', version: 'V3' })).toMatch(
    /has several versions, name one/,
  )
  expect(await callForText('remove_source', { source: 'guide', version: '3' })).toMatch(/removed/i)
  expect((await (await library()).store.listSources()).map(({ version }) => version)).toEqual(['v3'])
})

test('a crawl of another process is reported from the library', async () => {
  const site = await openTestSite({ '/': page('Start') })
  const { call, callForText, library } = await connect()
  await call('add_source', { url: `${site.origin}/`, name: 'docs' })
  await until(
    () => callForText('crawl_status', { source: 'docs' }),
    (text) => text.includes('INDEXED'),
  )
  const { store, clock } = await library()
  const [last] = await store.listCrawls((await store.listSources())[0]?.id ?? '', 1)
  if (last === undefined) throw new Error('the source was never crawled')
  const now = clock.now()
  // The runner id is that of a process on another machine.
  const foreignCrawl = {
    ...last,
    id: crypto.randomUUID(),
    state: 'running' as const,
    runner: 'elsewhere',
    startedAt: now,
    heartbeatAt: now,
  }
  await store.beginCrawl({ ...foreignCrawl, kind: 'recrawl', endedAt: null, summary: null }, 60_000)
  expect(await callForText('crawl_status', { source: 'docs' })).toMatch(/^Status: UPDATING$/m)
  expect(await callForText('cancel_crawl', { source: 'docs' })).toMatch(/another process crawls it: stop it there/)
})

test('a name that is taken is refused before anything is crawled, and a refused crawl renames nothing', async () => {
  const site = await openTestSite({ '/a/': page('A', ['/a/slow']), '/a/slow': { body: page('Slow'), delayMs: 1500 } })
  const { call, callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  const { store } = await library()
  const other = await addSource(await library(), { url: `${site.origin}/b/`, name: 'taken', version: '1.0' })
  const source = await addSource(await library(), { url: `${site.origin}/a/`, name: 'docs' })
  expect(await callForText('recrawl_source', { source: 'docs', newName: 'taken', newVersion: '1.0' })).toMatch(
    /^Error \(SOURCE_EXISTS\)/,
  )
  expect(await store.listCrawls(source.id, 10)).toEqual([])
  expect(await store.listSources()).toEqual([other, source])

  const begun = await call('recrawl_source', { source: 'docs' })
  expect(begun.structuredContent).toMatchObject({ status: 'CRAWLING' })
  expect(await callForText('recrawl_source', { source: 'docs', name: 'free' })).toMatch(/^Error \(CRAWL_RUNNING\)/)
  expect(await store.listSources()).toEqual([other, source])
})

test('status words and counts agree between tools, during a crawl and after it', async () => {
  const paths = ['/a', '/b', '/c', '/d']
  const site = await openTestSite({
    '/': { body: page('Start', paths), delayMs: 400 },
    ...Object.fromEntries(paths.map((path) => [path, { body: page(path), delayMs: 400 }])),
  })
  const { call, callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  await addSource(await library(), { url: `${site.origin}/`, name: 'docs' })
  const report = async () => {
    const { structuredContent } = await call('crawl_status', { source: 'docs' })
    return (structuredContent as { report: Record<string, number | string | boolean> }).report
  }
  const begin = async () => (await call('recrawl_source', { source: 'docs' })).structuredContent
  const isOver = ({ isRunning }: { isRunning?: unknown }) => isRunning === false

  // A crawl stopped before it has read anything leaves the source as never crawled.
  expect(await begin()).toMatchObject({ status: 'CRAWLING' })
  await call('cancel_crawl', { source: 'docs' })
  expect(await until(report, isOver)).toMatchObject({ status: 'PENDING', pagesCrawled: 0 })
  expect(await callForText('crawl_status', { source: 'docs' })).toMatch(/^Last crawl: never$/m)
  expect(await callForText('list_sources')).toMatch(
    / — PENDING — PARTIAL: interrupted: 1 address not read; .* — 0 pages, 0 chunks — never crawled — /,
  )

  expect(await begin()).toMatchObject({ status: 'CRAWLING' })
  expect(await report()).toMatchObject({ status: 'CRAWLING' })
  expect(await callForText('list_sources')).toMatch(/ — CRAWLING — .* — never crawled — /)
  expect(await until(report, isOver)).toMatchObject({ status: 'INDEXED', pagesCrawled: 5, pagesSkipped: 0 })

  expect(await begin()).toMatchObject({ status: 'UPDATING' })
  expect(await callForText('list_sources')).toMatch(/ — UPDATING — .* — last crawled \S+Z — /)
  const running = await until(report, ({ pagesSkipped, isRunning }) => Number(pagesSkipped) > 0 || isRunning === false)
  expect(running).toMatchObject({ status: 'UPDATING', pagesCrawled: 0, isRunning: true })
  expect(await callForText('crawl_status', { source: 'docs' })).toMatch(/^Progress: [1-5]\/[1-5] pages crawled/m)
  expect(await until(report, isOver)).toMatchObject({ status: 'INDEXED', pagesCrawled: 0, pagesSkipped: 5 })

  // A stopped crawl does not change the status of the source.
  await begin()
  await call('cancel_crawl', { source: 'docs' })
  expect(await until(report, isOver)).toMatchObject({ status: 'INDEXED' })
})

test('a crawl above the limit is refused and leaves no source behind', async () => {
  const site = await openTestSite({ '/a/': { body: page('A'), delayMs: 2000 }, '/b/': page('B') })
  const { call, callForText, library } = await connect({
    openJobs: async (opened) => createJobs(opened, { maxRunning: 1 }),
  })
  await call('add_source', { url: `${site.origin}/a/`, name: 'a' })
  expect(await callForText('add_source', { url: `${site.origin}/b/`, name: 'b' })).toMatch(
    /^Error \(JOBS_FULL\): 1 crawl is .* – wait for one of them to end.*cancel_crawl/,
  )
  expect((await (await library()).store.listSources()).map(({ name }) => name)).toEqual(['a'])
  expect(await callForText('recrawl_source', { source: 'a' })).toMatch(/^Error \(CRAWL_RUNNING\)/)
})
