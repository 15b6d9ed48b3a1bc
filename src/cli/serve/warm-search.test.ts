import { describe, expect, test } from 'vitest'
import { createFeed } from '../../library/jobs/events/create-feed.ts'
import type { SearchAnswer } from '../../library/search.ts'
import { warmSearchDuringCrawls } from './warm-search.ts'

const clock = {
  now: () => Date.now(),
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}

function openPool() {
  let searches = 0
  return {
    get searches() {
      return searches
    },
    search: async () => {
      searches++
      return {} as unknown as SearchAnswer
    },
  }
}

describe('warmSearchDuringCrawls', () => {
  test('searches once when a crawl makes progress, and not again at once', async () => {
    const feed = createFeed({ epoch: 'test', clock })
    const pool = openPool()
    const stop = warmSearchDuringCrawls(feed, pool.search)
    feed.tell('log', 'job', { stream: 'server', line: 'nothing to search yet' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(pool.searches).toBe(0)
    for (const visited of [1, 2, 3]) feed.tell('progress', 'job', { visited })
    await expect.poll(() => pool.searches).toBe(1)
    feed.tell('progress', 'job', { visited: 4 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(pool.searches).toBe(1)
    stop()
  })

  test('searches again and again while a crawl makes progress, so that its chunks are indexed', async () => {
    const feed = createFeed({ epoch: 'test', clock })
    const pool = openPool()
    const stop = warmSearchDuringCrawls(feed, pool.search, 1)
    for (const searches of [1, 2, 3]) {
      await clock.sleep(5)
      feed.tell('progress', 'job', { visited: searches })
      await expect.poll(() => pool.searches).toBe(searches)
    }
    await clock.sleep(20)
    expect(pool.searches).toBe(3)
    stop()
  })

  test('waits for the end of a search that takes longer than the cool-down', async () => {
    const feed = createFeed({ epoch: 'test', clock })
    const running: (() => void)[] = []
    const search = () => new Promise<SearchAnswer>((resolve) => running.push(() => resolve({} as SearchAnswer)))
    const stop = warmSearchDuringCrawls(feed, search, 1)
    for (let visited = 0; visited < 5; visited++) {
      feed.tell('progress', 'job', { visited })
      await clock.sleep(10)
    }
    expect(running).toHaveLength(1)
    running[0]?.()
    await clock.sleep(10)
    feed.tell('progress', 'job', { visited: 5 })
    await expect.poll(() => running.length).toBe(2)
    stop()
  })

  test('a library that cannot be searched is no failure', async () => {
    const feed = createFeed({ epoch: 'test', clock })
    let searches = 0
    const stop = warmSearchDuringCrawls(feed, () => {
      searches++
      return Promise.reject(new Error('locked'))
    })
    feed.tell('progress', 'job', { visited: 1 })
    await expect.poll(() => searches).toBe(1)
    stop()
  })
})
