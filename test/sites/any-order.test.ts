import { describe, expect, test } from 'vitest'
import { chooseRepetitions } from '../library-location.ts'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { type Answer, type AnswerParts, markdown, page, redirect, sitemap, text } from './site.ts'

/** Concurrency of each round. */
const CONCURRENCIES = chooseRepetitions([1, 2, 5, 16, 16, 16], [1, 2, 5, 16, 16, 16], [1, 16])

/** A site with every kind of page whose state also depends on another address. */
const site = (origin: string): Record<string, AnswerParts | string> => {
  const canonical = (url: string) => `<link rel="canonical" href="${url}">`
  const noindex = '<meta name="robots" content="noindex">'
  return {
    '/': page('Home', [
      '/copy/1',
      '/copy',
      '/long/way/1',
      '/r1',
      '/loop1',
      '/loop2',
      '/c.html',
      '/c',
      '/d.html',
      '/hub',
    ]),
    '/llms.txt': text('# Site\n\n- [Listed](/listed)\n- [Copy](/copy/2)\n- [Gone](/gone)\n'),
    '/sitemap.xml': sitemap([`${origin}/mapped`, `${origin}/copy/3?utm_source=map`, `${origin}/r2`]),
    '/copy': page('The same'),
    '/copy/1': page('The same', [], noindex),
    '/copy/2': page('The same'),
    '/copy/3': page('The same'),
    '/long/way/1': page('Way 1', ['/long/way/2']),
    '/long/way/2': page('Way 2', ['/long/way/3']),
    '/long/way/3': page('Way 3', ['/far']),
    '/hub': page('Hub', ['/far', '/copy', '/q?id=1', '/q?id=1&ref=x', '/blocked'], noindex),
    '/far': page('Far', ['/farther']),
    '/farther': page('Farther', ['/farthest']),
    '/farthest': page('Farthest'),
    '/q?id=1': page('One question'),
    '/q?id=1&ref=x': page('One question'),
    '/r1': redirect('/r2'),
    '/r2': redirect('/mapped'),
    '/loop1': redirect('/loop2'),
    '/loop2': redirect('/loop1'),
    '/c.html': page('C with an ending', [], canonical('/c')),
    '/c': page('C without one', [], canonical('/c.html')),
    '/d.html': page('D', [], canonical('/d')),
    '/listed.md': text(markdown('Listed'), 'text/markdown'),
    '/mapped': page('Mapped', ['/listed', '/d']),
  }
}

/** Delays each page by a few milliseconds, which depend on the seed. */
function withDelays(pages: Readonly<Record<string, AnswerParts | string>>, seed: number): Record<string, Answer> {
  const delayed = Object.entries(pages).map(([path, answer], i) => {
    const delayMs = (i * 7919 + seed * 104729) % 23
    return [path, { ...(typeof answer === 'string' ? { body: answer } : answer), delayMs }] as const
  })
  return Object.fromEntries(delayed)
}

describe('page order', () => {
  test.each([3, null])(
    'the ledger and the content are the same for every order in which pages answer, with depth limit %s',
    async (maxDepth) => {
      const outcomes: unknown[] = []
      for (const [seed, concurrency] of CONCURRENCIES.entries()) {
        const {
          crawl,
          library,
          source,
          site: server,
        } = await createCrawlFixture((origin) => withDelays(site(origin), seed), {
          scope: { maxDepth, block: ['/blocked'] },
          limits: { concurrency },
        })
        const crawled = await crawl()
        const withoutOrigin = (value: string | null) => value?.replace(server.origin, '') ?? null
        const states: Record<string, string> = statesOf(crawled)
        // Either of two pages that redirect to each other may be the one that closes the loop.
        expect(new Set([states['/loop1'], states['/loop2']])).toEqual(
          new Set(['failed redirect-loop', 'skipped redirect']),
        )
        const pages: unknown[] = []
        for await (const { key, page: stored } of library.store.listPages(source.id)) {
          pages.push([withoutOrigin(key), stored.markdown.replaceAll(server.origin, '')])
        }
        const rows = [...crawled.rows]
          .filter(([path]) => !path.startsWith('/loop'))
          .map(([path, { state, reason, pattern, target, depth }]) => [
            path,
            state,
            reason,
            pattern,
            withoutOrigin(target),
            // Without a depth limit the crawl does not wait for a shorter path, so depths may differ.
            maxDepth === null ? null : depth,
          ])
        outcomes.push({ rows, pages })
      }
      const [first, ...others] = outcomes
      for (const other of others) expect(other).toEqual(first)
    },
  )
})
