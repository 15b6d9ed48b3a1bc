import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_DEPTH, parseHtml, parseHtmlTree } from './parse-html.ts'
import { Element, type Node, textOf } from './tree.ts'

/** The tree in a short form: `name(child child "text")`. */
function outline(node: Node): string {
  if (typeof node === 'string') return JSON.stringify(node)
  const children = node.children.map(outline).join(' ')
  return children === '' ? node.name : `${node.name}(${children})`
}

const parse = (source: string) => parseHtml(source).children.map(outline).join(' ')

describe('a tree', () => {
  test.each([
    [
      'a whole document',
      '<!doctype html><html><head><title>T</title></head><body><p>x</p></body></html>',
      'head(title("T")) body(p("x"))',
    ],
    ['text alone', 'x &amp; y&#33;', '"x & y!"'],
    ['items without end tags', '<ul><li>a<li>b<ul><li>c</ul><li>d</ul>', 'ul(li("a") li("b" ul(li("c"))) li("d"))'],
    ['terms without end tags', '<dl><dt>a<dd>b<dt>c</dl>', 'dl(dt("a") dd("b") dt("c"))'],
    ['paragraphs without end tags', '<p>a<p>b<div>c</div>', 'p("a") p("b") div("c")'],
    ['a block that ends a paragraph through inline elements', '<p><b>a<div>b</div>', 'p(b("a")) div("b")'],
    [
      'a table without end tags',
      '<table><thead><tr><th>a<tbody><tr><td>b<td>c<tr><td>d</table>x',
      'table(thead(tr(th("a"))) tbody(tr(td("b") td("c")) tr(td("d")))) "x"',
    ],
    [
      'a table in a table',
      '<table><tr><td><table><tr><td>a</table>b<td>c</table>',
      'table(tr(td(table(tr(td("a"))) "b") td("c")))',
    ],
    [
      'an end tag that may not leave its cell',
      '<div><table><tr><td>a</div>b</td></tr></table></div>',
      'div(table(tr(td("a" "b"))))',
    ],
    ['end tags that close nothing', '</p></b>a</div>', '"a"'],
    ['links that are not closed', '<a href=x>a<a href=y>b</a>', 'a("a") a("b")'],
    ['a link that is closed in a block', '<a><div>a</a>b</div>c', 'span(div("a" "b") "c")'],
    ['headings that are not closed', '<h1>a<h2>b</h2>', 'h1("a") h2("b")'],
    [
      'a paragraph with elements that are allowed in it',
      '<p>a<select></select><x-y>b</x-y><video></video>c<ul>',
      'p("a" select x-y("b") video "c") ul',
    ],
    ['void elements', '<p>a<br>b<img src=x>c</br>d', 'p("a" br "b" img "c" br "d")'],
    ['words that may be broken', '<p>balance_<wbr>trans<WBR/>action</wbr>s', 'p("balance_transactions")'],
    ['an unclosed head', '<head><title>a</title><p>b', 'head(title("a")) p("b")'],
    ['a head that text ends', '<head><meta charset=x> b', 'head(meta) " b"'],
    ['content after the body', '<body>a</body>b<p>c', 'body("a" "b" p("c"))'],
    ['content after the end of a document without a body', '<p>a</p></html><p>b</p><p>c', 'p("a") p("b") p("c")'],
    ['raw text', '<script>a<b></script><style>p{}</style><p>x', 'script("a<b>") style("p{}") p("x")'],
    ['SVG that HTML ends', '<svg><g/><path/><title>t</title><p>x', 'svg(g path title("t")) p("x")'],
    ['HTML in SVG', '<svg><foreignObject><p>x</p></foreignObject></svg>y', 'svg(foreignobject(p("x"))) "y"'],
    ['CDATA in MathML only', '<math><mi><![CDATA[x]]></mi></math><p><![CDATA[y]]>z', 'math(mi("x")) p("z")'],
    ['a comment that is never closed', 'a<!-- b <p>c', '"a"'],
    [
      'options',
      '<select><optgroup><option>a<option>b<optgroup><option>c</select>',
      'select(optgroup(option("a") option("b")) optgroup(option("c")))',
    ],
  ])('is built from %s', (_, source, expected) => {
    expect(parse(source)).toBe(expected)
  })

  test('has the attributes of repeated html and body tags, each with its first value', () => {
    const root = parseHtml('<html lang=en><body class=a><html lang=de id=x><body class=b id=y>')
    expect([root.attribute('lang'), root.id]).toEqual(['en', 'x'])
    const body = root.children.find((child) => child instanceof Element)
    expect(body instanceof Element && [body.attribute('class'), body.id]).toEqual(['a', 'y'])
  })

  test('has attributes with decoded values and lower-case names', () => {
    const [link] = parseHtml('<a HREF="?a=1&amp;b=2" Title=x disabled>').children
    expect(link instanceof Element && [...link.attributes()]).toEqual([
      ['href', '?a=1&b=2'],
      ['title', 'x'],
      ['disabled', ''],
    ])
  })

  test('has elements that share no mutable state', () => {
    const [first, second] = parseHtml('<hr><hr>').elements()
    first?.append('x')
    first?.setAttribute('class', 'a b')
    expect([first?.children, first?.classes]).toEqual([['x'], ['a', 'b']])
    expect([second?.children, second?.classes, second?.hasNoAttributes]).toEqual([[], [], true])
  })

  test('is no deeper than its limit, and loses no text', () => {
    const root = parseHtml(`${'<div>'.repeat(100_000)}x${'</div>'.repeat(100_000)}<p>y`)
    const depths = new Map<Element | undefined, number>([[undefined, -1]])
    for (const element of root.descendants()) depths.set(element, (depths.get(element.parent) ?? 0) + 1)
    expect(Math.max(...new Set(depths.values()))).toBeLessThanOrEqual(MAX_DEPTH + 1)
    expect(textOf(root)).toBe('xy')
    expect(outline(root.children.at(-1) ?? '')).toBe('p("y")')
  })

  test('can be built from any input', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      'p',
      'td',
      'table',
      'a',
      '"',
      "'",
      '=',
      '&',
      '&#0;',
      '<!--',
      ']]>',
      'x ',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 200 }), (pieces) => {
        const root = parseHtml(pieces.join(''))
        for (const element of root.descendants()) {
          for (const child of element.children) {
            if (typeof child !== 'string') expect(child.parent).toBe(element)
          }
        }
      }),
    )
  })
})

test('parseHtmlTree counts characters in comments', () => {
  expect(parseHtmlTree('<p>a<!-- two --><!----></p><!--never closed').commentChars).toBe(15)
  expect(parseHtmlTree('<p>a</p>').commentChars).toBe(0)
})
