import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a page made by an old version of GitBook, with its footnotes', () => {
  const page = extract(
    `<html><head><meta name="generator" content="GitBook 3.2.3"></head><body><div class="book"><div class="book-summary"><ul><li>One</li></ul></div><div class="book-body"><div class="page-inner"><section class="normal markdown-section"><h1 id="h">Harvest time</h1><p>A note.<sup><a href="#fn_1" id="reffn_1">1</a></sup></p><blockquote id="fn_1"><sup>1</sup>. The note.<a href="#reffn_1"> &#8617;</a></blockquote></section><div class="search-results"><h1>results matching</h1></div></div></div></div></body></html>`,
  )
  expect(page).toEqual({ generator: 'gitbook', markdown: '# Harvest time\n\nA note.[^1]\n\n[^1]: The note.\n' })
})
