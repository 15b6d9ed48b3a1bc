import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { extractPage } from '../../src/core/extract/extract-page.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { BoundedProgram, extendTestTimeout, isLong } from './bounded.ts'

/*
 * Malicious pages, extracted by the built program in a separate process. Each must give Markdown with its words, or a reason why there is
 * none, in time and in bounded memory. TEST_LONG runs them at full size, each in a process of its own. TEST_REPORT names a file for the
 * figures.
 */

/** Factor for all repetitions. */
const SCALE = isLong ? 10 : 0.25
/** Nesting depth, which overflows the stack of a recursive function. */
const DEPTH = isLong ? 100_000 : 10_000
const MAX_RSS_MB = isLong ? 3500 : 1000

extendTestTimeout()

const sandbox = new ProgramSandbox()
const program = new BoundedProgram(sandbox, MAX_RSS_MB)

afterAll(async () => {
  await program.end()
  sandbox.remove()
})

const PROSE = '<p>The visible paragraph, which has enough words to be the content of this page, comes last of all.</p>'
const fill = (text: string, count: number) => text.repeat(count * SCALE)
const nest = (text: string) => text.repeat(DEPTH)

/** HTML of pages that contain the paragraph to extract. */
const PAGES: Readonly<Record<string, () => string>> = {
  'nested elements': () => `${nest('<div>')}${PROSE}${nest('</div>')}`,
  'elements never closed': () => `${nest('<b><div><i>')}${PROSE}`,
  'nested lists': () => `${nest('<ul><li>x')}</ul>${PROSE}`,
  'nested quotes': () => `${nest('<blockquote>')}${fill('<p>line of a quote</p>', 1000)}${PROSE}`,
  'nested tables': () => `${nest('<table><tr><td>')}${PROSE}`,
  'nested emphasis': () => `<p>${nest('<b><i>x')}</p>${PROSE}`,
  'end tags alone': () => `${fill('</div></p></b>', 50_000)}${PROSE}`,
  'a large table': () =>
    `<table>${fill('<tr><td>cell one</td><td>cell two, longer</td></tr>', 40_000)}</table>${PROSE}`,
  'a wide table': () => `<table><tr>${fill('<td>x</td>', 10_000)}</tr></table>${PROSE}`,
  'cells that span everything': () => {
    return `<table>${fill('<tr><td rowspan=100000 colspan=100000>x</td><td>y</td></tr>', 1000)}</table>${PROSE}`
  },
  'many links': () => `<p>${fill('<a href="/page?x=1">a link</a> ', 100_000)}</p>${PROSE}`,
  'many different links': () => {
    return Array.from({ length: 20_000 * SCALE }, (_, i) => `<a href="/${i}">link ${i}</a>`).join(' ') + PROSE
  },
  'many items': () => `<ul>${fill('<li>item', 50_000)}</ul>${PROSE}`,
  'many headings': () => `${fill('<h2>Heading</h2>', 30_000)}${PROSE}`,
  'many code blocks': () => `${fill('<pre><code>x = 1\n</code></pre>', 20_000)}${PROSE}`,
  backticks: () => `<pre>${fill('`', 500_000)}</pre>${PROSE}`,
  'marks of Markdown': () => `<p>${fill('*_`[]()#>-+~|\\', 50_000)}</p>${PROSE}`,
  'open brackets': () => `<p>${fill('[', 500_000)}</p>${PROSE}`,
  entities: () => `<p>${fill('&amp;&lt;&#x41;&nbsp;', 50_000)}</p>${PROSE}`,
  'broken entities': () => `<p>${fill('&am&#x&#99999999999;', 50_000)}</p>${PROSE}`,
  attributes: () => `<p ${fill('a=b ', 200_000)}>${PROSE}`,
  'a long attribute': () => `<p title="${fill('x ', 500_000)}">${PROSE}`,
  classes: () => `<div class="${fill('nav menu x ', 100_000)}">${PROSE}</div>`,
  'different classes': () => {
    return `<div class="${Array.from({ length: 50_000 * SCALE }, (_, i) => `c${i}`).join(' ')}">${PROSE}</div>`
  },
  comments: () => `${fill('<!-- x --><!-->', 100_000)}${PROSE}`,
  'style sheets': () => `<style>${fill('.a .b > .c:hover{display:none}', 20_000)}</style>${PROSE}`,
  'open style rules': () => `<style>${fill('@media x{.a{', 50_000)}</style>${PROSE}`,
  'structured data': () => `<script type="application/ld+json">${nest('[{"@graph":'.repeat(2))}</script>${PROSE}`,
  'tab sets': () =>
    `${fill('<div role=tablist><button role=tab>a</button></div><div role=tabpanel>x</div>', 10_000)}${PROSE}`,
  'definition lists': () => `<dl>${fill('<dt>term<dd>meaning', 30_000)}</dl>${PROSE}`,
  footnotes: () => `${fill('<sup><a href="#fn1">1</a></sup>', 30_000)}<ol><li id=fn1>note</ol>${PROSE}`,
  'footnotes in lists of their own': () => {
    const note = (i: number) => `<sup><a href="#fn${i}">${i}</a></sup><ol class=footnotes><li id=fn${i}>x</ol>`
    return Array.from({ length: 3000 * SCALE }, (_, i) => note(i)).join('') + PROSE
  },
  'a long base': () => `<base href="https://a.example/${fill('a/', 4000)}">${fill('<a href=x>y</a> ', 1000)}${PROSE}`,
  'candidates of a picture': () => `<img alt="A picture" src=a.png srcset="${fill(',', 20_000)}">${PROSE}`,
  formulas: () => `${fill('<math><mrow><mi>x</mi></mrow></math>', 20_000)}${PROSE}`,
  'nested formulas': () => `<math>${nest('<msup><mrow>')}</math>${PROSE}`,
  images: () => `${fill('<img src=a.png alt="An image">', 50_000)}${PROSE}`,
  forms: () => `${fill('<form><input><select><option>a<option>b</select></form>', 20_000)}${PROSE}`,
  SVG: () => `<svg>${nest('<g><path d="M0 0"/>'.repeat(5))}</svg>${PROSE}`,
  'white space': () => `${fill(' \n\t', 500_000)}${PROSE}`,
  'one word': () => `<p>${fill('x', 1_000_000)}</p>${PROSE}`,
  'line breaks': () => `<p>${fill('<br>', 200_000)}x</p>${PROSE}`,
}

/** Pages of millions of elements, which at full size need more memory than a page may have. */
const TOO_LARGE = isLong ? ['a large table', 'many links', 'line breaks', 'forms'] : []

test.each(Object.keys(PAGES))(
  'the paragraph is extracted from a page with %s, or the page is refused as too large',
  async (name) => {
    sandbox.write({ 'page.html': `<!doctype html><title>T</title><body>${PAGES[name]?.() ?? ''}</body>` })
    const { code, stdout, stderr } = await program.tryRun([
      'extract',
      'page.html',
      '--url',
      'https://host.example/page',
    ])
    if (code === 3 && TOO_LARGE.includes(name)) expect(stderr).toContain('it needs more memory than allowed')
    else
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringContaining('The visible paragraph'),
        stderr: '',
      })
  },
)

describe('random input', () => {
  const names = 'html head body p div a b td tr table ul li dl dt pre code h1 img style script svg math details summary'
  const tag = fc
    .tuple(
      fc.constantFrom('<', '</'),
      fc.constantFrom(...names.split(' ')),
      fc.constantFrom('', ' class="note tab"', ' id=x', ' hidden', ' href="javascript:x"', ' style="display:none'),
    )
    .map(([open, name, attribute]) => `${open}${name}${attribute}>`)
  const soup = fc.array(fc.oneof(tag, fc.string(), fc.constantFrom('&lt;', '<!--', '-->', '\0', '\u200b')), {
    maxLength: 300,
  })
  const numRuns = isLong ? 3000 : 100

  test('tags and text give a page or a reason why there is none', () => {
    fc.assert(
      fc.property(soup, (pieces) => {
        expect(extractPage({ url: 'https://host.example/', body: pieces.join('') }).type).toMatch(/^(?:no-)?page$/)
      }),
      { numRuns },
    )
  })

  test('bytes give a page or a reason why there is none', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 4000 }),
        fc.constantFrom('text/html', 'text/markdown', ''),
        (body, type) => {
          const snapshot = { url: 'https://host.example/', body, headers: { 'content-type': type } }
          expect(extractPage(snapshot).type).toMatch(/^(?:no-)?page$/)
        },
      ),
      { numRuns },
    )
  })
})
