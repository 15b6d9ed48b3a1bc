import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Section } from '../../src/core/model.ts'
import { findDefinitions } from '../../src/core/retrieval/definitions.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { writeCitation } from '../../src/library/search/display-text.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import type { Passage } from '../../src/library/search.ts'
import type { Source, SourceSettings } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { openTestLibrary, openTestSite, runCrawl } from '../sites/crawl.ts'
import type { Answer } from '../sites/site.ts'
import { checkAnswer, type ReadPage, readPage } from './rules.ts'

/*
 * Checks passages by rule: fences are balanced, table rows are whole and under their header, headings are named, the budget is kept, the
 * text equals the lines of the stored page, no block is split unless it is larger than the answer, and nothing comes twice. Two small sites
 * from pages of the corpus are always tested. TEST_LONG adds two large ones from Debian packages.
 */

const corpus = join(dirname(dirname(fileURLToPath(import.meta.url))), 'pages')
const isLong = process.env['TEST_LONG'] !== undefined

/** Pages of the corpus by these generators, as one site. */
function corpusSite(generators: RegExp): Record<string, Answer> {
  const folders = readdirSync(corpus).filter((name) => generators.test(name))
  const names = folders.filter((name) => existsSync(join(corpus, name, 'input.html')))
  const pages = names.map((name) => [`/${name}.html`, readFileSync(join(corpus, name, 'input.html'), 'utf8')] as const)
  return siteOf(pages.map(([path, html]) => [path, () => html]))
}

/** Every page of a folder, as one site. */
function folderSite(folder: string): Record<string, Answer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
  return siteOf(names.sort().map((name) => [`/${name}`, () => readFileSync(join(folder, name), 'utf8')]))
}

/** A site whose first page links to all others. */
function siteOf(pages: readonly (readonly [path: string, read: () => string])[]): Record<string, Answer> {
  const links = pages.map(([path]) => `<li><a href="${path}">${path}</a></li>`).join('')
  const start = `<!doctype html><title>Start</title><main><h1>Start</h1><p>Everything.</p><ul>${links}</ul></main>`
  const answers = pages.map(
    ([path, read]) =>
      [path, () => ({ body: read(), headers: { 'content-type': 'text/html; charset=utf-8' } })] as const,
  )
  return Object.fromEntries([...answers, ['/', start]])
}

async function crawlSite(
  library: OpenLibrary,
  name: string,
  pages: Record<string, Answer>,
  settings: Partial<SourceSettings> = {},
): Promise<Source> {
  const site = await openTestSite(pages)
  const source = await addSource(library, { url: `${site.origin}/`, name, settings })
  const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
  expect(summary.end).toBe('completed')
  return source
}

/** Questions that a site can answer, each about another part: headings, defined names, adjacent words. */
async function writeQueries(library: OpenLibrary, source: Source, count: number): Promise<string[]> {
  const headings: string[] = []
  const names: string[] = []
  const phrases: string[] = []
  for await (const { page } of library.store.listPages(source.id)) {
    for (const { title } of page.sections.flatMap((section) => [section, ...section.children])) headings.push(title)
    for (const { name } of findDefinitions(page.markdown)) names.push(name)
    const words = page.markdown.match(/\p{L}{4,}(?: \p{L}+){2,5}/gu) ?? []
    phrases.push(...words.filter((_, i) => i % 17 === 0))
  }
  const lists = [headings, names, phrases].filter((list) => list.length > 0)
  const queries = Array.from({ length: count }, (_, i) => {
    const list = lists[i % lists.length] ?? []
    return list[Math.floor((i * list.length) / count)] ?? ''
  })
  return queries.filter((query) => /[\p{L}\p{N}]/u.test(query))
}

/** Figures about the checked passages. */
interface Tally {
  queries: number
  passages: number
  cut: number
  mentions: number
  empty: number
  tokens: number
  readonly problems: string[]
}

async function checkQueries(library: OpenLibrary, source: Source, queries: readonly string[]): Promise<Tally> {
  const pages = new Map<string, ReadPage>()
  const tally: Tally = { queries: 0, passages: 0, cut: 0, mentions: 0, empty: 0, tokens: 0, problems: [] }
  for (const [i, query] of queries.entries()) {
    const tokens = BUDGETS[i % BUDGETS.length] ?? 2000
    const answer = await searchLibrary(library, { query, sources: [source.id], tokens })
    for (const { url } of answer.passages) {
      const key = url.replace(/#.*/, '')
      if (pages.has(key)) continue
      const text = await library.store.readPageText(source.id, key)
      if (text !== undefined) pages.set(key, readPage(text))
    }
    const pageOf = ({ url }: Passage): ReadPage => {
      const page = pages.get(url.replace(/#.*/, ''))
      if (page === undefined) throw new Error(`no page ${url}`)
      return page
    }
    for (const problem of checkAnswer(answer, tokens, pageOf)) tally.problems.push(`${query} (${tokens}): ${problem}`)
    tally.queries++
    tally.passages += answer.passages.length
    tally.cut += answer.passages.filter(({ isCut }) => isCut).length
    tally.mentions += answer.more.length
    tally.empty += answer.passages.length === 0 ? 1 : 0
    tally.tokens += answer.tokens
  }
  return tally
}

/** Most questions have the usual budget; some have a small or a large one. */
const BUDGETS = [2000, 2000, 3000, 1000, 300, 10_000]

describe('the rules', () => {
  const markdown = `# Top\n\n## Code\n\n\`\`\`js\nfirst()\n\nsecond()\n\`\`\`\n\n| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n`
  const section = (title: string, startLine: number, children: Section[] = []): Section => {
    return { title, level: 1, anchor: null, startLine, endLine: 14, children }
  }
  const read = readPage({ markdown, sections: [section('Top', 1, [section('Code', 3)])] })

  /** The problems of an answer with the given lines of the page as its passage, `copies` times. */
  function check(startLine: number, endLine: number, change: Partial<Passage> = {}, copies = 1): string[] {
    const text = read.lines.slice(startLine - 1, endLine).join('\n')
    const site = {
      sourceId: 's',
      source: 's',
      version: null,
      title: 'Top',
      url: 'https://docs.example/',
      chunk: 's/1',
    }
    const facts = {
      score: 1,
      terms: [],
      checkedAt: 1,
      changedAt: 1,
      chunkIds: ['1'],
      isCut: false,
      kind: 'markdown',
    } as const
    const passage = { ...site, ...facts, headingPath: ['Top', 'Code'], startLine, endLine, text, tokens: 1, ...change }
    const passages = Array.from({ length: copies }, () => passage)
    const tokens = passages.reduce((sum, one) => sum + Math.ceil((one.text + writeCitation(one)).length / 4), 0)
    const rest = {
      query: 'q',
      engines: ['words' as const],
      relevance: 'strong' as const,
      uncovered: [],
      elsewhere: [],
      notices: [],
      partial: [],
      searched: [],
      searchedCount: 1,
      more: [],
      moreShown: 0,
      cursor: null,
      widen: [],
    }
    return checkAnswer({ ...rest, passages, tokens }, 40, () => read)
  }

  test('accept a good passage', () => {
    expect(check(3, 9)).toEqual([])
    expect(check(11, 14)).toEqual([])
  })

  test.each<[string, () => string[], RegExp]>([
    ['a fence that is open', () => check(3, 7), /has an open fence/],
    ['a fence that begins before the passage', () => check(7, 9), /splits a fence of lines 5-9/],
    ['a table without its header', () => check(13, 14), /has a row outside of a table/],
    ['a table without its last row', () => check(11, 13), /splits a table/],
    ['other lines than the passage states', () => check(3, 9, { startLine: 1 }), /is not the text of its lines/],
    ['a heading that is not named', () => check(3, 9, { headingPath: ['Top'] }), /is under Top > Code, but says Top$/],
    ['more than the budget', () => check(3, 14, {}, 4), /takes \d+ tokens of \d+/],
    ['the same text twice', () => check(3, 9, {}, 2), /^(?:chunk|text|lines) .* twice$/s],
    ['a cut without need', () => check(3, 9, { isCut: true }), /is cut, but its block takes only/],
  ])('find %s', (_what, find, problem) => {
    expect(
      find().some((one) => problem.test(one)),
      find().join('; '),
    ).toBe(true)
  })
})

describe('passages of small sites', () => {
  test.each([
    ['sphinx', 'library', /^(?:sphinx|texinfo|docbook)/],
    ['modern', 'library', /^(?:docusaurus|mkdocs|vitepress|starlight|rustdoc|typedoc)/],
    ['sphinx', 'tokens', /^(?:sphinx|texinfo|docbook)/],
  ] as const)('passages of %s sites with %s chunks satisfy every rule', async (name, chunks, generators) => {
    const library = await openTestLibrary()
    const source = await crawlSite(library, name, corpusSite(generators), { chunks })
    const queries = await writeQueries(library, source, 30)
    const { problems, ...figures } = await checkQueries(library, source, queries)
    expect(problems).toEqual([])
    expect(figures.passages).toBeGreaterThan(figures.queries)
    expect(figures.empty).toBeLessThan(3)
  })
})

const SITES = [
  { title: 'python3.11-doc', folder: '/usr/share/doc/python3.11/html' },
  { title: 'postgresql-doc-15', folder: '/usr/share/doc/postgresql-doc-15/html' },
]

test.each(isLong ? SITES : [])(
  'passages of $title satisfy every rule',
  { timeout: 1_800_000 },
  async ({ title, folder }) => {
    if (!existsSync(folder)) throw new Error(`the pages are not installed; run apt-get install ${title}`)
    const library = await openTestLibrary()
    const source = await crawlSite(library, title, folderSite(folder))
    const queries = await writeQueries(library, source, 250)
    const { problems, ...figures } = await checkQueries(library, source, queries)
    console.log(title, figures)
    expect(problems).toEqual([])
    expect(figures.queries).toBeGreaterThan(240)
    expect(figures.passages).toBeGreaterThan(3 * figures.queries)
  },
)
