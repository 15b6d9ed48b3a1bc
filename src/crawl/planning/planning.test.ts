import { expect, test } from 'vitest'
import type { CrawlEvent } from '../events.ts'
import { type CompletedVisit, type CrawlPlanner, EMPTY_STEP } from './planner.ts'
import { Planning } from './planning.ts'

const START = 'https://news.example/'
const SITE = { startUrl: START, siteUrl: START, isResumed: false }
const FIND = { url: START, key: START, depth: 1, foundOn: null, discovery: 'link' } as const
const VISIT: CompletedVisit = {
  ...{ url: START, key: START, depth: 0, discovery: 'manual', state: 'indexed', reason: null, status: 200 },
  ...{ target: null, page: null, classification: null, kind: 'hub', links: [] },
}

/** Creates a `Planning` whose planner has the given methods. */
function createPlanning(given: Partial<CrawlPlanner>) {
  const events: CrawlEvent[] = []
  const offered: string[] = []
  const planner: CrawlPlanner = {
    begin: async () => EMPTY_STEP,
    weigh: () => 7,
    refuse: () => null,
    noteListed: () => {},
    noteSeeded: async () => [],
    noteVisit: async () => EMPTY_STEP,
    idle: async () => EMPTY_STEP,
    end: async () => EMPTY_STEP,
    ...given,
  }
  const offer = async (urls: readonly string[]) => {
    offered.push(...urls)
    return { waiting: urls.slice(0, 1), admitted: 1 }
  }
  const planning = new Planning({
    planner,
    startUrl: START,
    offer,
    prioritize: async () => {},
    tell: (event) => events.push(event),
  })
  return { planning, events, offered }
}

test('a planner that throws is switched off and reported once', async () => {
  const { planning, events } = createPlanning({
    weigh: () => {
      throw new Error('no idea')
    },
  })
  expect(planning.weigh(FIND)).toBe(0)
  expect(planning.weigh(FIND)).toBe(0)
  expect(await planning.idle()).toBe(false)
  expect(events).toMatchObject([{ type: 'problem', kind: 'intelligent-plan-failed', target: START }])
})

test('calls to the planner run one at a time', async () => {
  const order: string[] = []
  const { planning } = createPlanning({
    begin: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push('begin')
      return EMPTY_STEP
    },
    noteVisit: async ({ url }) => {
      order.push(url)
      return EMPTY_STEP
    },
  })
  const first = planning.begin(SITE)
  const second = planning.noteVisit(VISIT, () => undefined)
  await Promise.all([first, second])
  expect(order).toEqual(['begin', START])
})

test('seeds are offered before their events are emitted, and the planner learns which of them wait', async () => {
  const event: CrawlEvent = { type: 'plan', level: 1, message: 'seeded' }
  let seeded: readonly unknown[] = []
  const { planning, events, offered } = createPlanning({
    idle: async () => ({ seeds: ['a', 'b'], events: [] }),
    noteSeeded: async (...given) => {
      seeded = given
      return [event]
    },
  })
  expect(await planning.idle()).toBe(true)
  expect([offered, seeded, events]).toEqual([['a', 'b'], [['a'], ['b']], [event]])
})

test('the planner is ended once and not called afterwards', async () => {
  let ends = 0
  const { planning } = createPlanning({
    end: async () => {
      ends++
      return { seeds: ['late'], events: [] }
    },
  })
  await planning.end(true)
  await planning.end(true)
  expect([ends, planning.weigh(FIND), await planning.idle()]).toEqual([1, 0, false])
})

test('addresses from the user or the planner are never refused', () => {
  const refusal = { reason: 'hub-cap', pattern: null, target: null } as const
  const { planning } = createPlanning({ refuse: () => refusal })
  expect(planning.refuse(FIND)).toBe(refusal)
  expect(planning.refuse({ ...FIND, discovery: 'manual' })).toBeNull()
  expect(planning.refuse({ ...FIND, discovery: 'planner' })).toBeNull()
})
