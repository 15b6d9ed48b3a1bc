import { describe, expect, test } from 'vitest'
import { parseHtml } from '../html/parse-html.ts'
import { find } from '../html/selector.ts'
import type { Link } from '../model.ts'
import { drop } from './drop.ts'
import { indexElements } from './element-index.ts'
import { baseOf, readLinks } from './links.ts'

const PAGE = 'https://example.com/guide/page.html'

function links(html: string, base: string = PAGE): Link[] {
  const root = parseHtml(html)
  const nav = find(root, (element) => element.name === 'nav')
  if (nav !== undefined) drop(nav, 'test', 'nav')
  const main = find(root, (element) => element.name === 'main')
  return readLinks(indexElements(root), base, main === undefined ? [] : [main])
}

function link(url: string, text = '', isContent = false, rel: readonly string[] = []): Link {
  return { url, text, rel, isContent }
}

describe('baseOf', () => {
  test.each([
    ['', PAGE],
    ['<base href="/docs/">', 'https://example.com/docs/'],
    ['<base href="https://cdn.example.org/x/"><base href="/second/">', 'https://cdn.example.org/x/'],
    ['<base target=_blank><base href="/docs/">', 'https://example.com/docs/'],
    ['<base href="http://[">', PAGE],
    ['<base href="javascript:alert(1)">', PAGE],
    ['<p><base href="/late/">', 'https://example.com/late/'],
  ])('the base of %j is %s', (html, expected) => {
    expect(baseOf(indexElements(parseHtml(html)), PAGE)).toBe(expected)
  })
})

describe('readLinks', () => {
  test.each<[string, string, Link[]]>([
    ['makes addresses absolute', '<a href="../a?b=1">A</a>', [link('https://example.com/a?b=1', 'A')]],
    ['removes credentials', '<a href="https://me:secret@example.org/">A</a>', [link('https://example.org/', 'A')]],
    [
      'leaves out addresses that are not HTTP',
      '<a href="mailto:a@b.c">A</a><a href="javascript:x()">B</a><a href="data:,x">C</a>',
      [],
    ],
    [
      'keeps invalid addresses as written but for a login, and leaves out empty ones',
      '<a href=" http://me:pw@[#a ">A</a><a href="https://a b.example/">B</a><a>C</a><a href="">D</a>',
      [link('http://[#a', 'A'), link('https://a b.example/', 'B')],
    ],
    ['leaves out fragments of the page itself', '<a href="#top">A</a><a href="page.html#end">B</a>', []],
    ['removes fragments', '<a href="other#x">A</a>', [link('https://example.com/guide/other', 'A')]],
    ['keeps a link to the page itself', '<a href="page.html">A</a>', [link(PAGE, 'A')]],
    [
      'lists each address once, with the first text that links to it',
      '<a href="a"><img src=x></a><a href="b">B</a><a href="a#x">First</a><a href="a">Second</a>',
      [link('https://example.com/guide/a', 'First'), link('https://example.com/guide/b', 'B')],
    ],
    [
      'marks links that are in the content',
      '<nav><a href="a">A</a><a href="b">B</a></nav><main><p><a href="b">B again</a></p></main>',
      [link('https://example.com/guide/a', 'A'), link('https://example.com/guide/b', 'B', true)],
    ],
    [
      'does not mark links in dropped parts of the content',
      '<main><nav><a href="a">A</a></nav><a href="b">B</a></main>',
      [link('https://example.com/guide/a', 'A'), link('https://example.com/guide/b', 'B', true)],
    ],
    [
      'lists areas, frames and the next page',
      '<link rel="NEXT" href="2"><link rel=stylesheet href=s><area href="a" alt="Area"><frame src="f">',
      [
        link('https://example.com/guide/2', '', false, ['next']),
        link('https://example.com/guide/a', 'Area'),
        link('https://example.com/guide/f'),
      ],
    ],
    [
      'lists the names in `rel` in lower case',
      '<a rel="nofollow  UGC" href="a">A</a>',
      [link('https://example.com/guide/a', 'A', false, ['nofollow', 'ugc'])],
    ],
    [
      'uses the alt text, label or title of a link without text',
      '<a href="a"><img alt="Logo"></a><a href="b" aria-label="Menu"><i></i></a><a href="c" title="C"></a>',
      [
        link('https://example.com/guide/a', 'Logo'),
        link('https://example.com/guide/b', 'Menu'),
        link('https://example.com/guide/c', 'C'),
      ],
    ],
    [
      'writes text on one line',
      '<a href="a">\n One <b>two</b>\n\n three </a>',
      [link('https://example.com/guide/a', 'One two three')],
    ],
    ['does not look into templates', '<template><a href="a">A</a></template>', []],
  ])('%s', (_, html, expected) => {
    expect(links(html)).toEqual(expected)
  })

  test('the text of a link is bounded', () => {
    expect(links(`<a href="a">${'word '.repeat(1000)}</a>`)[0]?.text).toHaveLength(200)
    expect(links(`<a href="a">${'<b> </b>'.repeat(1000)}after</a>`)[0]?.text).toBe('after')
  })

  test('a page without an address yields only its absolute links', () => {
    const html = '<a href="a">A</a><a href="https://example.org/">B</a><a href="http://[">C</a>'
    expect(links(html, 'about:blank')).toEqual([link('https://example.org/', 'B')])
  })

  test('a hundred thousand links are all listed', () => {
    const html = `<main>${Array.from({ length: 100_000 }, (_, i) => `<a href="/${i}">${i}</a>`).join('')}</main>`
    expect(links(html)).toHaveLength(100_000)
  })
})

test('a base of unreasonable length is ignored', () => {
  const root = parseHtml(`<base href="https://x.example/${'a/'.repeat(1000)}"><a href="b">B</a>`)
  expect(baseOf(indexElements(root), 'https://example.com/')).toBe('https://example.com/')
})

test('addresses that are too long for any server are left out', () => {
  const root = parseHtml(`<a href="/${'a'.repeat(8000)}">A</a><a href="/b">B</a>`)
  expect(readLinks(indexElements(root), 'https://example.com/', []).map(({ text }) => text)).toEqual(['B'])
})
