import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseRepetitions } from '../library-location.ts'
import { createCrawlFixture, UNPACED } from './crawl.ts'
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
    { numRuns: chooseRepetitions(300, 20, 5) },
  )
})
