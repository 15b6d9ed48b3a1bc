import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { countStatistics } from '../content/statistics.ts'
import { listRemovals } from '../drop.ts'
import { removeByText } from './by-text.ts'

function removals(html: string): string[] {
  const root = parseHtml(`<body>${html}</body>`)
  removeByText(root, 'test', countStatistics(root))
  return listRemovals(root).map(({ reason, text }) => `${reason}: ${text}`)
}

describe('removeByText', () => {
  const dropped: [html: string, removal: string][] = [
    ['<p>Was this page helpful?</p>', 'feedback on the page: Was this page helpful?'],
    [
      '<div>Was this helpful? <a href="#">Yes</a> <a href="#">No</a></div>',
      'feedback on the page: Was this helpful? Yes No',
    ],
    ['<p>War diese Seite hilfreich?</p>', 'feedback on the page: War diese Seite hilfreich?'],
    ['<a href="/edit">Edit this page on GitHub</a>', 'feedback on the page: Edit this page on GitHub'],
    [
      '<div><a href="/e">Improve this page</a> | <a href="/i">Report an issue</a></div>',
      'feedback on the page: Improve this page | Report an issue',
    ],
    ['<p>Last updated on May 3, 2024</p>', 'date of the page: Last updated on May 3, 2024'],
    ['<div>Zuletzt aktualisiert: 03.05.2024</div>', 'date of the page: Zuletzt aktualisiert: 03.05.2024'],
    ['<p><a href="#">↑ Back to top</a></p>', 'navigation: ↑ Back to top'],
    ['<a href="#main">Skip to main content</a>', 'navigation: Skip to main content'],
    ['<div>Copy link</div>', 'sharing: Copy link'],
    [
      '<div><a href="/">Home</a> › <a href="/g">Guide</a> › <a href="/g/i">Install</a></div><h1>Install</h1>',
      'breadcrumbs: Home › Guide › Install',
    ],
    [
      '<h1>Install</h1><p><a href="/">Home</a> / <a href="/g">Guide</a> / Install</p>',
      'breadcrumbs: Home / Guide / Install',
    ],
    [
      '<div><a href="/">Home</a><span>»</span><a href="/g">Guide</a><span>»</span><b>Install</b></div>',
      'breadcrumbs: Home»Guide»Install',
    ],
  ]
  test.each(dropped)('drops %s', (html, removal) => {
    expect(removals(html)).toEqual([removal])
  })

  test.each([
    ['a sentence that ends with a phrase', '<p>If you find a mistake, <a href="/edit">edit this page</a>.</p>'],
    ['a step of a list', '<ol><li>Edit the document</li><li>Copy link</li></ol>'],
    ['an answer', '<h3>Is it free?</h3><p>Yes</p>'],
    ['a heading', '<h2>Report an issue</h2>'],
    ['a table cell', '<table><tr><td>Last updated</td><td>Last updated 2024</td></tr></table>'],
    ['a phrase in code', '<pre>Back to top</pre>'],
    [
      'alternatives in the text',
      '<p>One of three ways leads there, and each of them is described on a page of its own.</p><p><a href="/a">A</a> / <a href="/b">B</a> / <a href="/c">C</a></p>',
    ],
  ])('keeps %s', (_, html) => {
    expect(removals(html)).toEqual([])
  })
})
