import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a pandoc document without byline, table of contents and captions that repeat the alt text', () => {
  const page = extract(
    `<html><head><meta name="generator" content="pandoc"></head><body><header id="title-block-header"><h1 class="title">Field notes</h1><p class="author">Noor</p></header><nav id="TOC" role="doc-toc"><ul><li><a href="#a">A</a></li></ul></nav><h2 id="a">A part</h2><figure><img src="w.png" alt="A wave"><figcaption aria-hidden="true">A wave</figcaption></figure></body></html>`,
  )
  expect(page).toEqual({
    generator: 'pandoc',
    markdown: '# Field notes\n\n## A part\n\n![A wave](https://example.org/docs/w.png)\n',
  })
})
