import { expect, test } from 'vitest'
import { parseHtml } from '../html/parse-html.ts'
import { find } from '../html/selector.ts'
import { drop, listRemovals } from './drop.ts'

test.each([
  ['the text of an element', '<p id="x">Some <b>words</b></p>', 'Some words'],
  ['the alternative text of a picture', '<div id="x"><img src="a.png" alt="A plan"></div>', 'A plan'],
  ['the address of a picture without alternative text', '<img id="x" src="a.png" alt="">', 'a.png'],
  ['the title of a frame', '<iframe id="x" src="/v" title="A film"></iframe>', 'A film'],
  ['nothing for an element without text or address', '<div id="x"><img src="data:,"></div>', undefined],
])('the removal report shows %s', (_, html, text) => {
  const root = parseHtml(html)
  const element = find(root, ({ id }) => id === 'x')
  if (element !== undefined) drop(element, 'test', 'test')
  expect(listRemovals(root)[0]?.text).toBe(text)
})
