import { describe, expect, test } from 'vitest'
import { PLACES } from '../../../test/plan/small-world.ts'
import type { Discovery } from '../../crawl/ledger-reasons.ts'
import type { CompletedVisit, PlanStep } from '../../crawl/planning/planner.ts'
import type { VisitedRow } from '../../library/ports/crawl-plans.ts'
import type { HubVerdict } from '../../library/ports/findings.ts'
import type { PlanMemory } from '../ports/plan-memory.ts'
import { createPlanner } from './create-planner.ts'
import type { PlannerSetup } from './planner-setup.ts'

const ORIGIN = 'https://news.example'
const START = `${ORIGIN}/`

/** A plan memory that lasts for one test. */
function createMemory(): PlanMemory & { readonly verdicts: Map<string, HubVerdict>; readonly reached: Set<string> } {
  const verdicts = new Map<string, HubVerdict>()
  const reached = new Set<string>()
  return {
    verdicts,
    reached,
    readPatterns: async () => [],
    writePatterns: async () => {},
    readVerdicts: async () => [...verdicts.values()],
    writeVerdicts: async (_, newVerdicts) => {
      for (const verdict of newVerdicts) verdicts.set(verdict.url, verdict)
    },
    sampleAddresses: async () => [],
    readMilestones: async () => [...reached],
    writeMilestones: async (_, kinds) => {
      for (const kind of kinds) reached.add(kind)
    },
  }
}

const visitOf = (path: string, links: readonly string[] | null, discovery: Discovery = 'link'): CompletedVisit => ({
  ...{ url: ORIGIN + path, key: ORIGIN + path, depth: path === '/' ? 0 : 1, discovery, target: null },
  ...{ state: links === null ? 'failed' : 'indexed', reason: links === null ? 'not-found' : null },
  ...{ status: links === null ? 404 : 200, page: null, classification: null, kind: links === null ? 'unknown' : 'hub' },
  links: (links ?? []).map((link) => ORIGIN + link),
})

/** Maps the paths of a site to their links; `undefined` for a path that does not exist. */
type Pages = (path: string) => readonly string[] | undefined

/** Visits the planner's seeds and the links of pages, one after the other. */
async function follow(pages: Pages, overrides: Partial<PlannerSetup> = {}) {
  const setup = { crawlId: 'c', sourceId: 's', startedAt: 1, clock: { now: () => 2 }, places: PLACES, ...overrides }
  const planner = createPlanner({ memory: createMemory(), ...setup })
  const events: PlanStep['events'][number][] = []
  const seeds: string[] = []
  const queue: { readonly path: string; readonly discovery: Discovery }[] = [{ path: '/', discovery: 'manual' }]
  const known = new Set(['/'])
  const applyStep = async (step: PlanStep) => {
    events.push(...step.events)
    const fresh = step.seeds.map((url) => url.replace(ORIGIN, '')).filter((path) => !known.has(path))
    for (const path of fresh) known.add(path)
    seeds.push(...fresh)
    queue.unshift(...fresh.map((path) => ({ path, discovery: 'planner' as const })))
    const isFresh = (url: string) => fresh.includes(url.replace(ORIGIN, ''))
    if (step.seeds.length > 0) {
      events.push(
        ...(await planner.noteSeeded(
          step.seeds.filter(isFresh),
          step.seeds.filter((url) => !isFresh(url)),
        )),
      )
    }
  }
  await applyStep(await planner.begin({ startUrl: START, siteUrl: START, isResumed: false }))
  do {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { path, discovery } = next
      const links = pages(path) ?? null
      for (const link of links ?? []) {
        if (known.has(link)) continue
        known.add(link)
        const url = ORIGIN + link
        planner.weigh({ url, key: url, depth: 1, foundOn: ORIGIN + path, discovery: 'link' })
        queue.push({ path: link, discovery: 'link' })
      }
      await applyStep(await planner.noteVisit(visitOf(path, links, discovery), (url) => url))
    }
    await applyStep(await planner.idle())
  } while (queue.length > 0)
  events.push(...(await planner.end(true)).events)
  return {
    seeds,
    missing: events.flatMap((event) =>
      event.type === 'problem' && event.kind === 'missing-hub' ? [event.target] : [],
    ),
    milestones: events.flatMap((event) => (event.type === 'milestone' ? [event.kind] : [])),
  }
}

/** Links that make a page a hub, plus the given ones. */
const hub = (path: string, more: readonly string[] = []) => [
  ...more,
  ...Array.from({ length: 12 }, (_, n) => `${path}/2026/11/0${(n % 9) + 1}/something-that-happened-there-${n}`),
]

describe('region hubs', () => {
  const listed = ['texas', 'ohio', 'georgia', 'utah'].map((slug) => `/us/${slug}`)

  test('the regions of a country are guessed, and missing ones are reported', async () => {
    const pages: Pages = (path) => {
      if (path === '/') return hub('/', listed)
      return [...listed, '/us/florida'].includes(path) ? hub(path) : undefined
    }
    const { seeds, missing, milestones } = await follow(pages)
    expect(seeds).toEqual(['/us/florida', '/us/new-mexico'])
    expect(missing).toEqual([`${ORIGIN}/us/new-mexico`])
    expect(milestones).toContain('cache-primed')
    expect(milestones).not.toContain('full-understanding')
  })

  test('missing regions are not reported if the site has none of the guessed ones', async () => {
    const pages: Pages = (path) => (path === '/' ? hub('/', listed) : listed.includes(path) ? hub(path) : undefined)
    expect(await follow(pages)).toMatchObject({ seeds: ['/us/florida', '/us/new-mexico'], missing: [] })
  })
})

describe('country hubs in further sections', () => {
  const countries = ['china', 'india', 'united-states', 'france', 'germany']
  const hubsIn = (section: string) => countries.map((slug) => `/${section}/${slug}`)
  const others = ['sport', 'film'].flatMap((section) => ['', '/a', '/b', '/c'].map((path) => `/${section}${path}`))
  const home = [...hubsIn('world'), ...hubsIn('politics'), ...others]

  const site = (has: (path: string) => boolean): Pages => {
    return (path) => (path === '/' ? hub('/', home) : home.includes(path) || has(path) ? hub(path) : undefined)
  }

  test('the planner tries other sections if two sections have country hubs', async () => {
    const { seeds, missing } = await follow(site((path) => /^\/sport\/[^/]+$/.test(path)))
    expect(seeds.filter((path) => path.startsWith('/sport/')).length).toBeGreaterThan(3)
    expect(seeds.filter((path) => path.startsWith('/film/'))).toEqual(['/film/china'])
    expect(missing).toEqual([])
  })

  test('the planner tries no other sections if only one section has country hubs', async () => {
    const pages: Pages = (path) => {
      const links = [...hubsIn('world'), ...others]
      return path === '/' ? hub('/', links) : links.includes(path) ? hub(path) : undefined
    }
    const { seeds } = await follow(pages)
    expect(seeds.filter((path) => /^\/(?:sport|film)\//.test(path))).toEqual([])
  })
})

test('a resumed crawl does not report what an interrupted run has already reported', async () => {
  const memory = createMemory()
  const links = ['/world/china', '/world/india', '/world/france', '/world/japan']
  const setup = { crawlId: 'c', sourceId: 's', startedAt: 1, clock: { now: () => 2 }, places: PLACES, memory }
  const planner = createPlanner({ ...setup, options: { maxSeeds: 1 } })
  await planner.begin({ startUrl: START, siteUrl: START, isResumed: false })
  for (const link of links) {
    planner.weigh({ url: ORIGIN + link, key: ORIGIN + link, depth: 1, foundOn: START, discovery: 'link' })
  }
  await planner.noteVisit(visitOf('/', links, 'manual'), (url) => url)
  const { events } = await planner.noteVisit(visitOf('/world/japan', null), (url) => url)
  expect(events).toMatchObject([{ type: 'problem', kind: 'missing-hub', target: `${ORIGIN}/world/japan` }])
  // The crawl is interrupted here; the resumed one reads from memory what was reported.
  expect(memory.verdicts.get(`${ORIGIN}/world/japan`)?.state).toBe('missing')
  expect([...memory.reached]).toEqual(['patterns-learned'])

  const row: Omit<VisitedRow, 'url'> = {
    ...{ discovery: 'link', state: 'failed', reason: 'not-found', status: 404, kind: 'unknown' },
    readLinks: async () => [],
  }
  async function* listVisited(): AsyncGenerator<VisitedRow> {
    for (const link of links) yield { ...row, url: ORIGIN + link }
  }
  const resumedPlanner = createPlanner({ ...setup, listVisited })
  const resumed = await resumedPlanner.begin({ startUrl: START, siteUrl: START, isResumed: true })
  const reported = resumed.events.flatMap((event) => (event.type === 'problem' ? [event.target] : []))
  expect(reported).toEqual(links.slice(0, 3).map((link) => ORIGIN + link))
})

test('a resumed crawl counts earlier guesses against the seed limit', async () => {
  const memory = createMemory()
  const links = ['/world/china', '/world/india', '/world/france']
  const setup = { crawlId: 'c', sourceId: 's', startedAt: 1, clock: { now: () => 2 }, places: PLACES, memory }
  const options = { maxSeeds: 3 }
  async function* listVisited(): AsyncGenerator<VisitedRow> {
    const answer = { state: 'indexed', reason: null, status: 200, kind: 'hub', readLinks: async () => [] } as const
    for (const link of links) yield { ...answer, discovery: 'link', url: ORIGIN + link }
    for (const slug of ['germany', 'japan']) yield { ...answer, discovery: 'planner', url: `${ORIGIN}/world/${slug}` }
  }
  memory.reached.add('patterns-learned').add('hubs-seeded')
  const planner = createPlanner({ ...setup, options, listVisited })
  const { seeds } = await planner.begin({ startUrl: START, siteUrl: START, isResumed: true })
  expect(seeds).toHaveLength(1)
})

test('an address counts once, however often lists, links and earlier crawls name it', async () => {
  const links = ['/world/politics/1', '/world/politics/2', '/world/politics/3']
  const sampled = links.map((path) => ({ url: ORIGIN + path, kind: 'article', isPage: true }) as const)
  const memory = { ...createMemory(), sampleAddresses: async () => sampled }
  const planner = createPlanner({
    ...{ crawlId: 'c', sourceId: 's', startedAt: 1, clock: { now: () => 2 }, places: PLACES, memory },
  })
  await planner.begin({ startUrl: START, siteUrl: START, isResumed: false })
  planner.noteListed(
    links.map((path) => ORIGIN + path),
    'sitemap',
  )
  for (const path of links) {
    const url = ORIGIN + path
    planner.weigh({ url, key: url, depth: 1, foundOn: START, discovery: 'link' })
  }
  const { events } = await planner.noteVisit(visitOf('/', links, 'manual'), (url) => url)
  const [learned] = events.filter((event) => event.type === 'milestone')
  expect(learned?.kind).toBe('patterns-learned')
  expect(learned?.details['patterns']).toContainEqual(
    expect.objectContaining({ pattern: '/world/{slug}/{number}', seen: 3 }),
  )
})

test('only the start page counts as the home page, not another given page', async () => {
  const planner = createPlanner({
    ...{ crawlId: 'c', sourceId: 's', startedAt: 1, clock: { now: () => 2 }, places: PLACES, memory: createMemory() },
  })
  await planner.begin({ startUrl: START, siteUrl: START, isResumed: false })
  const given = { ...visitOf('/elsewhere', []), depth: 0, discovery: 'manual' } as const
  const moved = { ...visitOf('/moved', []), depth: 0, discovery: 'redirect' } as const
  for (const visit of [given, moved]) expect((await planner.noteVisit(visit, (url) => url)).events).toEqual([])
  const start = { ...visitOf('/', []), state: 'skipped', reason: 'redirect', target: `${ORIGIN}/en/` } as const
  expect((await planner.noteVisit(start, (url) => url)).events).toEqual([])
  const home = await planner.noteVisit({ ...visitOf('/en/', []), depth: 0, discovery: 'redirect' }, (url) => url)
  expect(home.events).toMatchObject([{ kind: 'patterns-learned' }, { type: 'plan' }, { kind: 'no-hubs-seeded' }])
})
