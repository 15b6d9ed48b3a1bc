import { expect, test } from 'vitest'
import { createCrawlFixture } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'

/* The age at which a page is fetched again depends on its class, which was stored with the page. */

const DAY_MS = 86_400_000
const STORIES = Array.from({ length: 12 }, (_, i) => `/world/2026/02/${String(i + 10)}/the-story-of-number-${i}`)

function story(path: string): string {
  const sentence = `The government said on Monday that talks about ${path} would go on after the vote of last week.`
  const paragraphs = Array.from(
    { length: 12 },
    (_, i) => `<p>${sentence} ${sentence} That was part ${i} of it.</p>`,
  ).join('')
  return `<!doctype html><html lang="en"><head><title>A story: ${path}</title><meta property="og:type" content="article">
<meta property="article:published_time" content="2026-02-10"></head>
<body><article><h1>A story: ${path}</h1>${paragraphs}</article></body></html>`
}

test('articles and hubs have separate refetch windows', async () => {
  const pages = Object.fromEntries(STORIES.map((path) => [path, story(path)]))
  const { site, library, source, crawl } = await createCrawlFixture({
    ...pages,
    '/': page('Home', ['/world']),
    '/world': page('World', STORIES),
  })
  await crawl()
  const kindOf = (path: string) => library.kindOf({ sourceId: source.id, key: `${site.origin}${path}` })
  expect(await kindOf('/world')).toBe('hub')
  for (const path of STORIES) expect(await kindOf(path), path).toBe('article')

  site.clearRequests()
  await crawl({ kind: 'recrawl', maxAgeMs: 0, maxAgeMsOf: { article: DAY_MS } })
  expect(site.requestedPaths()).toContain('/world')
  expect(site.requestedPaths().filter((path) => STORIES.includes(path))).toEqual([])

  site.clearRequests()
  await crawl({ kind: 'recrawl', maxAgeMs: 0, maxAgeMsOf: { hub: DAY_MS } })
  expect(site.requestedPaths()).not.toContain('/world')
  expect(site.requestedPaths().filter((path) => STORIES.includes(path))).toEqual(STORIES)
})
