import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { countStatistics } from '../content/statistics.ts'
import { listRemovals } from '../drop.ts'
import { removeOffers } from './offers.ts'

const PROSE = Array.from(
  { length: 12 },
  (_, i) => `<p>Sentence ${i} tells what the cup is made of and how it came to be so light.</p>`,
).join('')

function removals(after: string, before = ''): string[] {
  const root = parseHtml(`<body>${before}<h1>Cup</h1>${PROSE}${after}</body>`)
  removeOffers(root, countStatistics(root))
  expect(lineOf(root)).toContain('Sentence 11')
  return listRemovals(root).map(({ reason }) => reason)
}

describe('removeOffers', () => {
  const dropped: [html: string, reason: string][] = [
    ['<div>From <b>$ 12.50</b></div>', 'price'],
    ['<span>12,50 €</span>', 'price'],
    ['<p><a href="/cups">More cups</a></p>', 'link to another page'],
    [
      '<div class="delivery-info"><p>Ours within two days wherever the post goes, and free of charge.</p></div>',
      'terms of sale',
    ],
    ['<div class="color-swatches">Red Green</div>', 'choice of a variant'],
    ['<div role="radiogroup">S M L</div>', 'choice of a variant'],
    ['<div role="group">1 of 5</div>', 'choice of a variant'],
    ['<div aria-live="polite">Added</div>', 'message'],
    ['<p class="error-message">Try again</p>', 'message'],
  ]
  test.each(dropped)('drops %s', (html, reason) => {
    expect(removals(html)).toEqual([reason])
  })

  test('drops labels before the title, but keeps sentences', () => {
    const text = '<p>What stands before the title in a sentence may be what it is about.</p>'
    expect(removals('', `<div>New arrival</div>${text}`)).toEqual(['before the title'])
  })

  test('keeps headings of a description that precedes the title', () => {
    const text = '<p>What stands before the title in a sentence may be what it is about.</p>'
    expect(removals('', `<div>New arrival</div>${text}<h2>How to wash it</h2>${text}`)).toEqual(['before the title'])
  })

  const kept: [name: string, html: string][] = [
    ['facts in a table', '<table><tr><td>Deposit</td><td>$5</td></tr></table>'],
    ['a link in a sentence', '<p>Read the <a href="/manual">manual</a> first.</p>'],
    ['a link that opens a part of the page', '<div><a href="#care">Care</a></div>'],
    ['a price in a sentence', '<p>For each cup that is sold we give $1 to those who plant trees in the hills.</p>'],
    ['a list of features', '<ul><li>Light</li><li>Dishwasher safe</li></ul>'],
    ['a part with a title, whatever its class', '<div class="options"><h1>Cup</h1></div>'],
  ]
  test.each(kept)('keeps %s', (_, html) => {
    expect(removals(html)).toEqual([])
  })
})
