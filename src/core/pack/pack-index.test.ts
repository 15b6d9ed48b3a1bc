import { expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import { runSteps, type Steps } from '../search/steps.ts'
import { writeIndexJson } from './index-json.ts'
import { createPack, type Pack } from './pack.ts'
import { PackIndex } from './pack-index.ts'
import { PackSearch } from './search-pack.ts'

const utf8 = new TextEncoder()

/** A pack of files with similar text, so that many chunks have the same score. */
function createUniformPack(count: number): Pack {
  return createPack(
    Array.from({ length: count }, (_, i) => {
      const path = `notes/${String(i).padStart(6, '0')}.md`
      return chunkFile({ path, bytes: utf8.encode(`# Kiln\n\nThe glaze of bowl ${i % 7}.\n`) })
    }),
  )
}

const textOf = (pieces: Iterable<Uint8Array>) => Buffer.concat([...pieces]).toString()

/** Runs up to `maxSteps` steps and returns how many it ran. */
function countSteps(steps: Steps<unknown>, maxSteps = Number.POSITIVE_INFINITY): number {
  let count = 0
  while (count < maxSteps && !steps.next().done) count++
  return count
}

test('a shared index serves searches and index.json, in either order, with the same results as two indexes', () => {
  const pack = createUniformPack(200)
  const expectedJson = textOf(writeIndexJson(pack))
  const hits = new PackSearch(pack).search('glaze bowl', { limit: 50 })
  for (const isSearchedFirst of [true, false]) {
    const index = new PackIndex(pack)
    const search = new PackSearch(pack, index)
    if (isSearchedFirst) expect(search.search('glaze bowl', { limit: 50 })).toEqual(hits)
    expect(textOf(writeIndexJson(pack, index))).toBe(expectedJson)
    expect(search.search('glaze bowl', { limit: 50 })).toEqual(hits)
  }
})

test('postings are in the order of ids, and hits with equal scores in the order of refs', () => {
  const pack = createUniformPack(60)
  const { kiln } = (JSON.parse(textOf(writeIndexJson(pack))) as Parsed).inverted_index
  const ids = kiln?.postings.map((posting) => posting.chunk_id)
  expect(ids).toEqual(pack.chunks.map(({ id }) => id).sort())
  expect(ids).not.toEqual(pack.chunks.map(({ id }) => id))
  const hits = new PackSearch(pack).search('kiln', { limit: 60 })
  expect(new Set(hits.map(({ score }) => score)).size).toBe(1)
  expect(hits.map(({ chunkRef }) => chunkRef)).toEqual(pack.refs)
})

interface Parsed {
  readonly inverted_index: Readonly<Record<string, { readonly postings: readonly { readonly chunk_id: string }[] }>>
}

test('hits with equal scores are in the order of refs even if the chunks are not', () => {
  const pack = createUniformPack(40)
  const reversed: Pack = { ...pack, chunks: pack.chunks.toReversed(), refs: pack.refs.toReversed() }
  expect(new PackSearch(reversed).search('kiln', { limit: 40 })).toEqual(
    new PackSearch(pack).search('kiln', { limit: 40 }),
  )
})

test('the index is built in many steps, and an interrupted build resumes', () => {
  const pack = createUniformPack(3000)
  const totalSteps = countSteps(new PackIndex(pack).prepare('search'))
  // Each step handles a few chunks; the postings need further steps.
  expect(totalSteps).toBeGreaterThan(700)

  const index = new PackIndex(pack)
  const firstSteps = Math.floor(totalSteps / 2)
  expect(countSteps(index.prepare('search'), firstSteps)).toBe(firstSteps)
  expect(countSteps(index.prepare('search'))).toBe(totalSteps - firstSteps)
  expect(countSteps(index.prepare('search'))).toBe(0)
  expect(runSteps(index.prepare('terms')).size).toBe(3000)
})

test('a term that every chunk has is written in pieces', () => {
  const pieces = [...writeIndexJson(createUniformPack(5000))]
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2 ** 17)
})
