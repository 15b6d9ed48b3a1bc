import { expect, test } from 'vitest'
import type { Dispatcher, JobView } from '../library/jobs/dispatcher.ts'
import { createFeed } from '../library/jobs/events/create-feed.ts'
import { createCrawlHistory } from './crawl-history.ts'

function createDispatcher() {
  let jobs: JobView[] = []
  const dispatcher: Pick<Dispatcher, 'list' | 'feed'> = {
    list: () => jobs,
    feed: createFeed({ epoch: 'test', clock: { now: () => 0, sleep: async () => {} } }),
  }
  const report = (id: string, visited: number, status = 'running') => {
    jobs = [{ id, status, progress: { visited, errors: 1, queueSize: 5 } } as unknown as JobView]
  }
  return { dispatcher, report }
}

test('keeps samples from the beginning of a run of any length, and forgets crawls that ended', () => {
  const { dispatcher, report } = createDispatcher()
  let now = 0
  const history = createCrawlHistory(dispatcher, () => now)
  for (let second = 0; second < 36_000; second++) {
    now = second * 1000
    report('a', second)
    history.read([])
  }
  const [{ id, samples } = { id: '', samples: [] }] = history.read([])
  expect(id).toBe('a')
  expect(samples[0]).toEqual({ at: 0, visited: 0, errors: 1, queueSize: 5 })
  expect(samples.at(-1)?.visited).toBeGreaterThan(35_000)
  expect(samples.length).toBeGreaterThan(100)
  expect(samples.length).toBeLessThan(241)
  report('a', 36_000, 'done')
  expect(history.read([])).toEqual([])
  history.close()
})

test('begins anew when the counters do, as after a restart of the process', () => {
  const { dispatcher, report } = createDispatcher()
  let now = 0
  const history = createCrawlHistory(dispatcher, () => now)
  report('a', 10)
  history.read([])
  now = 5000
  report('a', 3)
  expect(history.read([])[0]?.samples).toEqual([{ at: 5000, visited: 3, errors: 1, queueSize: 5 }])
  history.close()
})
