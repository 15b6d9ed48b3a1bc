import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { removeTableOfContents } from './table-of-contents.ts'

function remainingText(html: string): string {
  const root = parseHtml(html)
  removeTableOfContents(root)
  return lineOf(root)
}

describe('a list', () => {
  test.each([
    [
      'that only leads to fragments of the page is dropped',
      '<ul><li><a href="#a">A</a><li><a href="#b">B</a><li><a href="#c">C</a></ul>x',
      'x',
    ],
    [
      'that contains another list is dropped if both only lead to fragments of the page',
      '<ol><li><a href="#a">A</a><ul><li><a href="#b">B</a><li><a href="#c">C</a></ul></ol>x',
      'x',
    ],
    ['of two links stays', '<ul><li><a href="#a">A</a><li><a href="#b">B</a></ul>x', 'ABx'],
    [
      'with a link to another page stays',
      '<ul><li><a href="#a">A</a><li><a href="#b">B</a><li><a href="/c">C</a></ul>x',
      'ABCx',
    ],
    [
      'with text of its own stays',
      '<ul><li><a href="#a">A</a> is the first of them all<li><a href="#b">B</a><li><a href="#c">C</a></ul>x',
      'A is the first of them allBCx',
    ],
  ])('%s', (_, html, text) => {
    expect(remainingText(html)).toBe(text)
  })
})
