import { describe, expect, test } from 'vitest'
import { parseHtml } from './parse-html.ts'
import { compileSelector, find, findAll, SelectorMap } from './selector.ts'

const root = parseHtml(`
  <main id="top" class="page wide" data-kind="doc page">
    <section><h1 class="title">A</h1><p class="lead title">B <em lang="en-GB">C</em></p></section>
    <div class="note a:b"><p>D</p><span title="x, y > z">E</span></div>
  </main>`)

describe('a selector', () => {
  test.each([
    ['p', 2],
    ['*', 9],
    ['.title', 2],
    ['p.title.lead', 1],
    ['#top', 1],
    ['main#top.wide', 1],
    ['[lang]', 1],
    ['[lang=en]', 0],
    ['[lang^=en]', 1],
    ['[lang$="GB"]', 1],
    ["[lang*='n-G']", 1],
    ['[data-kind~=doc]', 1],
    ['[title="x, y > z"]', 1],
    ['main p', 2],
    ['main > p', 0],
    ['.note > p', 1],
    ['main section > p em', 1],
    ['section em, .note span', 2],
    ['div.page', 0],
    ['.a\\:b', 1],
  ])('%s matches %i elements', (text, count) => {
    expect(findAll(root, compileSelector(text))).toHaveLength(count)
  })

  test.each(['p:hover', 'a + b', '.', '[=x]'])('%s is refused', (text) => {
    expect(() => compileSelector(text)).toThrow(TypeError)
  })

  test('finds the first match that is not in a dropped element', () => {
    const tree = parseHtml('<div><p>a</p></div><p>b</p>')
    const [div] = tree.elements()
    if (div !== undefined) div.dropped = { step: 'test', reason: 'test' }
    expect(find(tree, compileSelector('p'))?.children).toEqual(['b'])
  })
})

describe('rules by selector', () => {
  const rules = new SelectorMap([
    ['.title', 'title'],
    ['section > p', 'paragraph'],
    ['#top, .note', 'box'],
    ['[lang]', 'language'],
  ])

  test.each([
    ['h1', 'title'],
    // The rule that was added first wins, regardless of the index that finds it.
    ['section p', 'title'],
    ['.note p', undefined],
    ['main', 'box'],
    ['.note', 'box'],
    ['em', 'language'],
  ])('the rule that matches %s is %s', (text, value) => {
    const element = find(root, compileSelector(text))
    expect(element && rules.match(element)).toBe(value)
  })
})
