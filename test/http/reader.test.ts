import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { findSource } from '../../src/library/sources/find-source.ts'
import { epub } from '../documents/written.ts'
import { runCrawl } from '../sites/crawl.ts'
import { openPageFixture, type PageFixture } from './page-fixture.ts'

let fixture: PageFixture
let http: HttpApp

const LONG_SECTIONS = 40

beforeAll(async () => {
  fixture = await openPageFixture({
    pages: {
      '/': article(
        'Start',
        'en',
        '<a href="/install">Install</a> <a href="/de/install">Deutsch</a> <a href="/long">Long</a>',
      ),
      '/install': article(
        'Install the lamp',
        'en',
        'Trim the wick first, see <a href="/long#section-30">section 30</a>, <a href="#oil">oil</a> and <a href="https://elsewhere.example/x">elsewhere</a>.',
      ),
      '/de/install': article(
        'Die Lampe einrichten',
        'de',
        'Zuerst wird der Docht gekürzt, dann das Öl gefüllt und die Lampe angezündet.',
      ),
      '/long': article('A long page', 'en', 'See <a href="#section-39">the last</a>.', listSections()),
      '/v1/': article('Start of version 1', 'en', '<a href="/v1/install">Install</a>'),
      '/v1/install': article('Install the lamp', 'en', 'In version 1 there was no wick.'),
    },
  })
  const { library, origin } = fixture
  const old = await addSource(library, { url: `${origin}/v1/`, name: 'guide', version: '1.0' })
  await runCrawl(library, old, { kind: 'add' }, origin)
  http = createHttp(fixture.ports)
})

afterAll(async () => {
  http.close()
  await fixture.close()
})

function article(title: string, language: string, text: string, more = ''): string {
  return `<!doctype html><html lang="${language}"><head><title>${title}</title></head><body><main><h1>${title}</h1>
<p>${text} The rest of this paragraph makes the page long enough to be kept.</p>
<h2 id="oil">Oil</h2><p>Fill it with oil until the mark and wait for a minute before you light it.</p>
<h2 id="light">Light</h2><pre><code class="language-python">def light(lamp):
    return lamp.on</code></pre>${more}</main></body></html>`
}

function listSections(): string {
  const words = 'Words that make this section long. '.repeat(120)
  return Array.from({ length: LONG_SECTIONS }, (_, i) => `<h2 id="section-${i}">Section ${i}</h2><p>${words}</p>`).join(
    '',
  )
}

/** A book with a chapter that the reader shows in several parts. */
function createBook(): Uint8Array {
  const words = `<p>${'Words that make this paragraph long. '.repeat(100)}</p>`
  return epub({
    'one.xhtml': `<h1>One</h1>${words.repeat(40)}<h2>The end</h2><p>Done.</p>`,
    'two.xhtml': `<h1>Two</h1>${words}`,
  })
}

/** Requests a page of the reader as a browser does. */
async function read(query: Readonly<Record<string, string>>): Promise<{ status: number; body: string }> {
  const url = `http://127.0.0.1:41000/read?${new URLSearchParams(query)}`
  const response = await http.fetch(new Request(url, { headers: { accept: 'text/html' } }))
  return { status: response.status, body: await response.text() }
}

describe('GET /api/search with html', () => {
  test('renders each passage with its words marked, links to the reader, and adds its citation', async () => {
    const url = 'http://127.0.0.1:41000/api/search?q=trim+the+wick&html=1'
    const answer = (await (await http.fetch(new Request(url))).json()) as Record<'passages', Record<string, string>[]>
    const [first] = answer.passages
    expect(first?.['html']).toContain('<mark>Trim</mark> the <mark>wick</mark> first')
    expect(first?.['html']).toMatch(/<a href="\/read\?source=[^"]+">section 30<\/a>/)
    expect(first?.['html']).not.toContain('id="L')
    expect(first?.['citation']).toMatch(/^"Install the lamp" — http.* \(chunk guide@2\.0\//)
  })

  test('adds nothing without it', async () => {
    const response = await http.fetch(new Request('http://127.0.0.1:41000/api/search?q=trim+the+wick'))
    expect(await response.text()).not.toContain('<mark>')
  })
})

describe('the reader', () => {
  test('shows a stored page with its outline, its source and links to the original and the Markdown', async () => {
    const url = `${fixture.origin}/install`
    const { status, body } = await read({ url })
    expect(status).toBe(200)
    expect(body).toContain('<h1>Install the lamp</h1>')
    expect(body).toContain('<p id="L3"><a class="line-link" href="#L3"')
    expect(body).toContain('<span class="code-keyword">def</span> <span class="code-call">light</span>')
    expect(body).toMatch(/<nav class="page-outline".*<a href="#L5">Oil<\/a>.*<a href="#L9">Light<\/a>/s)
    expect(body).toContain(`<a class="button" href="${url}" rel="noopener noreferrer nofollow">Original page</a>`)
    expect(body).toContain('guide@2.0')
  })

  test('leads to stored pages in the reader, to anchors of the page itself, and out of the library', async () => {
    const { body } = await read({ url: `${fixture.origin}/install` })
    expect(body).toMatch(
      /<a href="\/read\?source=[\w-]+&amp;url=[^"]+%2Flong%23section-30#at-section-30">section 30<\/a>/,
    )
    expect(body).toContain('<a href="#L5">oil</a>')
    expect(body).toContain('<a href="https://elsewhere.example/x" rel="noopener noreferrer nofollow">elsewhere</a>')
    expect(body).toContain('<span id="at-oil"></span>')
  })

  test('highlights the passage', async () => {
    const { body } = await read({ url: `${fixture.origin}/install`, lines: '5-7' })
    expect(body).toContain('<h3 class="h2 in-passage" id="L5">')
    expect(body).toContain('<p class="in-passage" id="L7">')
    expect(body.match(/in-passage/g)).toHaveLength(2)
  })

  test('switches between versions and languages of the page', async () => {
    const { body } = await read({ url: `${fixture.origin}/install`, source: 'guide@2.0' })
    expect(body).toMatch(/aria-label="Version".*aria-current="true">2\.0<.*%2Fv1%2Finstall">1\.0</s)
    expect(body).toMatch(/aria-label="Language".*%2Fde%2Finstall">de<.*aria-current="true">en</s)
    const { body: start } = await read({ url: `${fixture.origin}/de/install` })
    expect(start).not.toContain('aria-label="Version"')
  })

  test('cuts a long page into parts, and opens the part with the passage or the anchor', async () => {
    const url = `${fixture.origin}/long`
    const first = await read({ url })
    expect(first.body).toContain('part 1 of 4')
    expect(first.body).toContain('Next part →</a>')
    expect(first.body).toContain('<span class="off">← Previous part</span>')
    expect(first.body).toMatch(/href="\/read\?[^"]*part=4#L\d+">Section 39</)
    expect(first.body).toMatch(/<a href="\/read\?[^"]*%2Flong&amp;part=4#L\d+">the last</)
    expect(first.body).not.toContain('id="at-section-39"')
    expect((await read({ url: `${url}#section-39` })).body).toContain('id="at-section-39"')
    expect((await read({ url, part: '2' })).body).toContain('part 2 of 4')
    expect((await read({ url, part: '99' })).body).toContain('part 4 of 4')
    expect((await read({ url, lines: '150-151' })).body).toContain('part 4 of 4')
  })

  test('leads to other parts of a page whose file has several pages', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pharos-reader-'))
    try {
      const file = join(folder, 'book.epub')
      await writeFile(file, createBook())
      const source = await addSource(fixture.library, {
        url: `${pathToFileURL(folder)}/`,
        name: 'book',
        isOwnFolder: true,
      })
      await runCrawl(fixture.library, source, { kind: 'add' }, '')
      const url = `${pathToFileURL(file)}#one.xhtml`
      const { body } = await read({ url, source: source.id })
      const href = /<a href="([^"]+)">The end<\/a>/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
      const { searchParams, hash } = new URL(href, 'http://127.0.0.1/')
      expect(searchParams.get('url')).toBe(url)
      const target = await read(Object.fromEntries(searchParams))
      expect(target.body).toMatch(new RegExp(`id="${hash.slice(1)}".*The end`))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('shows what the last crawl changed, folded, and only where it changed something', async () => {
    const { library, site, origin } = fixture
    const oil = 'https://elsewhere.example/oil'
    site.pages.set(
      '/v1/install',
      article('Install the lamp', 'en', `In version 1 the <a href="${oil}">wick</a> is new.`),
    )
    await runCrawl(library, await findSource(library, 'guide@1.0'), { kind: 'recrawl' }, origin)
    const { body } = await read({ url: `${origin}/v1/install` })
    expect(body).toContain('<summary>Changed in the last crawl: 1 section</summary>')
    expect(body).toContain('Changed text: <a href="#L1">Install the lamp</a>')
    expect(body).toMatch(/<del>- In version 1 there was no wick\..*<ins>\+ In version 1 the wick is new\./s)
    expect((await read({ url: `${origin}/v1/` })).body).not.toContain('Changed in the last crawl')
    expect((await read({ url: `${origin}/install` })).body).not.toContain('Changed in the last crawl')
  })

  test('gives the Markdown as it is stored', async () => {
    const url = `http://127.0.0.1:41000/read.md?url=${encodeURIComponent(`${fixture.origin}/install`)}`
    const response = await http.fetch(new Request(url))
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain('Install-the-lamp.md')
    expect(await response.text()).toMatch(/^# Install the lamp\n\nTrim the wick first/)
  })

  test('says of a page that is not stored what is known about it, and asks for an address without one', async () => {
    const { status, body } = await read({ url: `${fixture.origin}/instal` })
    expect(status).toBe(404)
    expect(body).toContain('The library holds no text of this page')
    expect(body).toContain(`/read?url=${encodeURIComponent(`${fixture.origin}/install`)}`)
    expect(body).toContain('/url?url=')
    expect((await read({})).body).toContain('Enter the address of a page')
    expect((await read({ url: `${fixture.origin}/install`, source: 'nothing' })).status).toBe(404)
  })
})
