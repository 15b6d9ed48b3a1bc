import { expect } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import type { Crawled } from '../sites/crawl.ts'

/** An event of a plan. */
export type PlanEvent = Extract<CrawlEvent, { type: 'problem' | 'milestone' }>

/** Milestones in the order in which they were reached. */
export function milestonesOf({ events }: Pick<Crawled, 'events'>): PlanEvent[] {
  return events.filter((event): event is PlanEvent => event.type === 'milestone')
}

/** Problems of a kind, in order. */
export function problemsOf({ events }: Pick<Crawled, 'events'>, kind: string): PlanEvent[] {
  return events.filter((event): event is PlanEvent => event.type === 'problem' && event.kind === kind)
}

/** Paths of hubs that were reported as missing, sorted, with duplicates. */
export function missingOf(crawled: Pick<Crawled, 'events'>, origin: string): string[] {
  return problemsOf(crawled, 'missing-hub')
    .map(({ target }) => target?.replace(origin, '') ?? '')
    .sort(compareUtf8)
}

/** Milestones of the planner, in their only possible order. */
const PLANNED = ['patterns-learned', 'hubs-seeded', 'seeds-prepared', 'cache-primed', 'full-understanding']

/**
 * Replays the events and computes when each milestone was due. Each must come right after the event that completes it, before any other
 * visit ends, except visits in flight at the same time.
 */
export function expectMilestonesInTime(
  { events }: Pick<Crawled, 'events'>,
  start: string,
  concurrency: number,
  isFirst = true,
): void {
  // Other visits may end while the visit that completes a milestone is being written.
  const slack = concurrency - 1
  const kinds = milestonesOf({ events }).map(({ kind }) => kind)
  expect(kinds, 'each milestone is reported once').toEqual([...new Set(kinds)])
  expect(
    kinds.filter((kind) => PLANNED.includes(kind)),
    'the milestones are in order',
  ).toEqual(PLANNED.filter((kind) => kinds.includes(kind)))
  const indexOf = (kind: string) => events.findIndex((event) => event.type === 'milestone' && event.kind === kind)
  const last = (isMatch: (event: CrawlEvent) => boolean, end = events.length) =>
    events.slice(0, end).findLastIndex(isMatch)
  const isVisitOf = (event: CrawlEvent, url: string) => event.type === 'settled' && event.url === url
  const seeds = events.flatMap((event) =>
    event.type === 'enqueued' && event.discovery === 'planner' ? [event.url] : [],
  )

  if (kinds.includes('patterns-learned')) {
    const learned = indexOf('patterns-learned')
    expect(
      last((event) => isVisitOf(event, start), learned),
      'patterns are learned from the start page',
    ).toBeGreaterThan(-1)
    const lastSitemap = last((event) => event.type === 'discovery' && event.discovery === 'sitemap')
    expect(lastSitemap, 'patterns are learned from the sitemaps').toBeLessThan(learned)
  }
  if (kinds.includes('hubs-seeded')) {
    const seeded = indexOf('hubs-seeded')
    const before = events.slice(0, seeded)
    const first = before.findIndex((event) => event.type === 'enqueued' && event.discovery === 'planner')
    expect(first, 'a seed was enqueued before').toBeGreaterThan(-1)
    expect(settledBetween(events, first, seeded), 'reported with the first seeds').toBeLessThanOrEqual(slack)
  }
  if (kinds.includes('seeds-prepared')) {
    const prepared = indexOf('seeds-prepared')
    const lastSeed = last((event) => event.type === 'enqueued' && event.discovery === 'planner')
    expect(lastSeed, 'no seed is enqueued later').toBeLessThan(prepared)
  }
  if (kinds.includes('cache-primed')) {
    const primed = indexOf('cache-primed')
    const answered = new Set(events.slice(0, primed).flatMap((event) => (event.type === 'settled' ? [event.url] : [])))
    expect(
      seeds.filter((url) => !answered.has(url)),
      'every seed was visited',
    ).toEqual([])
  }
  if (!isFirst) {
    expect(indexOf('depth2-coverage'), 'an earlier crawl has reached it').toBe(-1)
    return
  }
  expectCounted(events, indexOf('depth2-coverage'), 10, isDepth2Page(events), slack)
  expectCounted(events, indexOf('downloads-1k'), 1000, (event) => event.type === 'settled' && event.bytes > 0, slack)
}

/** Expects a milestone right after the nth event of a kind, and none when there are fewer. */
function expectCounted(
  events: readonly CrawlEvent[],
  at: number,
  threshold: number,
  isCounted: (event: CrawlEvent) => boolean,
  slack: number,
): void {
  let count = 0
  const due = events.findIndex((event) => isCounted(event) && ++count === threshold)
  if (due === -1) expect(at, `only ${count} of ${threshold}`).toBe(-1)
  else {
    expect(at, `the ${threshold}th is event ${due}`).toBeGreaterThan(due)
    expect(settledBetween(events, due, at), 'reported at once').toBeLessThanOrEqual(slack)
  }
}

/** Creates a check for events that end the visit of a page two links away from the start. */
function isDepth2Page(events: readonly CrawlEvent[]): (event: CrawlEvent) => boolean {
  const depths = new Map(events.flatMap((event) => (event.type === 'begun' ? [[event.url, event.depth] as const] : [])))
  return (event) =>
    event.type === 'settled' && ['indexed', 'unchanged'].includes(event.state) && depths.get(event.url) === 2
}

/** Number of visits that ended between two events. */
function settledBetween(events: readonly CrawlEvent[], from: number, to: number): number {
  return events.slice(from + 1, to).filter(({ type }) => type === 'settled').length
}
