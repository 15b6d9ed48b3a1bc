import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { compareVersions } from '../../src/library/changes/compare-versions.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { MAX_EARLIER_BYTES } from '../../src/store/common/earlier-pages.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { type CrawlFixture, createCrawlFixture, openTestLibrary, openTestSite, runCrawl } from './crawl.ts'

/** The content of a page: paragraphs, a list, code and a table under two headings. */
interface Content {
  readonly title: string
  readonly text: string
}

const CONTENTS: Readonly<Record<string, Content>> = {
  '/kiln': {
    title: 'The kiln',
    text: 'A kiln dries for a whole day before its first firing, because wet walls crack.',
  },
  '/glaze': {
    title: 'Glazes',
    text: 'A glaze is a thin layer of glass that melts onto the pot during the second firing.',
  },
  '/clay': { title: 'Clay', text: 'Clay is wedged by hand until no air is left in it, or else the pot may burst.' },
  '/wheel': {
    title: 'The wheel',
    text: 'The wheel turns against the clock, and the hands stay wet while the clay rises.',
  },
}

type Theme = (path: string, content: Content) => string

const body = ({ title, text }: Content, anchor: string) => `
  <h1>${title}${anchor}</h1><p>${text} Read more in <a href="/">the guide</a>.</p>
  <h2 id="use">Use${anchor}</h2><ul><li>first <strong>${title}</strong></li><li>then <code>fire(pot)</code></li></ul>
  <table><tr><th>cone</th><th>heat</th></tr><tr><td>6</td><td>1222</td></tr></table>`

const links = (paths: readonly string[]) => paths.map((path) => `<a href="${path}">${path}</a>`).join(' ')

const plainTheme: Theme = (_path, content) => `<!doctype html><html lang="en"><title>${content.title}</title>
  <body><nav>${links(Object.keys(CONTENTS))}</nav><main>${body(content, '')}
  <pre><code class="language-js">fire(pot)\nwait(10)</code></pre></main></body></html>`

const richTheme: Theme = (
  path,
  content,
) => `<!doctype html><html lang="en"><head><title>${content.title} | Pottery</title></head>
  <body class="theme-dark"><header class="navbar"><a href="/">Pottery</a><button>Search</button></header>
  <div class="layout"><aside class="sidebar"><ul>${Object.keys(CONTENTS).map((one) => `<li><a href="${one}">${one}</a></li>`)}</ul></aside>
  <main role="main"><nav class="breadcrumbs"><a href="/">Home</a> / ${content.title}</nav>
  <article class="markdown-body">${body(content, '<a class="headerlink" href="#x">¶</a>')}
  <div class="highlight"><pre><code class="language-js"><span class="nx">fire</span>(<span class="nx">pot</span>)\n<span class="nx">wait</span>(10)</code></pre></div>
  </article><a class="edit-link" href="/edit${path}">Edit this page</a></main></div>
  <footer>© Pottery. Built with a new theme.</footer></body></html>`

function pagesOf(theme: Theme, contents: Readonly<Record<string, Content>> = CONTENTS): Record<string, string> {
  const start = { title: 'Pottery', text: `Where to begin: ${Object.keys(contents).length} pages.` }
  const home = theme('/', { ...start, text: `Where to begin. ${links(Object.keys(contents))}` })
  const pages = Object.entries(contents).map(([path, content]) => [path, theme(path, content)])
  return { '/': home, ...Object.fromEntries(pages) }
}

async function recrawl(fixture: CrawlFixture, pages: Readonly<Record<string, string>>, full = false) {
  for (const path of fixture.site.pages.keys()) if (!Object.hasOwn(pages, path)) fixture.site.pages.delete(path)
  for (const [path, html] of Object.entries(pages)) fixture.site.pages.set(path, html)
  await fixture.crawl({ kind: 'recrawl', full, acceptLoss: true })
  const { groups, notices } = await compareVersions(fixture.library, { source: fixture.source.id })
  const changes = groups.flatMap((group) => group.changes)
  return { changes, notices, names: changes.map(({ kind, subject, name }) => `${kind} ${subject} ${name}`) }
}

async function stage(): Promise<CrawlFixture> {
  const fixture = await createCrawlFixture(pagesOf(plainTheme))
  await fixture.crawl({ kind: 'add' })
  return fixture
}

describe('the last crawl of a site', () => {
  test('that found the same pages changed nothing, even if it read all of them', async () => {
    const fixture = await stage()
    expect((await recrawl(fixture, pagesOf(plainTheme))).names).toEqual([])
    expect((await recrawl(fixture, pagesOf(plainTheme), true)).names).toEqual([])
    expect((await fixture.library.readEarlierPages(fixture.source.id)).pages).toEqual([])
  })

  test('that found a new theme changed nothing', async () => {
    const fixture = await stage()
    expect((await recrawl(fixture, pagesOf(richTheme))).names).toEqual([])
    expect((await recrawl(fixture, pagesOf(plainTheme))).names).toEqual([])
  })

  test('is compared with the pages before it: changed, added and removed ones', async () => {
    const fixture = await stage()
    const { '/wheel': _, ...kept } = CONTENTS
    const kiln = {
      title: 'The kiln',
      text: 'A kiln dries for two days before its first firing, because wet walls crack.',
    }
    const bisque = {
      title: 'Bisque',
      text: 'A pot that was fired once is porous, and drinks the glaze that it is dipped into.',
    }
    const { changes, names } = await recrawl(
      fixture,
      pagesOf(plainTheme, { ...kept, '/kiln': kiln, '/bisque': bisque }),
    )
    expect(names.filter((name) => !name.endsWith('Pottery'))).toEqual([
      'removed page wheel',
      'added page bisque',
      'text section The kiln',
    ])
    const text = changes.find(({ name }) => name === 'The kiln')
    expect(text?.lines.join('\n')).toMatch(/^- A kiln dries for a whole day.*\n\+ A kiln dries for two days/)
    expect(text?.url).toContain('/kiln')
  })

  test('replaces what the crawl before it changed', async () => {
    const fixture = await stage()
    const changed = {
      ...CONTENTS,
      '/clay': { title: 'Clay', text: 'Clay comes from a river bed, and is dried and sieved first.' },
    }
    expect((await recrawl(fixture, pagesOf(plainTheme, changed))).names).toEqual(['text section Clay'])
    const { readEarlierText } = fixture.library
    const { key } = await findPage(fixture.library, { url: `${fixture.site.origin}/clay` })
    expect(await readEarlierText(fixture.source.id, key)).toContain(CONTENTS['/clay']?.text)
    expect(await readEarlierText(fixture.source.id, `${key}/x`)).toBe(null)
    expect((await recrawl(fixture, pagesOf(plainTheme, changed))).names).toEqual([])
  })

  test('cannot be compared if it was the first', async () => {
    const fixture = await stage()
    const comparison = compareVersions(fixture.library, { source: fixture.source.id })
    await expect(comparison).rejects.toThrow('was crawled only once')
  })

  test('keeps earlier texts within a limit, and lists the pages beyond it', async () => {
    const { store, readEarlierPages } = await openTestLibrary()
    await addSourceTo(store, 'docs')
    // Random text hardly shrinks.
    const write = (i: number) => writePage(store, 'docs', `/${i}`, randomBytes(350_000).toString('base64'))
    const numbers = Array.from({ length: 30 }, (_, i) => i)
    for (const i of numbers) await write(i)
    expect((await readEarlierPages('docs')).pages).toEqual([])
    for (const i of numbers) await write(i)
    const { pages, readText } = await readEarlierPages('docs')
    expect(pages).toHaveLength(30)
    const texts = await Promise.all(pages.map(({ key }) => readText(key)))
    const bytes = texts.filter((text) => text !== null).length * 350_000
    expect(bytes).toBeGreaterThan(MAX_EARLIER_BYTES / 2)
    expect(bytes).toBeLessThanOrEqual(MAX_EARLIER_BYTES)
    await store.removeSource('docs')
    expect((await readEarlierPages('docs')).pages).toEqual([])
  })

  test('tells that a page changed or went whose earlier text is too long to be kept', async () => {
    const fixture = await createCrawlFixture(pagesOf(plainTheme))
    const long = 'A very long page about clay. '.repeat(40_000)
    const { '/wheel': wheel, ...others } = pagesOf(plainTheme)
    const old = { ...others, '/wheel': `<main><h1>The wheel</h1><p>${long}</p></main>` }
    for (const [path, html] of Object.entries(old)) fixture.site.pages.set(path, html)
    await fixture.crawl({ kind: 'add' })
    const changed = await recrawl(fixture, { ...old, '/wheel': wheel ?? '' })
    expect(changed.names).toEqual(['text page wheel'])
    expect(changed.changes[0]?.lines).toEqual(['its earlier text was not kept'])
    await recrawl(fixture, old)
    expect((await recrawl(fixture, others)).names).toEqual(['removed page wheel'])
  })

  test('tells changed pages without a text if it was copied or older than the table of earlier texts', async () => {
    const fixture = await stage()
    const clay = { title: 'Clay', text: 'Clay comes from a river bed, and is dried and sieved first.' }
    const changed = { ...CONTENTS, '/clay': clay }
    await recrawl(fixture, pagesOf(plainTheme, changed))
    const library = { ...fixture.library, readEarlierPages: async () => NONE_KEPT }
    const { groups } = await compareVersions(library, { source: fixture.source.id })
    const names = groups.flatMap((group) =>
      group.changes.map(({ kind, subject, name }) => `${kind} ${subject} ${name}`),
    )
    expect(names).toEqual(['text page clay'])
    await fixture.crawl({ kind: 'recrawl', full: true })
    const all = await compareVersions(library, { source: fixture.source.id })
    expect([all.groups, all.notices]).toEqual([[], [expect.stringContaining('5 pages may have changed too')]])
  })
})

const NONE_KEPT = { pages: [], isComplete: false, readText: async () => null }

describe('two versions of a site', () => {
  test('are compared by the paths below their start', async () => {
    const library = await openTestLibrary()
    for (const [version, text] of [
      ['1.0', 'Call fire() with a pot.'],
      ['2.0', 'Call burn() with a pot.'],
    ] as const) {
      const contents = { ...CONTENTS, '/kiln': { title: 'The kiln', text } }
      const site = await openTestSite(pagesOf(plainTheme, contents))
      const source = await addSource(library, { url: `${site.origin}/`, name: 'guide', version })
      await runCrawl(library, source, { kind: 'add' }, site.origin)
    }
    const { from, to, groups } = await compareVersions(library, { source: 'guide', from: '1', to: '2' })
    expect([from.version, to.version]).toEqual(['1.0', '2.0'])
    expect(groups.flatMap(({ changes }) => changes.map(({ kind, name }) => `${kind} ${name}`))).toEqual([
      'text The kiln',
    ])
    await expect(compareVersions(library, { source: 'guide', from: '3' })).rejects.toThrow(
      'no version 3 of guide; the library has 2.0, 1.0',
    )
    await expect(compareVersions(library, { source: 'guide', to: '1' })).rejects.toThrow(
      'no version older than 1.0 of guide; the library has 2.0, 1.0',
    )
    await expect(compareVersions(library, { source: 'guide', from: '2', to: '2.0' })).rejects.toThrow(
      'both versions are guide@2.0',
    )
    expect((await compareVersions(library, { source: 'guide' })).from.version).toBe('1.0')
    expect((await compareVersions(library, { source: 'guide@2.0', from: '1' })).to.version).toBe('2.0')
  })
})
