import { expect, test } from 'vitest'
import { createManualClock } from '../../../test/dispatch/manual-clock.ts'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import type { CrawlRequest } from '../jobs/dispatcher.ts'
import type { Library } from '../library.ts'
import { DEFAULT_SETTINGS } from '../source.ts'
import { keepRefreshing } from './keep-refreshing.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** A library with one source that is due an hour after the start. */
async function openFixture() {
  const clock = createManualClock()
  const store = createMemoryStore()
  const url = 'https://docs.test/'
  await store.addSource({
    ...{ id: 'docs', name: 'docs', version: null, url, siteUrl: url, scope: DEFAULT_SCOPE, createdAt: 0 },
    settings: DEFAULT_SETTINGS,
    refresh: { everyMs: DAY, dueAt: clock.now() + HOUR, attempts: 0, problem: null },
  })
  const runner = { id: 'here/1', isGone: () => false }
  // The loop uses these parts only.
  const library = { store, clock, runner, limits: { aliveMs: 1000 } } as unknown as Library
  const queued: CrawlRequest[] = []
  const warnings: string[] = []
  const dispatcher = {
    slots: 1,
    list: () => queued.map((request) => ({ ...request, sourceId: request.sourceId ?? null, endedAt: null })),
    enqueue: async (request: CrawlRequest) => {
      queued.push(request)
    },
  }
  const stop = new AbortController()
  const warn = (message: string) => void warnings.push(message)
  const run = (open: () => Promise<Library>) => keepRefreshing({ library: open, dispatcher, clock, warn }, stop.signal)
  return { clock, store, library, dispatcher, queued, warnings, stop, run }
}

test('a source is queued when it is due, once, as a recrawl that is marked as scheduled', async () => {
  const { clock, library, queued, warnings, stop, run } = await openFixture()
  const ended = run(async () => library)
  await clock.advance(HOUR - 1000)
  expect(queued).toEqual([])
  await clock.advance(2000)
  const args = ['--source=docs', '--kind=recrawl', '--options={}', '--scheduled']
  expect(queued).toEqual([{ url: 'https://docs.test/', sourceId: 'docs', args }])
  await clock.advance(2 * HOUR)
  expect(queued).toHaveLength(1)
  expect(warnings).toEqual([])
  stop.abort()
  await ended
})

test('a library that cannot be opened is reported once, and what is due is started when it is back', async () => {
  const { clock, library, queued, warnings, stop, run } = await openFixture()
  let isAway = true
  const ended = run(async () => {
    if (isAway) throw new Error('the database does not answer')
    return library
  })
  await clock.advance(2 * HOUR)
  expect(warnings).toEqual([expect.stringContaining('the database does not answer')])
  isAway = false
  await clock.advance(60_000)
  expect(queued).toHaveLength(1)
  stop.abort()
  await ended
})

test('nothing is claimed while no worker could run it, and a refused job is recorded and tried again later', async () => {
  const { clock, store, library, dispatcher, queued, stop, run } = await openFixture()
  dispatcher.slots = 0
  const { enqueue } = dispatcher
  dispatcher.enqueue = async () => {
    throw new Error('1000 crawls are waiting')
  }
  const ended = run(async () => library)
  await clock.advance(2 * HOUR)
  expect(await store.listSources()).toMatchObject([{ refresh: { attempts: 0, problem: null } }])
  dispatcher.slots = 1
  await clock.advance(60_000)
  expect(await store.listSources()).toMatchObject([{ refresh: { attempts: 1, problem: '1000 crawls are waiting' } }])
  dispatcher.enqueue = enqueue
  await clock.advance(HOUR / 2)
  expect(queued).toEqual([])
  await clock.advance(HOUR)
  expect(queued).toHaveLength(1)
  stop.abort()
  await ended
})

test('a local folder in a shared library is queued only while all workers are on its machine', async () => {
  const { clock, store, library, queued, stop, run } = await openFixture()
  await store.updateSource('docs', { settings: { ...DEFAULT_SETTINGS, machine: 'here' } })
  let names = ['here/1', 'there/2']
  const list = async () => names.map((name) => ({ name, silentMs: 0 }))
  const workers = { list, listJobs: async () => [] } as unknown as NonNullable<Library['workers']>
  const ended = run(async () => ({ ...library, workers }))
  await clock.advance(2 * HOUR)
  expect(queued).toEqual([])
  names = ['here/1', 'here/3']
  await clock.advance(60_000)
  expect(queued).toHaveLength(1)
  stop.abort()
  await ended
})
