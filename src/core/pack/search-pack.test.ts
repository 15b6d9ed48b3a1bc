import { describe, expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import { BUILT_IN_SPACE } from '../embedding/space.ts'
import { createPack, type Pack } from './pack.ts'
import { PackVectors } from './pack-vectors.ts'
import { PackSearch } from './search-pack.ts'

const utf8 = new TextEncoder()

/** A unit vector whose cosine with the first axis is `similarity`. */
function vectorAt(similarity: number): Float32Array {
  const vector = new Float32Array(BUILT_IN_SPACE.dimensions)
  vector[0] = similarity
  vector[1] = Math.sqrt(1 - similarity ** 2)
  return vector
}

const QUESTION = vectorAt(1)

/** A pack with one chunk per file. `similarity` is the cosine of its vector with QUESTION; null for no vector. */
function packOf(files: Readonly<Record<string, readonly [text: string, similarity: number | null]>>): Pack {
  const pack = createPack(Object.entries(files).map(([path, [text]]) => chunkFile({ path, bytes: utf8.encode(text) })))
  const vectors = new PackVectors(BUILT_IN_SPACE, pack.chunks.length)
  for (const [i, { path }] of pack.chunks.entries()) {
    const similarity = files[path]?.[1] ?? null
    if (similarity !== null) vectors.set(i, vectorAt(similarity))
  }
  return { ...pack, vectors }
}

const PACK = packOf({
  'far.md': ['# Kitchen\n\nThe boiler of the kitchen is warm.\n', 0.1],
  'meant.md': ['# Heating\n\nA furnace needs fuel.\n', 0.8],
  'other.md': ['# Garden\n\nRoses need water.\n', 0.05],
  'words.md': ['# Boiler\n\nHow the boiler is lit.\n', 0.5],
})

const pathsOf = (hits: readonly { readonly path: string }[]) => hits.map(({ path }) => path)

describe('a search by words and meaning', () => {
  const search = new PackSearch(PACK)

  test('adds chunks that share no word with the query if they are near in meaning', () => {
    expect(pathsOf(search.search('boiler'))).toEqual(['words.md', 'far.md'])
    expect(pathsOf(search.search('boiler', { meaning: QUESTION }))).toEqual(['words.md', 'far.md', 'meant.md'])
    expect(pathsOf(search.search('stove', { meaning: QUESTION }))).toEqual(['meant.md', 'words.md'])
    expect(pathsOf(search.search('stove'))).toEqual([])
  })

  test('counts all hits', () => {
    expect(search.count('boiler')).toBe(2)
    expect(search.count('boiler', { meaning: QUESTION })).toBe(3)
    expect(search.count('boiler', { meaning: QUESTION, path: 'meant.md' })).toBe(1)
  })

  test('applies the filters', () => {
    const found = search.search('stove', { meaning: QUESTION, path: 'words.md' })
    expect(pathsOf(found)).toEqual(['words.md'])
  })

  test('explains the parts that words and meaning have in a score', () => {
    const [first, , last] = search.search('boiler', { meaning: QUESTION, explain: true })
    expect(first?.explain?.parts.map(({ word }) => word)).toEqual(['boiler'])
    expect(first?.meaning?.similarity).toBeCloseTo(0.5, 2)
    expect(first?.meaning?.fusion).toMatch(/^0\.60 × words 0\.\d\d \+ 0\.40 × meaning 0\.50$/)
    expect(last).toMatchObject({ terms: [], meaning: { wordScore: 0, pageBonus: 0 } })
    expect(search.search('boiler', { meaning: QUESTION }).some((hit) => 'meaning' in hit)).toBe(false)
  })

  test('returns the same first hits for any limit', () => {
    const many = packOf(
      Object.fromEntries(
        Array.from({ length: 250 }, (_, i) => [
          `p${i}.md`,
          [
            `# Page ${i}\n\n${'boiler '.repeat(1 + (i % 7))}${'word '.repeat(i)}\n`,
            i % 3 === 0 ? null : (i % 90) / 100,
          ],
        ]),
      ),
    )
    const searched = new PackSearch(many)
    const all = pathsOf(searched.search('boiler', { meaning: QUESTION, limit: 300 }))
    expect(new Set(all).size).toBe(250)
    for (const limit of [1, 10, 100, 120, 249]) {
      expect(pathsOf(searched.search('boiler', { meaning: QUESTION, limit }))).toEqual(all.slice(0, limit))
    }
  })
})

describe('the meaning of a question', () => {
  const embed = async () => QUESTION

  test('is its vector from the built-in model, if the pack has vectors of that model', async () => {
    expect(await new PackSearch(PACK).findMeaning('boiler', embed)).toEqual({ meaning: QUESTION, notices: [] })
  })

  test('is not computed if there is nothing to compare it with', async () => {
    const { vectors: _, ...without } = PACK
    const never = () => Promise.reject(new Error('must not be called'))
    expect(await new PackSearch(without).findMeaning('boiler', never)).toEqual({ notices: [] })
    const empty = { ...PACK, vectors: new PackVectors(BUILT_IN_SPACE, PACK.chunks.length) }
    expect(await new PackSearch(empty).findMeaning('boiler', never)).toEqual({ notices: [] })
  })

  test('is omitted, with a notice, if the vectors are of another model or the model fails', async () => {
    const vectors = new PackVectors({ model: 'tiny', fingerprint: '0'.repeat(64), dimensions: 2 }, PACK.chunks.length)
    vectors.set(0, Float32Array.of(1, 0))
    expect(await new PackSearch({ ...PACK, vectors }).findMeaning('boiler', embed)).toEqual({
      notices: [expect.stringMatching(/^the pack has vectors of another model \(tiny\).*answered by words alone$/)],
    })
    const fails = () => Promise.reject(new Error('no such file'))
    expect(await new PackSearch(PACK).findMeaning('boiler', fails)).toEqual({
      notices: ['the model cannot be used: no such file; answered by words alone'],
    })
  })
})

describe('a question that is certainly in another language than the model', () => {
  test('is answered by words alone', async () => {
    const never = () => Promise.reject(new Error('must not be called'))
    expect(await new PackSearch(PACK).findMeaning('wie wird der Kessel und die Heizung', never)).toEqual({
      notices: ['the model is made for another language (en); answered by words alone'],
    })
  })
})

describe('the judgment of hits', () => {
  const search = new PackSearch(PACK)
  const ordinary = new Set(['boiler', 'kitchen', 'warm', 'furnace'])
  const judge = (query: string, meaning?: Float32Array) =>
    search.judge(query, search.search(query, { meaning }), ordinary)

  test('is weak if no hit has a word of the question that is probably a name', () => {
    expect(judge('boiler')).toEqual({ relevance: 'strong', uncovered: [] })
    expect(judge('boiler pgbouncer')).toEqual({ relevance: 'weak', uncovered: ['pgbouncer'] })
    expect(judge('boiler pgbouncer', QUESTION)).toEqual({ relevance: 'weak', uncovered: ['pgbouncer'] })
  })

  test('does not doubt a hit for a name that is elsewhere in its file', () => {
    const filler = 'The room is warm in winter. '.repeat(200)
    const text = `# House\n\n## Boiler\n\nThe boiler. ${filler}\n\n## Pools\n\nA pgbouncer. ${filler}\n`
    const file = new PackSearch(packOf({ 'house.md': [text, null] }))
    const hits = file.search('boiler pgbouncer', { headingPrefix: 'House/Boiler' })
    expect(hits[0]?.missing?.map(({ word }) => word)).toEqual(['pgbouncer'])
    expect(file.judge('boiler pgbouncer', hits, ordinary).relevance).toBe('strong')
  })

  test('uses meaning if no word was found', () => {
    expect(judge('stove', QUESTION).relevance).toBe('strong')
    expect(judge('stove')).toEqual({ relevance: 'none', uncovered: ['stove'] })
  })
})
