import { Parser } from 'htmlparser2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { resolvePageLinks } from '../../src/http/reader/reader-links.ts'
import { parseMarkdown, renderMarkdown } from '../../src/http/reader/render-markdown.ts'
import type { PageFixture } from './page-fixture.ts'
import { attackOn, HOSTILE_MARKDOWN, hostilePaths, openHostileFixture } from './xss-corpus.ts'

/* Checks that every page shows what a hostile site can store only as text, under a policy that would block scripts as well. */

let fixture: PageFixture
let http: HttpApp

beforeAll(async () => {
  fixture = await openHostileFixture()
  http = createHttp(fixture.ports)
})

afterAll(async () => {
  http.close()
  await fixture.close()
})

/** Requests a page as a browser does. */
function ask(path: string): Promise<Response> {
  return http.fetch(new Request(`http://127.0.0.1:41000${path}`, { headers: { accept: 'text/html' } }))
}

const cases = hostilePaths('')

test.each(cases.map(([path], i) => [i, path.slice(0, 60)] as const))(
  'page %i, %s, shows attacks only as text',
  async (i) => {
    const [path, shows] = hostilePaths(fixture.origin)[i] ?? ['', '']
    const response = await ask(path)
    const body = await response.text()
    const { elements, text } = readMarkup(body)
    expect(text.includes(shows), shows).toBe(true)
    expect(elements.filter(({ name }) => !OWN_ELEMENTS.has(name)).map(({ name }) => name)).toEqual([])
    expect(elements.flatMap(({ name, attributes }) => findDanger(name, attributes))).toEqual([])
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-type')).toMatch(/^text\/html/i)
  },
)

test('rendered Markdown has no element, attribute or link of its text', async () => {
  const [source] = await fixture.library.store.listSources()
  if (source === undefined) throw new Error('there is no source')
  const parsed = parseMarkdown(HOSTILE_MARKDOWN)
  const [resolveLink = () => null] = await resolvePageLinks(fixture.library, [
    { source, url: `${fixture.origin}/raw.md`, hrefs: parsed.hrefs },
  ])
  const lines = { first: 1, passage: { start: 1, end: 9 }, anchorsAt: () => [attackOn('anchor')], title: '' }
  for (const terms of [[], ['script', 'globalThis', 'onerror', 'amp', 'quot', 'lt', 'b', '"']]) {
    const body = renderMarkdown(parsed, { headingLevel: 2, terms, resolveLink, lines })
    const { elements, text } = readMarkup(body)
    for (const field of ['title', 'heading']) expect(text).toContain(`globalThis.pwned="markdown ${field}"</script>`)
    for (const field of ['raw block', 'cell', 'fence', 'indented', 'item', 'quote', 'broken tag']) {
      expect(text).toContain(`<script>globalThis.pwned="${field}"</script>`)
    }
    expect(elements.filter(({ name }) => !OWN_ELEMENTS.has(name)).map(({ name }) => name)).toEqual([])
    expect(elements.flatMap(({ name, attributes }) => findDanger(name, attributes))).toEqual([])
    expect(text.match(/[\0\u202e\u2066]/)).toBeNull()
    const links = elements.flatMap(({ attributes: { href = '#' } }) => (/^#L\d/.test(href) ? [] : [href]))
    expect(links.filter((href) => /^\/read/.test(href))).toHaveLength(2)
  }
})

test('bidirectional control characters and invisible characters are in no text of a page', async () => {
  for (const [path] of hostilePaths(fixture.origin)) {
    const body = await (await ask(path)).text()
    // Attributes are not checked, because the value of a filter field must stay as it was entered.
    expect(readMarkup(body).text.match(/[\0\u202e\u2066]/), path).toBeNull()
  }
})

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

function readMarkup(body: string): { readonly elements: readonly Element[]; readonly text: string } {
  const elements: Element[] = []
  let text = ''
  const parser = new Parser({
    onopentag: (name, attributes) => elements.push({ name, attributes: { ...attributes } }),
    ontext: (part) => {
      text += part
    },
  })
  parser.end(body)
  return { elements, text }
}

/** The elements that the pages use themselves. */
const OWN_ELEMENTS = new Set(
  'html head meta title link script body a header div nav ul ol li main h1 h2 p span small code time table caption thead tbody tr th td template form label input select option button dl dt dd section svg rect details summary figure figcaption path circle progress noscript article pre em strong s mark h3 h4 h5 h6 blockquote hr br'.split(
    ' ',
  ),
)

/** Attributes of an element that could run, load or link to something. */
function findDanger(name: string, attributes: Readonly<Record<string, string>>): string[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const isBad =
      /^on|^style$|^srcdoc$|^formaction$|^xlink:/i.test(key) ||
      (key === 'src' && !(name === 'script' && value === '/pages/live.js')) ||
      (key === 'action' && !value.startsWith('/')) ||
      (key === 'href' && !isHarmless(value, attributes['rel']))
    return isBad ? [`${name} ${key}="${value}"`] : []
  })
}

function isHarmless(href: string, rel = ''): boolean {
  if (/^(?:\/(?!\/)|#)/.test(href)) return true
  return /^https?:\/\//.test(href) && rel === 'noopener noreferrer nofollow'
}
