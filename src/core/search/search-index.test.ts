import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textAnalyzer } from '../text/analyzer.ts'
import { SearchIndexFormatError } from './saved-index.ts'
import { SearchIndex, type SearchIndexOptions } from './search-index.ts'

const options: SearchIndexOptions = { fields: { title: 1, body: 1 }, analyzer: textAnalyzer }

function createIndex(documents: Readonly<Record<string, string>>): SearchIndex {
  const index = new SearchIndex(options)
  for (const [key, body] of Object.entries(documents)) index.add(key, { body })
  return index
}

function search(documents: Readonly<Record<string, string>>, query: string): string[] {
  return createIndex(documents)
    .search(query)
    .map(({ key }) => key)
}

describe('a search', () => {
  test('ranks a document with a rare word above one with a common word', () => {
    expect(search({ a: 'common word', b: 'common word', c: 'rare word' }, 'common rare')[0]).toBe('c')
  })

  test('ranks a short document above a long one with the same match', () => {
    expect(search({ long: `needle ${'hay '.repeat(50)}`, short: 'needle hay' }, 'needle')).toEqual(['short', 'long'])
  })

  test('ranks a match in title and body above one in the body alone', () => {
    const index = new SearchIndex(options)
    index.add('body', { title: 'other', body: 'timeout of the request' })
    index.add('title', { title: 'timeout', body: 'about of the request timeout' })
    expect(index.search('timeout').map(({ key }) => key)).toEqual(['title', 'body'])
  })

  test.each([
    ['connect', { exact: 'we connect to it', stemmed: 'we connected to it' }],
    ['connected', { exact: 'we connected to it', stemmed: 'we connect to it' }],
    ['files', { exact: 'many files there', stemmed: 'many file there' }],
  ])('ranks an exact match of %j ahead of a stemmed one', (query, documents) => {
    expect(search(documents, query)).toEqual(['exact', 'stemmed'])
  })

  test('ranks the requested form ahead of another that occurs as often in a text of the same length', () => {
    const other = fc.constantFrom('connecting', 'connections', 'connected', 'Connects')
    fc.assert(
      fc.property(other, fc.integer({ min: 1, max: 30 }), fc.nat(200), (form, times, more) => {
        const others = Array.from({ length: more }, (_, i) => `other${i}`)
        const repeat = (word: string): string => [...Array.from({ length: times }, () => word), ...others].join(' ')
        expect(search({ a: repeat(form), exact: repeat('connect') }, 'connect')).toEqual(['exact', 'a'])
      }),
    )
  })

  test('ranks a document with more matches of any form above one with fewer', () => {
    const documents = {
      a: 'connecting is good and new',
      b: 'connecting is connecting or connected',
      c: 'connect it or leave it',
      d: 'connect it by connecting it',
    }
    expect(search(documents, 'connect')).toEqual(['d', 'b', 'c', 'a'])
  })

  test.each([
    ['oauth', 'OAuth2'],
    ['utf8', 'UTF-8'],
    ['utf-8', 'UTF8'],
    ['sha256', 'SHA-256'],
    ['sha-256', 'sha256'],
    ['http2', 'HTTP/2'],
    ['nodejs', 'Node.js'],
    ['node.js', 'NodeJS'],
    ['maxpages', '--max-pages'],
    ['max-pages', 'max_pages'],
    ['readfile', 'read_file'],
    ['email', 'e-mails'],
    ['ipv6', 'IPv6'],
    ['python', 'python3'],
    ['enumerable', 'IEnumerable'],
  ])('the query %j finds a text that says %j', (query, text) => {
    expect(search({ hit: `about ${text} here`, miss: 'about something else' }, query)).toEqual(['hit'])
  })

  test.each([
    ['311', '3.11'],
    ['readfile', 'readFileSync'],
    ['pv6', 'IPv6'],
    ['o', 'OAuth2'],
  ])('the query %j does not find a text that says %j', (query, text) => {
    expect(search({ a: `about ${text} here` }, query)).toEqual([])
  })

  test('ranks the requested spelling ahead of another', () => {
    expect(search({ a: 'in UTF-8 there', b: 'in the utf8 there' }, 'utf8')).toEqual(['b', 'a'])
  })

  test('computes the short forms of each term once, even for many single ideographs', () => {
    let calls = 0
    const shortForms = (token: string) => {
      calls++
      return textAnalyzer.shortForms(token)
    }
    const index = new SearchIndex({ ...options, analyzer: { ...textAnalyzer, shortForms } })
    index.add('a', { body: '東京都 大阪府 京 plain words' })
    const terms = index.stats().terms
    expect(index.search('東 京 都 大 阪 府')).toHaveLength(1)
    expect(index.search('京 都')).toHaveLength(1)
    expect(calls).toBe(terms)
    index.add('b', { body: '京人' })
    expect(index.search('人').map(({ key }) => key)).toEqual(['b'])
    expect(calls).toBe(terms + 1)
  })

  test('ranks neighboring words above the same words apart', () => {
    const documents = { apart: 'boundary of the flow and a layer', pair: 'flow of the boundary layer and a' }
    expect(search(documents, 'boundary layer')).toEqual(['pair', 'apart'])
  })

  test('ranks an identifier above a text with its parts', () => {
    const documents = { parts: 'read a file in sync mode', whole: 'call readFileSync in mode' }
    expect(search(documents, 'readFileSync')).toEqual(['whole', 'parts'])
  })

  test('finds parts of identifiers and versions, names of languages, and single ideographs', () => {
    const documents = { a: 'jsonb_array_elements', b: 'Python 3.11.4', c: 'modern C++', d: '東京都', e: 'plain C' }
    expect(search(documents, 'elements')).toEqual(['a'])
    expect(search(documents, '3.11')).toEqual(['b'])
    expect(search(documents, 'c++')).toEqual(['c'])
    expect(search(documents, '京')).toEqual(['d'])
    expect(search(documents, '京都')).toEqual(['d'])
  })

  test('ignores stop words beside content words', () => {
    expect(search({ a: 'the the the of', b: 'the needle' }, 'the needle')).toEqual(['b'])
  })

  test('searches for stop words when there is nothing else', () => {
    expect(search({ a: 'to be or not to be', b: 'something else' }, 'to be')).toEqual(['a'])
  })

  test.each(['', '   ', '…', 'absent'])('finds nothing for %j', (query) => {
    expect(search({ a: 'text' }, query)).toEqual([])
  })

  test('finds nothing in an empty index', () => {
    expect(new SearchIndex(options).search('text')).toEqual([])
  })

  test('counts two forms of a word in a query as one word', () => {
    const index = createIndex({ a: 'one connection', b: 'two other' })
    expect(index.search('connections connection', { explain: true })[0]?.explain?.parts).toHaveLength(1)
  })

  test('a repeated query word counts more than another, and less with every repetition', () => {
    const index = createIndex({ a: 'one proxy', b: 'two connection' })
    const search = (times: number) => index.search(`proxy ${'connection '.repeat(times)}`)
    const ratioOf = (times: number) => {
      const scores = new Map(search(times).map(({ key, score }) => [key, score]))
      return (scores.get('b') ?? 0) / (scores.get('a') ?? 0)
    }
    expect(search(1).map(({ key }) => key)).toEqual(['a', 'b'])
    expect(search(2).map(({ key }) => key)).toEqual(['b', 'a'])
    expect([1, 2, 3].map(ratioOf)).toEqual([1, expect.closeTo(5 / 3, 10), expect.closeTo(15 / 7, 10)])
    expect(ratioOf(500)).toBeGreaterThan(4.9)
    expect(ratioOf(500)).toBeLessThan(5)
  })

  test('scores are a share of the highest possible score of the query words, for any query', () => {
    const index = createIndex({
      all: 'proxy header proxy header proxy header '.repeat(50),
      half: 'proxy '.repeat(300),
      other: 'something else',
    })
    const scoreOf = (query: string, wanted: string) => index.search(query).find(({ key }) => key === wanted)?.score ?? 0
    expect(scoreOf('header', 'all')).toBeGreaterThan(0.95)
    expect(scoreOf('header', 'all')).toBeLessThan(1)
    // Repeating the only word of a query raises its score and the highest possible score alike.
    expect(scoreOf('header header header', 'all')).toBeCloseTo(scoreOf('header', 'all'), 12)
    // Every document lacks a word that no document has.
    expect(scoreOf('header unheard', 'all')).toBeLessThan(0.5)
    expect(scoreOf('proxy header', 'half')).toBeLessThan(0.5)
  })

  test('adds occurrences in all fields before they saturate', () => {
    const index = new SearchIndex(options)
    index.add('both', { title: 'proxy', body: 'proxy filler filler filler' })
    index.add('two words', { title: 'proxy', body: 'header filler filler filler' })
    expect(index.search('proxy header').map(({ key }) => key)).toEqual(['two words', 'both'])
  })

  test('ranks a quoted phrase above its words in another order, stop words included', () => {
    const documents = {
      apart: 'a directory, directory and directory such as no other, with file, file and file',
      phrase: `no such file or directory ${'filler '.repeat(20)}`,
    }
    expect(search(documents, '"no such file or directory"')[0]).toBe('phrase')
    expect(search(documents, 'no such file or directory')[0]).toBe('apart')
  })

  test('ranks a quoted phrase first even if its words occur earlier in the query', () => {
    const documents = {
      apart: 'directory file, and a directory of another file, file and directory',
      phrase: `the file directory ${'filler '.repeat(20)}`,
    }
    expect(search(documents, 'directory "file directory"')[0]).toBe('phrase')
  })

  test('keeps the distances of a quoted phrase in a long query that leaves out one of its words', () => {
    const others = Array.from({ length: 70 }, (_, i) => `other${i}`)
    const documents = {
      ...Object.fromEntries(others.map((word, i) => [word, `common ${word} ${others[i - 1]} ${others[i - 2]}`])),
      apart: 'alpha beta common',
      phrase: `alpha common beta ${'filler '.repeat(20)}`,
    }
    const rank = (phrases: string) =>
      createIndex(documents)
        .search(`${phrases} ${others.join(' ')}`, { limit: 100 })
        .flatMap(({ key }) => (key.startsWith('other') ? [] : [key]))
    expect(rank('"alpha common beta"')).toEqual(['phrase', 'apart'])
    expect(rank('alpha "common beta"')).toEqual(['apart', 'phrase'])
  })

  test('ranks a long query by its rarest words', () => {
    const common = Array.from({ length: 100 }, (_, i) => `common${i}`)
    const documents = Object.fromEntries(common.map((word, i) => [`d${i}`, `${common.join(' ')} ${word}`]))
    const index = createIndex({ ...documents, rare: 'needle' })
    const [hit] = index.search(`${common.join(' ')} needle`)
    expect(hit?.key).toBe('rare')
  })

  test('reports the words that a document lacks, and their share of the query by rarity', () => {
    const index = createIndex({ a: 'common rare', b: 'common', c: 'common' })
    const [first, second] = index.search('common rare unheard')
    expect(first).toMatchObject({ key: 'a', missing: [{ word: 'unheard' }] })
    expect(second).toMatchObject({ key: 'b', missing: [{ word: 'rare' }, { word: 'unheard' }] })
    const [rare, unheard] = second?.missing ?? []
    expect(unheard?.share).toBeGreaterThan(rare?.share ?? 1)
    expect((rare?.share ?? 0) + (unheard?.share ?? 0)).toBeGreaterThan(0.8)
  })
})

describe('hits', () => {
  test('come in the order of their keys when scores are equal, for any order of adding', () => {
    const keys = ['b', 'é', 'a', '\u{1f600}', '\uff01', 'B']
    const index = new SearchIndex(options)
    for (const key of keys) index.add(key, { body: 'same text' })
    expect(index.search('same').map(({ key }) => key)).toEqual(['B', 'a', 'b', 'é', '\uff01', '\u{1f600}'])
  })

  test('are the first of a longer list when the limit is smaller', () => {
    const index = new SearchIndex(options)
    for (let i = 0; i < 300; i++)
      index.add(`k${i}`, { body: `red ${'green '.repeat(i % 7)} blue ${i % 3 ? 'red blue' : ''}` })
    const all = index.search('red blue', { limit: 300 })
    expect(all).toHaveLength(300)
    for (const limit of [0, 1, 10, 200, 250]) expect(index.search('red blue', { limit })).toEqual(all.slice(0, limit))
  })

  test('pass the filter, which does not shorten the list', () => {
    const index = new SearchIndex(options)
    for (let i = 0; i < 50; i++) index.add(`k${String(i).padStart(2, '0')}`, { body: 'text' })
    const hits = index.search('text', { limit: 3, filter: (key) => key > 'k44' })
    expect(hits.map(({ key }) => key)).toEqual(['k45', 'k46', 'k47'])
  })

  test('name the terms that matched, in the order of the query', () => {
    const [hit] = createIndex({ a: 'They connected two servers; a server runs.' }).search('server connecting absent')
    expect(hit?.terms).toEqual(['server', 'servers', 'connected'])
  })

  test('explain their score', () => {
    const index = new SearchIndex(options)
    index.add('a', { title: 'Boundary layers', body: 'The boundary layer and boundary layers.' })
    index.add('b', { title: 'Other', body: 'boundary' })
    const [hit] = index.search('boundary layer', { explain: true })
    const { parts = [], pairs = 0 } = hit?.explain ?? {}
    expect(parts.map(({ word, fields, terms, documents }) => [word, fields, terms, documents])).toEqual([
      ['boundary', { title: 1, body: 2 }, ['boundary'], 2],
      ['layer', { title: 1, body: 2 }, ['layer', 'layers'], 1],
    ])
    expect(pairs).toBeGreaterThan(0)
    expect(parts.reduce((sum, { score }) => sum + score, pairs)).toBeCloseTo(hit?.score ?? 0, 12)
  })

  test('have no explanation by default', () => {
    expect(createIndex({ a: 'text' }).search('text')[0]).not.toHaveProperty('explain')
  })
})

describe('changes', () => {
  const words = fc.array(
    fc.constantFrom('run', 'running', 'runs', 'file', 'readFile', '3.11.4', '東京都', 'the', 'Café'),
    {
      maxLength: 8,
    },
  )
  const document = fc.record({ title: words.map((w) => w.join(' ')), body: words.map((w) => w.join(' ')) })
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const change = fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('add' as const), key, document }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), key }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('search' as const) }) },
  )

  test('leave exactly the scores and bytes of a fresh index with the same documents', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const index = new SearchIndex(options)
        const remaining = new Map<string, { title: string; body: string }>()
        for (const step of changes) {
          if (step.type === 'search') index.search('run')
          else if (step.type === 'remove') expect(index.remove(step.key)).toBe(remaining.delete(step.key))
          else {
            index.add(step.key, step.document)
            remaining.set(step.key, step.document)
          }
        }
        const fresh = new SearchIndex(options)
        for (const [k, fields] of [...remaining].reverse()) fresh.add(k, fields)
        expect(index.size).toBe(remaining.size)
        for (const query of ['run file', 'running', 'read', '3.11', '京', 'the', 'cafe the runs']) {
          expect(index.search(query, { explain: true })).toEqual(fresh.search(query, { explain: true }))
        }
        expect(index.save()).toEqual(fresh.save())
        expect(index.stats()).toEqual(fresh.stats())
      }),
      { numRuns: 60 },
    )
  })

  test('a document added again replaces the earlier one', () => {
    const index = createIndex({ a: 'old text' })
    index.add('a', { body: 'new text' })
    expect([index.size, index.search('old').length, index.search('new').length]).toEqual([1, 0, 1])
  })

  test('a removed document is not found', () => {
    const index = createIndex({ a: 'text', b: 'text' })
    expect([index.remove('a'), index.remove('a'), index.has('a'), index.has('b')]).toEqual([true, false, false, true])
    expect(index.search('text').map(({ key: found }) => found)).toEqual(['b'])
  })

  test('many replacements do not grow the saved index', () => {
    const index = new SearchIndex(options)
    for (let i = 0; i < 2000; i++) index.add(`k${i % 5}`, { body: `text ${i % 5}` })
    const fresh = new SearchIndex(options)
    for (let i = 0; i < 5; i++) fresh.add(`k${i}`, { body: `text ${i}` })
    expect(index.save()).toEqual(fresh.save())
  })

  test('an index that shrank a lot grows again', () => {
    const index = new SearchIndex(options)
    for (let i = 0; i < 512; i++) index.add(`k${i}`, { body: 'text' })
    for (let i = 0; i < 500; i++) index.remove(`k${i}`)
    for (let i = 0; i < 200; i++) index.add(`n${i}`, { body: 'text' })
    expect(index.search('text', { limit: 1000 })).toHaveLength(212)
  })

  test('a filter that throws leaves the index unchanged', () => {
    const index = createIndex({ a: 'text', b: 'text other' })
    const before = index.search('text other')
    const filter = () => {
      throw new Error('refused')
    }
    expect(() => index.search('text other', { filter })).toThrow('refused')
    expect(index.search('text other')).toEqual(before)
  })

  test('an unknown field is refused with an error that names it', () => {
    expect(() => new SearchIndex(options).add('a', { boby: 'text' })).toThrow(/title, body, got `boby`/)
  })
})

test('documents with equal scores are in the given order, regardless of their keys', () => {
  const ranks: Record<string, number> = { a: 3, b: 1, c: 2 }
  const index = new SearchIndex({ ...options, rankOf: (key) => ranks[key] ?? 0 })
  for (const key of ['a', 'b', 'c']) index.add(key, { body: 'word' })
  expect(index.search('word').map(({ key }) => key)).toEqual(['b', 'c', 'a'])
  expect(index.search('word', { filter: () => true, limit: 2 }).map(({ key }) => key)).toEqual(['b', 'c'])
  expect(index.sortedKeys()).toEqual(['a', 'b', 'c'])
})

describe('terms', () => {
  test('are listed by field in order, with their documents', () => {
    const index = new SearchIndex(options)
    index.add('b', { title: 'Zebra', body: ['ab ab', 'é 東京'] })
    index.add('a', { title: 'Zebra', body: 'ab' })
    const keys = index.sortedKeys()
    const list = [...index.terms('body')].map(({ term, df, visitPostings }) => {
      const postings: { key: string | undefined; tf: number; docLen: number }[] = []
      visitPostings((document, tf, docLen) => postings.push({ key: keys[document], tf, docLen }))
      return { term, df, postings }
    })
    expect(list).toEqual([
      {
        term: 'ab',
        df: 2,
        postings: [
          { key: 'a', tf: 1, docLen: 1 },
          { key: 'b', tf: 2, docLen: 4 },
        ],
      },
      { term: 'e', df: 1, postings: [{ key: 'b', tf: 1, docLen: 4 }] },
      { term: '東京', df: 1, postings: [{ key: 'b', tf: 1, docLen: 4 }] },
    ])
    expect([...index.terms('title')].map(({ term }) => term)).toEqual(['zebra'])
    expect([index.docLength('b', 'body'), index.docLength('b', 'title'), index.docLength('x', 'body')]).toEqual([
      4, 1, 0,
    ])
    expect(index.stats()).toEqual({
      documents: 2,
      terms: 4,
      postings: 6,
      fields: { title: { documents: 2, tokens: 2 }, body: { documents: 2, tokens: 5 } },
    })
  })

  test('list their documents from one position to another', () => {
    const index = createIndex({ a: 'word', b: 'word', c: 'word', d: 'word' })
    const [entry] = index.terms('body')
    const visited: number[] = []
    entry?.visitPostings((document) => visited.push(document), 1, 3)
    expect(visited).toEqual([1, 2])
  })

  test('do not include those of removed documents', () => {
    const index = createIndex({ a: 'gone', b: 'kept' })
    index.remove('a')
    expect([...index.terms('body')].map(({ term }) => term)).toEqual(['kept'])
  })
})

describe('preparation in steps', () => {
  const documents = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key ${i}`, `word number${i}`]))

  test('yields often, and leaves no steps for the next call', () => {
    const index = createIndex(documents)
    let count = 0
    for (const _ of index.prepareSearch()) count++
    expect(count).toBeGreaterThan(50)
    expect([...index.prepareSearch()]).toEqual([])
    expect(index.search('number7')).toEqual(createIndex(documents).search('number7'))
    expect([...index.prepareTerms()].length).toBeGreaterThan(3)
    expect([...index.prepareTerms()]).toEqual([])
  })

  test('respects changes in between', () => {
    const index = createIndex(documents)
    const steps = index.prepareSearch()
    for (let i = 0; i < 20; i++) steps.next()
    index.remove('key 7')
    index.add('later', { body: 'word number7 later' })
    while (!steps.next().done);
    const { 'key 7': _, ...rest } = documents
    const fresh = createIndex({ ...rest, later: 'word number7 later' })
    expect(index.search('number7 later')).toEqual(fresh.search('number7 later'))
    expect(index.search('later').map(({ key }) => key)).toEqual(['later'])
  })
})

describe('saving', () => {
  const documents = { b: 'readFile runs the 東京都', a: 'Café running 3.11', 'ü/😀': 'text '.repeat(300) }

  test('gives the same hits and the same bytes after loading', () => {
    const index = createIndex(documents)
    const bytes = index.save()
    const loaded = SearchIndex.load(bytes, options)
    for (const query of ['run', 'text', '京', 'read file']) expect(loaded.search(query)).toEqual(index.search(query))
    expect(loaded.save()).toEqual(bytes)
    expect([...loaded.terms('body')].map(({ term }) => term)).toEqual([...index.terms('body')].map(({ term }) => term))
  })

  test('gives the same bytes for any order of adding', () => {
    const reversed = Object.fromEntries(Object.entries(documents).reverse())
    expect(createIndex(reversed).save()).toEqual(createIndex(documents).save())
  })

  test('a loaded index can be changed', () => {
    const loaded = SearchIndex.load(createIndex(documents).save(), options)
    loaded.add('new', { body: 'fresh words' })
    loaded.remove('a')
    const fresh = createIndex({ ...documents, new: 'fresh words' })
    fresh.remove('a')
    expect(loaded.save()).toEqual(fresh.save())
  })

  test.each([
    ['other bytes', 'not-an-index', () => new TextEncoder().encode('something else')],
    ['no bytes', 'not-an-index', () => new Uint8Array()],
    ['a newer format', 'newer-version', () => createIndex(documents).save().with(5, 2)],
    ['truncated bytes', 'damaged', () => createIndex(documents).save().slice(0, -1)],
    ['trailing bytes', 'damaged', () => Uint8Array.of(...createIndex(documents).save(), 0)],
  ])('loading refuses %s', (_, reason, bytes) => {
    expect(() => SearchIndex.load(bytes(), options)).toThrow(expect.objectContaining({ reason }))
  })

  test('loading refuses other fields and another analyzer', () => {
    const bytes = createIndex(documents).save()
    const fields = { body: 1, title: 1 }
    const analyzer = { ...textAnalyzer, id: 'other' }
    expect(() => SearchIndex.load(bytes, { ...options, fields })).toThrow(SearchIndexFormatError)
    expect(() => SearchIndex.load(bytes, { ...options, analyzer })).toThrow(/made with analyzer pharos-text/)
  })

  test('loading damaged bytes throws nothing but a SearchIndexFormatError', () => {
    const bytes = createIndex(documents).save()
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        try {
          SearchIndex.load(bytes.with(at, value), options).search('text')
        } catch (error) {
          expect(error).toBeInstanceOf(SearchIndexFormatError)
        }
      }),
    )
  })
})

test('an index without fields, or with a weight of zero, is refused', () => {
  expect(() => new SearchIndex({ ...options, fields: {} })).toThrow(TypeError)
  expect(() => new SearchIndex({ ...options, fields: { body: 0 } })).toThrow(/`body` to be above 0, got `0`/)
})

test('a query of any length is answered', () => {
  const index = createIndex({ a: 'needle' })
  const words = Array.from({ length: 10_000 }, (_, i) => `word${i}`).join(' ')
  expect(index.search(`needle ${words}`)).toHaveLength(1)
})

describe('completion of words that are not typed to the end', () => {
  const documents = {
    a: 'a retry and a retrospect',
    b: 'we retry it',
    c: 'the return of a thing',
    d: 'readFileSync of the thesaurus',
  }

  test('unfinished words match the most frequent terms that begin with them, if no document has the word itself', () => {
    const index = createIndex(documents)
    expect(index.complete('retr')).toEqual({ beginning: 'retr', terms: ['retry', 'retrospect'] })
    expect(index.search('retr', { completes: true }).map(({ key, terms }) => [key, terms])).toEqual([
      ['a', ['retrospect', 'retry']],
      ['b', ['retry']],
    ])
    expect(index.search('thing retr', { completes: true }).map(({ key }) => key)).toEqual(['c', 'a', 'b'])
    expect(index.complete('readFileSy')).toEqual({ beginning: 'sy', terms: ['sync'] })
    // Stop words are never completions.
    expect(index.complete('th')).toEqual({ beginning: 'th', terms: ['thesaurus', 'thing'] })
  })

  test.each(['retry', 'return', 'retr ', 'retr thing', 'r', 'xyz', '', 'things'])('%j is not completed', (query) => {
    const index = createIndex(documents)
    expect(index.complete(query)).toBeUndefined()
    expect(index.search(query, { completes: true })).toEqual(index.search(query))
  })
})

test('the count of a query is the number of hits of a search without a limit', () => {
  const words = fc.constantFrom('kiln', 'clay', 'glazes', 'glaze', 'of', 'readFile', 'fil', '')
  const texts = fc.array(fc.array(words, { maxLength: 4 }), { maxLength: 8 })
  fc.assert(
    fc.property(texts, fc.array(words, { maxLength: 3 }), fc.boolean(), (all, query, completes) => {
      const index = createIndex(Object.fromEntries(all.map((some, i) => [String(i), some.join(' ')])))
      const filter = (key: string) => key !== '3'
      for (const settings of [{ completes }, { completes, filter }]) {
        const hits = index.search(query.join(' '), { ...settings, limit: 99 })
        expect(index.count(query.join(' '), settings)).toBe(hits.length)
      }
    }),
  )
})
