import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { removeTableOfContents } from './table-of-contents.ts'

function left(html: string): string {
  const root = parseHtml(html)
  removeTableOfContents(root)
  return lineOf(root)
}

describe('a list', () => {
  test.each([
    [
      'that leads to places on the page goes',
      '<ul><li><a href="#a">A</a><li><a href="#b">B</a><li><a href="#c">C</a></ul>x',
      'x',
    ],
    [
      'of such lists goes',
      '<ol><li><a href="#a">A</a><ul><li><a href="#b">B</a><li><a href="#c">C</a></ul></ol>x',
      'x',
    ],
    ['of two stays', '<ul><li><a href="#a">A</a><li><a href="#b">B</a></ul>x', 'ABx'],
    [
      'that leads elsewhere stays',
      '<ul><li><a href="#a">A</a><li><a href="#b">B</a><li><a href="/c">C</a></ul>x',
      'ABCx',
    ],
    [
      'that says something of its own stays',
      '<ul><li><a href="#a">A</a> is the first of them all<li><a href="#b">B</a><li><a href="#c">C</a></ul>x',
      'A is the first of them allBCx',
    ],
  ])('%s', (_, html, text) => {
    expect(left(html)).toBe(text)
  })
})
