import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { Library } from '../../src/library/library.ts'
import { type RankedQuery, rankHits } from '../../src/library/search/ranked-hits.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'

/** A library of words alone with the given pages; chunks are separated by lines of dashes. */
async function createLibrary(pages: Readonly<Record<string, readonly string[]>>, source = 'docs'): Promise<Library> {
  const store = createMemoryStore()
  await addSourceTo(store, source)
  for (const [path, chunks] of Object.entries(pages)) await writePage(store, source, path, chunks.join('\n---\n'))
  // Ranking by words uses only this member of a library.
  return { store } as unknown as Library
}

const createQuery = (query: string, overrides: Partial<RankedQuery> = {}): RankedQuery => ({
  query,
  filter: {},
  fusion: 'words',
  explain: true,
  ...overrides,
})
const pathOf = ({ url }: { readonly url: string }) => new URL(url).pathname

describe('the bonus from a page', () => {
  test('ranks a page about the question before a page with one passage that has its words', async () => {
    const library = await createLibrary({
      '/mention': ['The retry waits.', 'Weather of the west coast.', 'Ships and boats of the harbour.'],
      '/about': ['The retry waits.', 'A retry waits for its turn.', 'Each retry waits longer.'],
    })
    const { hits } = await rankHits(library, createQuery('how long does a retry wait'), 0)
    expect(hits.map(pathOf)[0]).toBe('/about')
    expect(hits.filter(({ pageBonus = 0 }) => pageBonus > 0).map(pathOf)).toEqual(['/about', '/mention'])
    const mention = hits.find((hit) => pathOf(hit) === '/mention')
    const [best] = hits
    expect(best?.pageBonus).toBeGreaterThan(mention?.pageBonus ?? 0)
    expect(best?.score).toBeCloseTo((best?.explanation?.wordScore ?? 0) + (best?.pageBonus ?? 0), 10)
  })

  test('is small for a page of links', async () => {
    const links = (name: string) =>
      `[retry timeout of a worker queue](/${name}) [worker queue retry timeout](/${name}2)`
    const library = await createLibrary({
      '/contents': ['a', 'b', 'c', 'd'].map(links),
      '/answer': [
        'Set the timeout of a worker here, in the file that the program reads when it starts, or later by hand.',
        'The weather of the west.',
        'Ships and boats.',
      ],
    })
    const { hits } = await rankHits(library, createQuery('how do I set the retry timeout of a worker queue'), 0)
    expect(hits.map(pathOf)[0]).toBe('/answer')
  })

  test('is given once, although hits of the page come in several parts', async () => {
    const chunks = Array.from({ length: 40 }, (_, i) => `The retry waits ${i} times${' longer'.repeat(i % 7)}.`)
    const library = await createLibrary({ '/a': chunks, '/b': chunks.map((text) => `${text} Yes.`), '/c': chunks })
    const request = createQuery('how long does a retry wait')
    const first = await rankHits(library, request, 0)
    const second = await rankHits(library, request, 1, undefined, first.basis)
    expect(second.hits.length).toBeGreaterThan(0)
    const rewarded = [...first.hits, ...second.hits].filter(({ pageBonus = 0 }) => pageBonus > 0).map(pathOf)
    expect(rewarded.toSorted(compareUtf8)).toEqual(['/a', '/b', '/c'])
  })

  test('does not count the name of a source that the question prefers', async () => {
    const library = await createLibrary({
      '/why': ['Lumen has a proxy.', 'Lumen is fast, and Lumen is small.', 'Why Lumen? Lumen is Lumen.'],
      '/server': ['The proxy option of the server.', 'A proxy for each path of the server.', 'The port of the server.'],
    })
    const named = { sourceIds: new Set(['docs']), query: 'proxy' }
    const { hits } = await rankHits(library, createQuery('lumen proxy', { named }), 0)
    expect(hits.map(pathOf)[0]).toBe('/server')
  })
})
