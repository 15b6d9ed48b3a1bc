import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestLibrary, openTestSite, runCrawl } from '../../../test/sites/crawl.ts'
import { type Answer, openSite, type Site } from '../../../test/sites/site.ts'
import { PharosError } from '../../core/errors.ts'
import { type OpenLibrary, openLibrary } from '../../open-library.ts'
import { addSource } from '../crawl/add-source.ts'
import type { Library } from '../library.ts'
import type { Embedder, VectorIndex, VectorSpace } from '../ports/vectors.ts'
import type { SearchAnswer, SearchInput } from '../search.ts'
import type { Source } from '../source.ts'
import { findChunk } from './find-chunk.ts'
import { searchHits } from './hits.ts'
import { searchLibrary } from './search-library.ts'

let library: OpenLibrary
/** Read-only libraries by their crawled pages. */
const readOnly = new Map<Pages, Promise<OpenLibrary>>()

beforeEach(async () => {
  library = await openTestLibrary()
})

afterAll(async () => {
  for (const one of readOnly.values()) await (await one).close()
})

const words = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')

/** Writes a page with links to others; its sections are given as headings with content. */
function page(title: string, sections: Readonly<Record<string, string>>, links: readonly string[] = []): string {
  const body = Object.entries(sections).map(([id, html]) => `<section id="${id}"><h2>${id}</h2>${html}</section>`)
  const items = links.map((href) => `<li><a href="${href}">${href}</a></li>`).join('')
  return `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1>${body.join('')}<ul>${items}</ul></main></html>`
}

type Pages = Readonly<Record<string, Answer>>

async function crawl(pages: Pages, name = 'guide', version?: string): Promise<[Source, Site]> {
  const site = await openTestSite(pages)
  const source = await addSource(library, { url: `${site.origin}/`, name, version })
  await runCrawl(library, source, { kind: 'add' }, site.origin)
  return [source, site]
}

/** Sets `library` to a shared library with these pages, which are crawled only once. */
async function loadCrawled(pages: Pages): Promise<void> {
  const opened = readOnly.get(pages) ?? openCrawled(pages)
  readOnly.set(pages, opened)
  library = await opened
}

async function openCrawled(pages: Pages): Promise<OpenLibrary> {
  const opened = await openLibrary({ path: ':memory:', version: '0.0.0', allowPrivate: ['127.0.0.0/8'] })
  const site = await openSite(pages)
  const source = await addSource(opened, { url: `${site.origin}/`, name: 'guide' })
  await runCrawl(opened, source, { kind: 'add' }, site.origin)
  await site.close()
  return opened
}

async function failure(input: SearchInput): Promise<string> {
  try {
    await searchLibrary(library, input)
  } catch (error) {
    if (error instanceof PharosError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('expected a refusal')
}

/** Follows the cursors to the end. */
async function searchAll(input: SearchInput): Promise<SearchAnswer[]> {
  const answers: SearchAnswer[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const answer: SearchAnswer = await searchLibrary(library, { ...input, ...(cursor === undefined ? {} : { cursor }) })
    answers.push(answer)
    cursor = answer.cursor
    expect(answers.length).toBeLessThan(100)
  }
  return answers
}

const PAGES = {
  '/': page('Start', { Welcome: `<p>${words('hello', 30)}</p>` }, ['/install', '/retry', '/other']),
  '/install': page('Install', {
    Steps: `<p>Run the installer of the lighthouse. ${words('step', 40)}</p>`,
    Notes: `<p>${words('note', 60)}</p>`,
  }),
  '/retry': page('Retries', { Waiting: `<p>A retry waits for the beam of the lighthouse. ${words('wait', 20)}</p>` }),
  '/other': page('Other', { Things: `<p>${words('thing', 40)}</p>` }),
}

describe('searchLibrary answer', () => {
  test('shows two passages of a page whose sections fit equally well, also with a minimum score', async () => {
    const section = (name: string) => `<p>The lantern of the ${name} burns oil. ${words(name, 150)}</p>`
    const pages = {
      '/': page('Start', { Welcome: `<p>${words('hello', 30)}</p>` }, ['/lantern']),
      '/lantern': page('Burning', {
        North: section('north'),
        Between: `<p>${words('between', 400)}</p>`,
        South: section('south'),
        After: `<p>${words('after', 400)}</p>`,
      }),
    }
    await loadCrawled(pages)
    for (const minScore of [0, 0.9]) {
      const { passages } = await searchLibrary(library, { query: 'which oil does a lantern burn', minScore })
      expect(passages.map(({ headingPath }) => headingPath.at(-1)).toSorted()).toEqual(['North', 'South'])
    }
  })

  test('shows the best paragraph whole if it fits without mentions of other pages, and cuts one that does not fit', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `/page${i}`)
    const others = names.map((path, i) => [
      path,
      page(`Page ${i}`, { Part: `<p>A lamp, ${words(`other${i}x`, 30)}</p>` }),
    ])
    const pages = {
      '/': page('Start', { Welcome: `<p>${words('hello', 30)}</p>` }, ['/best', '/large', ...names]),
      '/best': page('Fuel', { Kinds: `<p>Lamp oil burns. ${words('burn', 125)} to its end.</p>` }),
      '/large': page('Parts', { Sizes: `<p>Wick length counts. ${words('wick', 400)} to its end.</p>` }),
      ...Object.fromEntries(others),
    }
    await crawl(pages)
    const fitting = await searchLibrary(library, { query: 'lamp oil burns', tokens: 300 })
    expect(fitting.passages[0]).toMatchObject({ isCut: false, text: expect.stringContaining('to its end.') })
    expect(fitting.passages[0]?.tokens).toBeGreaterThan(210)
    expect(fitting.tokens).toBeLessThanOrEqual(300)
    const large = await searchLibrary(library, { query: 'wick length counts', tokens: 300 })
    expect(large.passages[0]).toMatchObject({ isCut: true })
  })

  test('has passages with everything needed to cite them', async () => {
    const [source, site] = await crawl(PAGES, 'guide', '1.2')
    const answer = await searchLibrary(library, { query: 'retry beam' })
    const [first] = answer.passages
    expect(first).toMatchObject({
      sourceId: source.id,
      source: 'guide@1.2',
      version: '1.2',
      title: 'Retries',
      // The passage grew to the whole page, which begins above the heading of the hit.
      url: `${site.origin}/retry`,
      headingPath: ['Retries'],
      kind: 'markdown',
      isCut: false,
    })
    const stored = await library.store.readPageText(source.id, `${site.origin}/retry`)
    const lines = stored?.markdown.split('\n').slice((first?.startLine ?? 0) - 1, first?.endLine)
    expect(first?.text).toBe(lines?.join('\n'))
    expect(first?.text).toContain('## Waiting')
    expect(first?.terms).toEqual(expect.arrayContaining(['retry', 'beam']))
    expect(first?.checkedAt).toBe(stored?.checkedAt)
    expect(first?.changedAt).toBe(stored?.changedAt)
    const found = await findChunk(library, first?.chunk ?? '')
    expect(found.chunk.content).toContain('beam of the lighthouse')
    expect(answer).toMatchObject({ engines: ['words'], notices: [], searched: [], searchedCount: 1, widen: [] })
    expect(answer.tokens).toBeGreaterThan(answer.passages.reduce((sum, { tokens }) => sum + tokens, 0))
  })

  test('is sorted best first, and explains its scores on request', async () => {
    await loadCrawled(PAGES)
    const plain = await searchLibrary(library, { query: 'lighthouse beam' })
    const scores = plain.passages.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(plain.passages[0]?.explain).toBeUndefined()
    const { passages } = await searchLibrary(library, { query: 'lighthouse beam', explain: true })
    expect(passages[0]?.explain).toMatchObject({ similarity: null, fusion: 'words alone', linkShare: 0 })
    expect(passages[0]?.explain?.words?.parts.map(({ word }) => word)).toContain('beam')
  })

  test('stays within its budget and mentions further pages', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 8 }, (_, i) => [
        `/p${i}`,
        page(`Page ${i}`, { Part: `<p>The lighthouse. ${words(`p${i}x`, 90)}</p>` }),
      ]),
    )
    await crawl({ '/': page('Start', {}, Object.keys(many)), ...many })
    const answer = await searchLibrary(library, { query: 'lighthouse', tokens: 700, limit: 6 })
    expect(answer.tokens).toBeLessThanOrEqual(700)
    expect(answer.passages.length).toBeGreaterThan(1)
    const pages = [...answer.passages, ...answer.more].map(({ url }) => url.replace(/#.*/, ''))
    expect(new Set(pages).size).toBe(6)
    expect(answer.more.length).toBe(6 - answer.passages.length)
    expect(answer.more[0]?.line).toContain('The lighthouse.')
    for (const { line, title, score } of answer.more) {
      expect(line).not.toContain('\n')
      expect(title).toMatch(/^Page \d$/)
      expect(score).toBeGreaterThan(0)
    }
  })

  test('shows the whole section of the best page before others, and only mentions much weaker pages', async () => {
    const section = Array.from({ length: 5 }, (_, i) => `<p>The lighthouse beam. ${words(`s${i}x`, 40)}</p>`).join('')
    const others = Object.fromEntries(
      Array.from({ length: 4 }, (_, i) => [
        `/p${i}`,
        page(`Page ${i}`, { Part: `<p>A beam of wood. ${words(`p${i}x`, 120)}</p>` }),
      ]),
    )
    const best = page('Lighthouse beam', { Beam: section })
    await crawl({ '/': page('Start', {}, ['/best', ...Object.keys(others)]), '/best': best, ...others })
    const { passages, more } = await searchLibrary(library, { query: 'lighthouse beam' })
    expect(passages.map(({ title }) => title)).toEqual(['Lighthouse beam'])
    for (const i of [0, 1, 2, 3, 4]) expect(passages[0]?.text).toContain(`s${i}x39`)
    expect(more).toHaveLength(4)
  })

  test('shows no page before one that ranks above it', async () => {
    const row = (i: number) => `<tr><td>lighthouse</td><td>${words(`r${i}`, 8)}</td></tr>`
    const table = `<table><tr><th>a</th><th>b</th></tr>${Array.from({ length: 60 }, (_, i) => row(i)).join('')}</table>`
    const many = Object.fromEntries(
      Array.from({ length: 6 }, (_, i) => [
        `/p${i}`,
        page(`Page ${i}`, { Lighthouse: i % 2 === 0 ? table : `<p>The lighthouse. ${words(`p${i}x`, 60)}</p>` }),
      ]),
    )
    await crawl({ '/': page('Start', {}, Object.keys(many)), ...many })
    for (const tokens of [400, 1000, 2000]) {
      const { passages, more } = await searchLibrary(library, { query: 'lighthouse', tokens })
      const scores = [...passages, ...more].map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    }
  })

  test('leaves out hits below a share of the best score', async () => {
    await loadCrawled(PAGES)
    const all = await searchLibrary(library, { query: 'retry beam lighthouse' })
    const best = await searchLibrary(library, { query: 'retry beam lighthouse', minScore: 1 })
    expect(all.passages.length + all.more.length).toBeGreaterThan(1)
    expect([best.passages.length, best.more.length, best.cursor]).toEqual([1, 0, null])
  })

  test('applies its filters', async () => {
    await crawl(PAGES)
    await crawl({ '/': page('Elsewhere', { Sea: '<p>No lighthouse at all.</p>' }) }, 'sea')
    const sources = async (input: Partial<SearchInput>) => {
      const { passages, searched } = await searchLibrary(library, { query: 'lighthouse', ...input })
      return [passages.map(({ title }) => title).sort(), searched]
    }
    expect(await sources({ sources: ['sea'] })).toEqual([['Elsewhere'], ['sea']])
    expect(await sources({ path: '/retry' })).toEqual([['Retries'], []])
    expect(await sources({ heading: 'steps' })).toEqual([['Install'], []])
  })

  test('joins the hits of one section and shows no text twice', async () => {
    const html = Array.from({ length: 6 }, (_, i) => `<p>The lighthouse, part ${i}. ${words(`q${i}x`, 160)}</p>`).join(
      '',
    )
    await crawl({ '/': page('Start', { Long: html }) })
    const { passages } = await searchLibrary(library, { query: 'lighthouse' })
    expect(passages.length).toBeLessThan(4)
    expect(passages[0]?.chunkIds.length).toBeGreaterThan(1)
    const sorted = passages.toSorted((a, b) => a.startLine - b.startLine)
    for (const [i, { startLine }] of sorted.entries()) expect(startLine).toBeGreaterThan(sorted[i - 1]?.endLine ?? 0)
  })

  test('shows the same text of several versions once, from the newest', async () => {
    const pagesOf = (version: string) => ({
      '/': page(`Guide ${version}`, { Beam: `<p>The lighthouse beam turns. ${words('turn', 60)}</p>` }),
      '/new': page(`News ${version}`, {
        Beam: `<p>The beam of ${version}. ${words(`v${version.replace('.', '')}x`, 40)}</p>`,
      }),
    })
    for (const version of ['1.2', '1.10', '1.9']) await crawl(pagesOf(version), 'guide', version)
    const { passages } = await searchLibrary(library, { query: 'lighthouse beam turns', version: '*' })
    expect(passages.filter(({ text }) => text.includes('beam turns')).map(({ version }) => version)).toEqual(['1.10'])
  })

  const setting = (title: string, statement: string) =>
    page(title, { Timeout: `<p>The timeout of the lighthouse ${statement} while it runs. ${words('pool', 75)}</p>` })

  test('shows similar pages that say something different', async () => {
    await crawl({
      '/': page('Start', {}, ['/a', '/b', '/c', '/d']),
      '/a': setting('A', 'is 30 seconds and can be changed'),
      '/b': setting('A', 'is 30 seconds and cannot be changed'),
      '/c': setting('A', 'is 3600 seconds and can be changed'),
    })
    const { passages, more } = await searchLibrary(library, { query: 'timeout lighthouse' })
    expect(passages.map(({ text }) => /is .* changed/.exec(text)?.[0]).sort()).toEqual([
      'is 30 seconds and can be changed',
      'is 30 seconds and cannot be changed',
      'is 3600 seconds and can be changed',
    ])
    expect(more).toEqual([])
  })

  test('shows pages with the same text once, and names the others, also those of other versions', async () => {
    await crawl({ '/': setting('A', 'can be changed') }, 'a')
    await crawl({ '/': setting('A', 'can be changed') }, 'b')
    await crawl({ '/': setting('A', 'can be changed as well') }, 'c')
    const namesOf = (hits: readonly { readonly source: string }[]) => hits.map(({ source }) => source)
    const { passages, more, cursor } = await searchLibrary(library, { query: 'timeout lighthouse' })
    const similar = [...passages, ...more].flatMap((hit) => hit.similar ?? [])
    expect(namesOf([...passages, ...more, ...similar]).sort()).toEqual(['a', 'b', 'c'])
    expect([passages.length, similar.length > 0, cursor]).toEqual([1, true, null])
    const [first, ...others] = await searchAll({ query: 'timeout lighthouse', limit: 2, duplicates: 'show' })
    expect([first?.passages.length, first?.more.length]).toEqual([2, 0])
    expect(others.map((answer) => [answer.passages.length, answer.more.length])).toEqual([[1, 0]])

    for (const [version, statement] of [
      ['1', 'can be changed'],
      ['2', 'cannot be changed'],
      ['3', 'cannot be changed'],
    ] as const)
      await crawl({ '/': setting('A', statement) }, 'versions', version)
    const versions = await searchLibrary(library, { query: 'timeout lighthouse', sources: ['versions'], version: '*' })
    expect(versions.passages.map(({ version }) => version)).toEqual(['3'])
    expect(versions.passages[0]?.similar?.map(({ version }) => version).sort()).toEqual(['1', '2'])
  })

  test('does not prefer an incomplete newer version', async () => {
    const text = {
      '/': page('Guide', { Beam: `<p>The lighthouse beam turns. ${words('turn', 60)}</p>` }, ['/two']),
      '/two': page('Two', { Two: `<p>${words('two', 30)}</p>` }),
    }
    await crawl(text, 'guide', '5.0')
    const site = await openTestSite(text)
    const next = await addSource(library, { url: `${site.origin}/`, name: 'guide', version: '6.0' })
    const capped = await runCrawl(library, next, { kind: 'add', scope: { maxPages: 1 } }, site.origin)
    expect(capped.summary.cappedAt).toBe(1)
    const versions = async (input: Partial<SearchInput>) => {
      const { passages, more, notices } = await searchLibrary(library, { query: 'lighthouse beam', ...input })
      return [[...passages, ...more].map(({ version }) => version), notices]
    }
    expect(await versions({})).toEqual([['5.0'], ['left out as incomplete: guide@6.0; name it to search it']])
    expect(await versions({ version: '*' })).toEqual([
      ['5.0'],
      ['guide@6.0 is PARTIAL: the cap of 1 was reached: 1 known address not read', expect.stringMatching(/^1 page /)],
    ])
    expect((await versions({ version: '6.0' }))[0]).toEqual(['6.0'])
  })

  test('names the searched sources if they were chosen, up to ten', async () => {
    for (let i = 0; i < 12; i++) await addSource(library, { url: `https://docs.example/${i}/`, name: `s${i}` })
    const searched = async (input: Partial<SearchInput>) => {
      const answer = await searchLibrary(library, { query: 'beam', ...input })
      return [answer.searched.length, answer.searchedCount]
    }
    expect(await searched({})).toEqual([0, 12])
    expect(await searched({ sources: ['s3', 's4'] })).toEqual([2, 2])
    expect(await searched({ version: 'latest' })).toEqual([10, 12])
  })

  test('says how many chunks are searchable while the index is incomplete', async () => {
    await loadCrawled(PAGES)
    const store = { ...library.store, readIndexState: async () => ({ chunks: 13_441, indexed: 1204 }) }
    const { notices } = await searchLibrary({ ...library, store }, { query: 'beam' })
    expect(notices).toEqual(['Still indexing: 1,204 of 13,441 passages are searchable'])
  })

  test('shows lists of links last, and only mentions them if there is anything else', async () => {
    const links = ['/beam', ...Array.from({ length: 9 }, (_, i) => `/page${i}`)]
    const list = links.map((href) => `<li><a href="${href}">All about the lighthouse beam of ${href}</a></li>`).join('')
    await crawl({
      '/': page('Contents', { Contents: `<ul>${list}</ul>` }),
      '/beam': page('Tower', { Light: `<p>The lighthouse beam is seen from far away. ${words('far', 30)}</p>` }),
    })
    const answer = await searchLibrary(library, { query: 'lighthouse beam', explain: true })
    expect(answer.passages.map(({ title, explain }) => [title, explain?.linkShare])).toEqual([['Tower', 0]])
    expect(answer.more.map(({ title }) => title)).toEqual(['Contents'])
    const { passages } = await searchLibrary(library, {
      query: 'lighthouse beam',
      cursor: answer.cursor ?? '',
      explain: true,
    })
    expect(passages.map(({ title, explain }) => [title, explain?.linkShare.toFixed(1)])).toEqual([['Contents', '1.0']])
  })
})

describe('searchLibrary cursor', () => {
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `/p${i}`,
      page(`Page ${i}`, {
        One: `<p>The lighthouse. ${words(`p${i}x`, 60)}</p>`,
        Two: `<p>${words(`p${i}y`, 90)}</p>`,
        Three: `<p>Again the lighthouse. ${words(`p${i}z`, 60)}</p>`,
      }),
    ]),
  )
  const site = { '/': page('Start', {}, Object.keys(many)), ...many }

  test('leads through all matches, each once', async () => {
    await loadCrawled(site)
    const input = { query: 'lighthouse', tokens: 600, limit: 5 }
    const answers = await searchAll(input)
    const shown = answers.flatMap(({ passages }) => passages)
    const chunks = shown.flatMap(({ sourceId, chunkIds }) => chunkIds.map((id) => `${sourceId} ${id}`))
    expect(new Set(chunks).size).toBe(chunks.length)
    const all = await searchHits(library.store, { query: 'lighthouse', limit: 1000 })
    expect(chunks.length).toBe(all.length)
    expect(chunks.length).toBe(60)
    for (const { passages, tokens } of answers) {
      expect(passages.length).toBeGreaterThan(0)
      expect(tokens).toBeLessThanOrEqual(600)
    }
    const lines = shown.map(({ url, startLine }) => `${url.replace(/#.*/, '')}:${startLine}`)
    expect(new Set(lines).size).toBe(lines.length)
    expect(await searchAll(input)).toEqual(answers)
  })

  test('comes to an end, however small the budget', async () => {
    const list = Array.from({ length: 12 }, (_, i) => `<li><a href="/p${i}">The lighthouse of page ${i}</a></li>`).join(
      '',
    )
    await crawl({ ...site, '/': page('Lighthouse', { Lighthouse: `<ul>${list}</ul>` }, Object.keys(many)) })
    for (const room of [{ limit: 1 }, { limit: 1, tokens: 40 }, { limit: 3, tokens: 12 }]) {
      const answers = await searchAll({ query: 'lighthouse', ...room })
      const shown = answers.flatMap(({ passages }) => passages.map(({ chunk }) => chunk))
      expect(new Set(shown).size).toBe(shown.length)
      expect(shown.length).toBeGreaterThan(30)
    }
  })

  test('is rejected with another question, other filters, or if it is invalid', async () => {
    await loadCrawled(site)
    const { cursor } = await searchLibrary(library, { query: 'lighthouse' })
    if (cursor === null) throw new Error('expected a cursor')
    expect(await failure({ query: 'beam', cursor })).toMatch(/^CURSOR_INVALID: .*another question/)
    expect(await failure({ query: 'lighthouse', cursor, path: '/p1' })).toMatch(/^CURSOR_INVALID: .*another question/)
    for (const bad of ['', 'x', '0-0123456789abcdef', '999999-0123456789abcdef', `${cursor}0`, '\u0000']) {
      expect(await failure({ query: 'lighthouse', cursor: bad })).toMatch(/^CURSOR_INVALID: /)
    }
  })
})

describe('searchLibrary without hits', () => {
  test('counts what would match without each filter', async () => {
    await crawl(PAGES, 'guide', '1.0')
    await crawl(PAGES, 'guide', '2.0')
    const answer = await searchLibrary(library, {
      query: 'beam',
      sources: ['guide'],
      heading: 'nowhere',
      path: '/retry',
    })
    expect([answer.passages, answer.more, answer.cursor]).toEqual([[], [], null])
    expect(answer.widen).toEqual([
      { filter: 'sources', value: 'guide', pages: 0, instead: [] },
      { filter: 'path', value: '/retry', pages: 0, instead: [] },
      { filter: 'heading', value: 'nowhere', pages: 1, instead: ['Waiting'] },
    ])
    const other = await searchLibrary(library, { query: 'beam', path: '/install' })
    expect(other.widen).toEqual([{ filter: 'path', value: '/install', pages: 2, instead: ['/retry'] }])
  })

  test('suggests nothing without a filter', async () => {
    await loadCrawled(PAGES)
    expect(await searchLibrary(library, { query: 'xyzzy' })).toMatchObject({
      passages: [],
      more: [],
      widen: [],
      cursor: null,
    })
  })

  test('lists available sources, requested names first', async () => {
    for (let i = 0; i < 24; i++) {
      const url = `https://docs.example/${i}/`
      await addSource(library, { url, name: `s${i < 12 ? 'x' : i}`, version: i < 12 ? `1.${i}` : undefined })
    }
    for (let i = 0; i < 9; i++) await addSource(library, { url: `https://docs.example/t${i}/`, name: `t${i}` })
    const { available } = await searchLibrary(library, { query: 'beam', sources: ['t8', 'sx'] })
    expect(available?.names.slice(0, 3)).toEqual(['t8', 'sx', 's12'])
    expect([available?.names.length, available?.more]).toEqual([20, 2])
    expect(available?.versions).toEqual([
      { name: 'sx', versions: ['1.11', '1.10', '1.9', '1.8', '1.7', '1.6', '1.5', '1.4', '1.3', '1.2'], more: 2 },
    ])
    await crawl(PAGES)
    expect(await searchLibrary(library, { query: 'beam' })).not.toHaveProperty('available')
  })

  test('returns an empty answer in a library without sources', async () => {
    expect(await searchLibrary(library, { query: 'beam' })).toMatchObject({ passages: [], searched: [], cursor: null })
  })
})

test('searchLibrary rejects invalid input and says what it received', async () => {
  await loadCrawled(PAGES)
  const bad: [SearchInput, string][] = [
    [{ query: ' \t' }, 'USAGE: expected words to search for, got none'],
    [{ query: 'a', limit: 0 }, 'USAGE: expected limit to be a whole number from 1 to 100, got 0'],
    [{ query: 'a', limit: 1.5 }, 'USAGE: expected limit to be a whole number from 1 to 100, got 1.5'],
    [{ query: 'a', tokens: -1 }, 'USAGE: expected tokens to be a whole number from 1 to 100000, got -1'],
    [{ query: 'a', minScore: 2 }, 'USAGE: expected minScore from 0 to 1, a share of the best score, got 2'],
    [{ query: 'a', minScore: Number.NaN }, 'USAGE: expected minScore from 0 to 1, a share of the best score, got NaN'],
  ]
  for (const [input, message] of bad) expect(await failure(input)).toBe(message)
})

test('searchLibrary stops on abort', async () => {
  await loadCrawled(PAGES)
  await expect(searchLibrary(library, { query: 'beam' }, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
    'enough',
  )
})

describe('searchLibrary by meaning', () => {
  const space: VectorSpace = { model: 'tiny', fingerprint: 'f1', dimensions: 2 }

  /** Creates vectors for which the page of one title is nearest to every query. */
  function vectorsNearTo(title: string, embedded: number): VectorIndex {
    const similarityOf = async (sourceId: string, chunkId: string) => {
      const stored = await library.store.readChunk(sourceId, chunkId)
      return stored?.title === title ? 0.9 : 0.1
    }
    return {
      readSpace: async () => space,
      replaceSpace: async () => undefined,
      listMissing: async () => [],
      lease: async () => true,
      write: async () => undefined,
      refuse: async () => undefined,
      listRefused: async () => [],
      forgetRefused: async () => undefined,
      list: async () => [],
      compare: (_, chunks) => Promise.all(chunks.map(({ sourceId, chunkId }) => similarityOf(sourceId, chunkId))),
      nearest: async (_, limit, filter) => {
        const hits = await searchHits(library.store, {
          query: title,
          limit,
          ...(filter === undefined ? {} : { filter }),
        })
        return hits
          .filter((hit) => hit.title === title)
          .map(({ sourceId, chunk }) => ({ sourceId, chunkId: chunk.id, similarity: 0.9 }))
      },
      readLibraryId: async () => 'one',
      markCopied: async () => undefined,
      countUncopied: async () => 0,
      count: async () => ({ embedded, chunks: 13_441, refused: 0 }),
    }
  }

  function libraryWith(vectors: VectorIndex, open: Library['openEmbedder']): Library {
    return { ...library, vectors, ...(open === undefined ? {} : { openEmbedder: open }) }
  }

  const embedder = (fingerprint = 'f1', vector: number[] | Error = [1, 0]): Embedder => ({
    space: { ...space, fingerprint },
    embed: async (texts) => {
      if (vector instanceof Error) throw vector
      return texts.map(() => Float32Array.from(vector))
    },
    close: async () => undefined,
  })

  test('changes the order and lists vectors as an engine', async () => {
    await loadCrawled(PAGES)
    const input = { query: 'what does the lighthouse installer do before a retry', explain: true }
    const plain = await searchLibrary(library, input)
    const lower = [...plain.passages, ...plain.more].at(-1)?.title ?? ''
    expect(lower).not.toBe(plain.passages[0]?.title)
    const fused = await searchLibrary(
      libraryWith(vectorsNearTo(lower, 13_441), async () => embedder()),
      input,
    )
    expect(fused).toMatchObject({ engines: ['words', 'vectors'], notices: [] })
    expect(fused.passages[0]).toMatchObject({ title: lower, explain: { similarity: 0.9 } })
    const byWords = await searchLibrary(
      libraryWith(vectorsNearTo(lower, 13_441), async () => embedder()),
      { ...input, fusion: 'words' },
    )
    // The cursor differs, because it covers the fusion option.
    expect({ ...byWords, cursor: null }).toEqual({ ...plain, cursor: null })
  })

  test('judges relevance by meaning too: none if the nearest chunk is far away', async () => {
    await loadCrawled(PAGES)
    const query = 'why is the milk of the lighthouse keeper sour in summer'
    const far = libraryWith(vectorsNearTo('a page that is not there', 13_441), async () => embedder())
    expect(await searchLibrary(far, { query })).toMatchObject({ relevance: 'none' })
    const near = libraryWith(vectorsNearTo('Other', 13_441), async () => embedder())
    expect((await searchLibrary(near, { query })).relevance).not.toBe('none')
  })

  test('finds pages that share no word with the query, within the filters', async () => {
    await loadCrawled(PAGES)
    const withVectors = libraryWith(vectorsNearTo('Other', 13_441), async () => embedder())
    expect((await searchLibrary(withVectors, { query: 'xyzzy' })).passages[0]?.title).toBe('Other')
    expect((await searchLibrary(withVectors, { query: 'xyzzy', path: '/retry' })).passages).toEqual([])
    expect((await searchLibrary(withVectors, { query: 'xyzzy', fusion: 'words' })).passages).toEqual([])
  })

  test('uses the same scale of scores in all answers to a question', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 150 }, (_, i) => [
        `/p${i}`,
        // The lower the rank by words, the longer the text.
        page(`Page ${i}`, { Part: `<p>The lighthouse. ${words(`p${i}x`, 20 + i)}</p>` }),
      ]),
    )
    await crawl({ '/': page('Start', {}, Object.keys(many)), ...many })
    const withVectors = libraryWith(vectorsNearTo('Page 140', 13_441), async () => embedder())
    const input = { query: 'what is the lighthouse', limit: 100, tokens: 50_000, explain: true }
    const answers = [await searchLibrary(withVectors, input)]
    for (let cursor = answers[0]?.cursor; cursor != null; cursor = answers.at(-1)?.cursor) {
      answers.push(await searchLibrary(withVectors, { ...input, cursor }))
    }
    const shown = answers.flatMap(({ passages }) => passages)
    expect(shown.length).toBe(150)
    // By words, 140 pages rank above Page 140, and the first answer has 100.
    expect(answers[0]?.passages.map(({ title }) => title)).toContain('Page 140')
    // Without the page found by meaning, the order is that of words throughout.
    const others = shown.filter(({ title }) => title !== 'Page 140').map(({ score }) => score)
    expect(others).toEqual(others.toSorted((a, b) => b - a))
    const best = Math.max(...shown.map(({ score }) => score))
    const least = (others[120] ?? 0) / best
    const strict = { ...input, minScore: least }
    let kept = 0
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const answer: SearchAnswer = await searchLibrary(withVectors, {
        ...strict,
        ...(cursor === undefined ? {} : { cursor }),
      })
      for (const { score } of answer.passages) expect(score).toBeGreaterThanOrEqual(least * best)
      kept += answer.passages.length
      cursor = answer.cursor
    }
    expect(kept).toBe(shown.filter(({ score }) => score >= least * best).length)
    expect(kept).toBeGreaterThan(100)
    expect(kept).toBeLessThan(150)
  })

  test('stops waiting for a hanging embedding service and answers by words', async () => {
    await loadCrawled(PAGES)
    const hung: Embedder = { ...embedder(), embed: () => new Promise(() => undefined) }
    const start = performance.now()
    const withService = libraryWith(vectorsNearTo('Other', 13_441), async () => hung)
    const answer = await searchLibrary({ ...withService, hasEmbeddingService: true }, { query: 'beam' })
    expect(performance.now() - start).toBeGreaterThan(1500)
    expect(answer.passages[0]?.title).toBe('Retries')
    expect(answer).toMatchObject({
      engines: ['words'],
      notices: ['the model cannot be used: no answer within 2 s; answered by words alone'],
    })
    const controller = new AbortController()
    const aborted = searchLibrary(
      libraryWith(vectorsNearTo('Other', 13_441), async () => hung),
      { query: 'beam' },
      controller.signal,
    )
    setTimeout(() => controller.abort(new Error('enough')), 50)
    await expect(aborted).rejects.toThrow('enough')
  })

  test('reports missing or incomplete vectors, and answers by words alone', async () => {
    await loadCrawled(PAGES)
    const vectors = vectorsNearTo('Other', 1204)
    const notices = async (open: Library['openEmbedder']) => {
      const { engines, notices: found, passages } = await searchLibrary(libraryWith(vectors, open), { query: 'beam' })
      // Only "Retries" has the word; "Other" is nearest in meaning only.
      const titles = passages.map(({ title }) => title)
      expect(titles).toEqual(engines.includes('vectors') ? ['Other', 'Retries'] : ['Retries'])
      return [engines.join('+'), ...found]
    }
    const alone = '; answered by words alone'
    expect(await notices(async () => embedder())).toEqual([
      'words+vectors',
      '1,204 of 13,441 passages can be found by meaning, the others by words',
    ])
    expect(await notices(async () => undefined)).toEqual([
      'words',
      `the library has vectors of tiny, which is not configured here${alone}`,
    ])
    expect(await notices(undefined)).toEqual([
      'words',
      `the library has vectors of another model (tiny) than the built-in one (pharos-embed-1)${alone}`,
    ])
    expect(await notices(async () => embedder('f2'))).toEqual([
      'words',
      `the library has vectors of another model (tiny) than the built-in one (tiny)${alone}`,
    ])
    expect(await notices(() => Promise.reject(new Error('no such file')))).toEqual([
      'words',
      `the model cannot be used: no such file${alone}`,
    ])
    expect(await notices(async () => embedder('f1', new Error('out of memory')))).toEqual([
      'words',
      `the model cannot be used: out of memory${alone}`,
    ])
  })
})

describe('searchLibrary with a source name in the question', () => {
  const about = (tool: string) => ({
    '/': page(`${tool} guide`, {
      proxy: `<p>${tool} forwards requests of ${tool} to a backend by the proxy option.</p>`,
    }),
  })

  test('answers from that source first, without searching for its name', async () => {
    await crawl({ '/': page('Guide', { proxy: '<p>The proxy option forwards requests to a backend.</p>' }) }, 'vite')
    await crawl(about('Vite'), 'webpack')
    const first = async (query: string, sources?: string[]) => {
      const { passages } = await searchLibrary(library, { query, ...(sources && { sources }), explain: true })
      return [passages[0]?.source, passages[0]?.explain?.prior]
    }
    expect(await first('vite proxy option')).toEqual(['vite', 1])
    expect(await first('webpack proxy option')).toEqual(['webpack', 1])
    const { passages, more } = await searchLibrary(library, { query: 'webpack proxy option', explain: true })
    expect([...passages, ...more].map(({ source }) => source)).toEqual(['webpack', 'vite'])
    expect(passages[0]?.terms).not.toContain('webpack')
  })

  test('answers from that source, however many hits others have', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 120 }, (_, i) => [
        `/${i}`,
        page(`Rabbit ${i}`, { queue: '<p>Queue timeout of a queue.</p>' }),
      ]),
    )
    await crawl({ ...many, '/': page('Rabbit', { about: '<p>All of it.</p>' }, Object.keys(many)) }, 'rabbit')
    await crawl({ '/': page('Mail', { queue: '<p>Mail waits in the queue until its timeout.</p>' }) }, 'exim')
    const { passages, relevance } = await searchLibrary(library, { query: 'exim queue timeout' })
    expect(passages[0]?.source).toBe('exim')
    expect(relevance).toBe('strong')
  })
})
