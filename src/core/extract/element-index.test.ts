import { expect, test } from 'vitest'
import { parseHtml } from '../html/parse-html.ts'
import type { Element } from '../html/tree.ts'
import { type ElementIndex, indexElements } from './element-index.ts'

function indexHtml(html: string): ElementIndex {
  return indexElements(parseHtml(html))
}

const ids = (elements: readonly Element[]) => elements.map(({ id }) => id)

test('lists links in source order, whatever their element', () => {
  const { links } = indexHtml('<link id=a><a id=b><map><area id=c></map></a><nav><a id=d></a></nav><p id=e>')
  expect(ids(links)).toEqual(['a', 'b', 'c', 'd'])
})

test('lists only the ids and classes of elements inside a template', () => {
  const { links, scripts, nonText, withId, classLists } = indexHtml(
    '<template id=t><a id=a class="x y" href=/></a><script id=s></script></template>',
  )
  expect([links, scripts]).toEqual([[], []])
  expect(ids(nonText)).toEqual(['t'])
  expect(ids(withId)).toEqual(['t', 'a', 's'])
  expect([...classLists]).toEqual([['x', 'y']])
})

test('lists the elements inside a template with a shadow root', () => {
  const { links, nonText } = indexHtml('<div><template shadowrootmode=open><a id=a></a></template></div>')
  expect(ids(links)).toEqual(['a'])
  expect(nonText).toEqual([])
})

test('lists only the outermost of nested noscript elements', () => {
  expect(ids(indexHtml('<noscript id=a><div><noscript id=b></noscript></div></noscript>').noscripts)).toEqual(['a'])
})

test.each(['hidden', 'style="color:red"', 'popover', 'aria-hidden=true', 'class="x sr-only"'])(
  'lists an element with %s as possibly hidden',
  (attribute) => {
    expect(ids(indexHtml(`<p id=a ${attribute}>text</p><p id=b class=x>text`).hideable)).toEqual(['a'])
  },
)

test('lists a dialog once as possibly hidden', () => {
  expect(ids(indexHtml('<dialog id=a hidden style="color:red">').hideable)).toEqual(['a'])
})

test('lists `link` elements only from the head, and no metadata from code and pictures', () => {
  const { metadataElements } = indexHtml(
    `<head><link id=a><noscript><img></noscript><link id=b></head><body><link id=c>
    <pre><time id=d></time></pre><svg><title id=e></title></svg><time id=f></time>`,
  )
  expect(ids(metadataElements.links)).toEqual(['a', 'b'])
  expect(ids(metadataElements.times)).toEqual(['f'])
  expect(metadataElements.titles).toEqual([])
})

test('lists no dates and no authors from comments', () => {
  const { metadataElements } = indexHtml(
    '<i id=a class=author></i><div class=comments><p><i id=b class=author itemprop=author></i><time id=c></time></p></div>',
  )
  expect(ids(metadataElements.properties)).toEqual(['a'])
  expect(metadataElements.times).toEqual([])
})
