import { expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { DiskStore, LibraryStore } from '../../src/library/ports/library-store.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'

/** Contract of every store that keeps the texts that a crawl replaces. */
export function describeEarlierPages(open: () => Promise<LibraryStore & DiskStore>): void {
  test('pages that a crawl changed are listed in byte order, with their texts except long ones', async () => {
    const store = await open()
    await addSourceTo(store, 'docs')
    expect((await store.readEarlierPages('docs')).isComplete).toBe(false)
    await store.beginCrawl(crawlOf('first', 1), 1)
    const paths = ['/b', '/B', '/ä', '/a', '/long']
    const writeAll = async (textOf: (path: string) => string) => {
      for (const path of paths) await writePage(store, 'docs', path, textOf(path))
    }
    await writeAll((path) => (path === '/long' ? 'long '.repeat(300_000) : `old ${path}`))
    await writeAll((path) => `new ${path}`)
    const { pages, isComplete, readText } = await store.readEarlierPages('docs')
    const keys = pages.map(({ key }) => key)
    expect([isComplete, keys]).toEqual([true, [...keys].sort(compareUtf8)])
    const texts = await Promise.all(keys.map((key) => readText(key)))
    expect(texts).toEqual(['old /B', 'old /a', 'old /b', null, 'old /ä'])
    await store.beginCrawl(crawlOf('second', 10), 1)
    expect(await store.readEarlierPages('docs')).toMatchObject({ pages: [], isComplete: true })
  })
}

function crawlOf(id: string, startedAt: number): Crawl {
  return {
    id,
    sourceId: 'docs',
    kind: 'recrawl',
    state: 'running',
    options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
    runner: 'one',
    startedAt,
    heartbeatAt: startedAt,
    endedAt: null,
    summary: null,
  }
}
