import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseRepetitions } from '../library-location.ts'
import { createCrawlFixture, statesOf, UNPACED } from './crawl.ts'
import { type Answer, page, redirect } from './site.ts'

const PATHS = ['/a', '/a/b', '/c', '/d', '/d/e', '/f/g', '/h', '/i']
const OUTCOMES = [
  'own',
  'same',
  'missing',
  'removed',
  'redirect',
  'noindex',
  'canonical',
  'broken',
  'unlinked',
] as const
type Outcome = (typeof OUTCOMES)[number]

/** The answer of the site at a path. */
function answerOf(path: string, outcome: Outcome): Answer {
  switch (outcome) {
    case 'same':
      return page('The same')
    case 'missing':
      return { status: 404, body: 'missing' }
    case 'removed':
      return { status: 410, body: 'removed' }
    case 'broken':
      return { status: 400, body: 'broken' }
    case 'redirect':
      return redirect('/a')
    case 'noindex':
      return page(`Hidden ${path}`, [], '<meta name="robots" content="noindex">')
    case 'canonical':
      return page(`Another ${path}`, [], '<link rel="canonical" href="/c">')
    default:
      return page(`Page ${path}`)
  }
}

function siteOf(outcomes: readonly Outcome[]): Map<string, Answer> {
  const linked = PATHS.filter((_, i) => outcomes[i] !== 'unlinked')
  return new Map([
    ['/', page('Start', linked)],
    ...PATHS.map((path, i): [string, Answer] => [path, answerOf(path, outcomes[i] ?? 'own')]),
  ])
}

const runArbitrary = fc.record({
  kind: fc.constantFrom('recrawl', 'refresh', 'retry'),
  maxPages: fc.option(fc.integer({ min: 1, max: 9 })),
  outcomes: fc.array(fc.constantFrom(...OUTCOMES), { minLength: PATHS.length, maxLength: PATHS.length }),
})

type Run = typeof runArbitrary extends fc.Arbitrary<infer T> ? T : never

/** Outcomes of all paths: the given ones, then `own`. */
function withOwn(...outcomes: readonly Outcome[]): Outcome[] {
  return PATHS.map((_, i) => outcomes[i] ?? 'own')
}

/**
 * Sequences whose second run reaches the page cap while `/a/b` waits to be read again, because `/d` no longer has the content of both. In
 * the first sequence `/a/b` has an earlier page, in the second it has none.
 */
const CAPPED_DUPLICATES = (['own', 'missing'] as const).map((before): [Run[]] => [
  [
    { kind: 'recrawl', maxPages: null, outcomes: withOwn('own', before, 'own', 'same') },
    { kind: 'recrawl', maxPages: 2, outcomes: withOwn('missing', 'same', 'redirect') },
    { kind: 'recrawl', maxPages: null, outcomes: withOwn() },
  ],
])

test('the counts of a run add up to the states of its addresses, whatever a site answers', async () => {
  const runs = fc.array(runArbitrary, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(runs, async (sequence) => {
      const { crawl, site } = await createCrawlFixture({}, { limits: { ...UNPACED, lossPages: 3 } })
      for (const [i, { kind, maxPages, outcomes }] of sequence.entries()) {
        for (const [path, answer] of siteOf(outcomes)) site.pages.set(path, answer)
        // The crawl function of the fixture checks the counts of every crawl.
        const { summary } = await crawl({ kind: i === 0 ? 'add' : kind, scope: { maxPages } })
        const { visited, indexed, unchanged, skipped, failed, removed } = summary
        const settled = indexed + unchanged + skipped + failed
        expect(visited).toBeGreaterThanOrEqual(settled)
        expect(visited).toBeLessThanOrEqual(settled + removed)
      }
    }),
    { numRuns: chooseRepetitions(300, 20, 5), examples: CAPPED_DUPLICATES },
  )
})

test.each([
  ['with an earlier page', page('Earlier'), 'unchanged'],
  ['without a page', { status: 404 }, 'skipped page-cap'],
] as const)(
  'a duplicate %s counts as unread when its target loses the content and the page cap is reached',
  async (_name, before, state) => {
    const start = page('Start', ['/a/b', '/d', '/h'])
    const pages = { '/': start, '/a/b': before, '/d': page('The same'), '/h': page('Third') }
    const { crawl, site } = await createCrawlFixture(pages, { limits: UNPACED })
    await crawl()
    site.pages.set('/a/b', page('The same'))
    site.pages.set('/d', page('New'))
    const capped = await crawl({ kind: 'recrawl', scope: { maxPages: 2 } })
    expect(capped.events).toContainEqual(
      expect.objectContaining({ type: 'settled', url: `${site.origin}/a/b`, reason: 'duplicate' }),
    )
    expect(statesOf(capped)).toEqual({ '/': 'unchanged', '/a/b': state, '/d': 'indexed', '/h': 'unchanged' })
    const counts = { visited: 2, indexed: 1, unchanged: 1, skipped: 0, failed: 0, cappedAt: 2, unread: 2 }
    expect(capped.summary).toMatchObject(counts)

    const completed = await crawl({ kind: 'recrawl', scope: { maxPages: null } })
    expect(statesOf(completed)).toMatchObject({ '/a/b': 'indexed', '/d': 'unchanged' })
    expect(completed.summary).toMatchObject({ visited: 4, indexed: 1, unchanged: 3, cappedAt: null })
  },
)
