import fc from 'fast-check'
import MarkdownIt, { type Token } from 'markdown-it'
import { expect, test } from 'vitest'
import { Element } from '../../html/tree.ts'
import { normalizeContent } from '../normalize/content.ts'
import { writeMarkdown } from './markdown.ts'

const runs = { numRuns: process.env['TEST_LONG'] === undefined ? 500 : 10_000 }

/*
 * For any text on a page, a reader of the Markdown sees the same text, and no markup that the page does not have. markdown-it stands for
 * all readers; it accepts HTML, so that an unescaped tag would be found.
 */
const reader = new MarkdownIt({ html: true })

/** Text of characters with a meaning in Markdown, and a few words. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'*_`~[]()<>!#+-=|\\&;:^.1 $"\'{}/\n'),
      fc.constantFrom(
        'a',
        'word',
        '1.',
        '12)',
        '**',
        '__',
        '~~~',
        '```',
        '---',
        '![',
        '](x)',
        ']: x',
        '[^1]',
        '<b>',
        '</b>',
      ),
      fc.constantFrom(
        '&amp;',
        '&#35;',
        '<!--',
        '<http://x.y>',
        '\\*',
        '  ',
        '# ',
        '- ',
        '> ',
        '[x] ',
        '|',
        'é',
        '。',
        '「',
        '😀',
      ),
      fc.constantFrom(
        '\r',
        '\u2028',
        '\u2029',
        '\x85',
        '\v',
        '\f',
        '\u200b',
        '\u{e0041}',
        '$',
        '$$',
        '-|-',
        ':-',
        '|-',
        '===',
      ),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''))

function element(name: string, children: (Element | string)[], attributes: string[] = []): Element {
  const created = new Element(name, attributes)
  for (const child of children) created.append(child)
  return created
}

/** Text in which parts are emphasized, code or links. */
const inline: fc.Arbitrary<(Element | string)[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 1, arbitrary: text.map((inner) => element('b', [inner])) },
    { weight: 1, arbitrary: text.map((inner) => element('em', [inner])) },
    { weight: 1, arbitrary: text.map((inner) => element('del', [inner])) },
    { weight: 1, arbitrary: text.map((inner) => element('code', [inner])) },
    { weight: 1, arbitrary: text.map((inner) => element('span', [inner])) },
    { weight: 1, arbitrary: text.map((inner) => element('a', [inner], ['href', 'http://x.y/(z)?a=1&amp;b'])) },
    { weight: 1, arbitrary: text.map((inner) => element('b', ['x', element('a', [inner], ['href', '/']), 'y'])) },
    { weight: 2, arbitrary: fc.constant(null).map(() => element('br', [])) },
  ),
  { minLength: 1, maxLength: 5 },
)

/** The visible text without its spaces. */
function squeeze(source: string): string {
  return source.replace(/[\s\v\x85\u200b\u{e0041}]+/gu, '')
}

function textIn(nodes: readonly (Element | string)[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textIn(node.children))).join('')
}

interface RenderedText {
  readonly text: string
  readonly types: ReadonlySet<string>
}

function read(markdown: string): RenderedText {
  let seen = ''
  const types = new Set<string>()
  const visit = (tokens: readonly Token[]) => {
    for (const token of tokens) {
      types.add(token.type)
      if (token.type === 'text' || token.type === 'code_inline') seen += token.content
      if (token.children !== null) visit(token.children)
    }
  }
  visit(reader.parse(markdown, {}))
  return { text: squeeze(seen), types }
}

const PLAIN_TYPES = ['inline', 'text', 'paragraph_open', 'paragraph_close', 'hardbreak', 'softbreak']
const TYPES_OF_MARKS: Record<string, string[]> = {
  b: ['strong_open', 'strong_close'],
  em: ['em_open', 'em_close'],
  del: ['s_open', 's_close'],
  code: ['code_inline'],
  a: ['link_open', 'link_close'],
}

function allowedTypesOf(nodes: readonly (Element | string)[], extra: readonly string[]): Set<string> {
  const names = new Set<string>()
  const visit = (node: Element | string) => {
    if (typeof node === 'string') return
    names.add(node.name)
    node.children.forEach(visit)
  }
  nodes.forEach(visit)
  return new Set([...PLAIN_TYPES, ...extra, ...[...names].flatMap((name) => TYPES_OF_MARKS[name] ?? [])])
}

const TABLE = 'table thead tbody tr th td'.split(' ').flatMap((name) => [`${name}_open`, `${name}_close`])

const POSITIONS: [string, (nodes: (Element | string)[]) => Element, string[]][] = [
  ['a paragraph', (nodes) => element('p', nodes), []],
  ['a heading', (nodes) => element('h2', nodes), ['heading_open', 'heading_close']],
  [
    'an item of a list',
    (nodes) => element('ul', [element('li', nodes)]),
    ['bullet_list_open', 'bullet_list_close', 'list_item_open', 'list_item_close'],
  ],
  ['a quotation', (nodes) => element('blockquote', [element('p', nodes)]), ['blockquote_open', 'blockquote_close']],
  ['a cell', (nodes) => element('table', [element('tr', [element('td', nodes), element('td', ['2'])])]), TABLE],
]

test.each(POSITIONS)('text in %s is rendered as it is in the page', (_, put, extra) => {
  fc.assert(
    fc.property(inline, (nodes) => {
      const root = put(nodes)
      const source = squeeze(textIn([root]))
      const { markdown } = writeMarkdown([root], 'https://example.org/')
      const seen = read(markdown)
      expect(seen.text, markdown).toBe(source)
      const allowedTypes = allowedTypesOf(nodes, extra)
      expect([...seen.types].filter((type) => !allowedTypes.has(type))).toEqual([])
    }),
    runs,
  )
})

/** Values of attributes become text at most, and never markup. */
const withAttributes: fc.Arbitrary<Element> = fc
  .record({
    name: fc.constantFrom('img', 'iframe', 'pre', 'div', 'table', 'math', 'Tab', 'Admonition'),
    value: text,
    inner: text,
  })
  .map(({ name, value, inner }) => {
    const attributes = ['alt', 'title', 'alttext', 'class', 'data-lang', 'summary', 'lang', 'aria-label'].flatMap(
      (attribute) => [attribute, value],
    )
    attributes.push('src', '/x', 'Title', value, 'Label', value)
    if (name === 'table')
      return element(name, [element('tr', [element('td', [inner]), element('td', ['2'])])], attributes)
    return element(name, name === 'img' ? [] : [element(name === 'pre' ? 'code' : 'span', [inner])], attributes)
  })

const EXPECTED_TYPES: Record<string, string[]> = {
  img: ['image'],
  iframe: ['link_open', 'link_close'],
  pre: ['fence'],
  table: TABLE,
  Tab: ['strong_open', 'strong_close'],
  Admonition: ['strong_open', 'strong_close', 'blockquote_open', 'blockquote_close'],
  math: ['em_open', 'em_close', 'strong_open', 'strong_close', 's_open', 's_close'],
}

test('attributes never become markup', () => {
  fc.assert(
    fc.property(withAttributes, (created) => {
      const { name } = created
      const root = element('body', [created, element('p', ['end'])])
      normalizeContent(root)
      const { markdown } = writeMarkdown([root], 'https://example.org/')
      const allowedTypes = new Set([...PLAIN_TYPES, ...(EXPECTED_TYPES[name] ?? [])])
      const seen = read(markdown)
      expect(
        [...seen.types].filter((type) => !allowedTypes.has(type)),
        markdown,
      ).toEqual([])
      expect(seen.text.endsWith('end'), markdown).toBe(true)
    }),
    runs,
  )
})

test('code is rendered as it is in the page', () => {
  fc.assert(
    fc.property(text, fc.constantFrom('pre', 'blockquote', 'li'), (inner, place) => {
      const code = element('pre', [inner])
      const root = place === 'pre' ? code : element(place === 'li' ? 'ul' : 'div', [element(place, ['x', code])])
      const { markdown } = writeMarkdown([root], 'https://example.org/')
      const fences = reader.parse(markdown, {}).filter(({ type }) => type === 'fence')
      expect(squeeze(fences.map(({ content }) => content).join('')), markdown).toBe(squeeze(inner))
    }),
    runs,
  )
})

test('Markdown never begins with front matter', () => {
  const line = fc.constantFrom('---', 'key: value', 'title: x', '...', '+++')
  const block = fc.oneof(
    fc.constant(null).map(() => element('hr', [])),
    line.map((inner) => element('p', [inner])),
    line.map((inner) => element('div', [inner, element('br', []), '---'])),
  )
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), (blocks) => {
      const { markdown } = writeMarkdown([element('body', blocks)], 'https://example.org/')
      expect(markdown).not.toMatch(/^---/)
      expect(read(markdown).types).not.toContain('heading_open')
    }),
  )
})
