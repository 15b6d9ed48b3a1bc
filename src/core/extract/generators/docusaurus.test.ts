import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts the text of a Docusaurus page without the parts around it', () => {
  const page = extract(
    `<div id="__docusaurus"><nav class="navbar">Quarry</nav><main><article><nav class="theme-doc-breadcrumbs">Home</nav><div class="theme-doc-toc-mobile">On this page</div><div class="theme-doc-markdown markdown"><header><h1>Cutting stones</h1></header><h2 id="a">First<a href="#a" class="hash-link" aria-label="Direct link to First">&#8203;</a></h2><p>Text.</p></div><footer class="theme-doc-footer"><a class="theme-edit-this-page">Edit this page</a></footer></article><nav class="pagination-nav">Next</nav></main></div>`,
  )
  expect(page).toEqual({ generator: 'docusaurus', markdown: '# Cutting stones\n\n## First\n\nText.\n' })
})

test('extracts the list of pages in a Docusaurus category', () => {
  const page = extract(
    `<div id="__docusaurus"><main><div class="generatedIndexPage_vN6x"><header><h1>Reference</h1><p>Everything by name.</p></header><article><a class="card" href="/docs/a"><h2>A page</h2><p>About a.</p></a></article></div></main></div>`,
  )
  expect(page).toEqual({
    generator: 'docusaurus',
    markdown: '# Reference\n\nEverything by name.\n\n## [A page](https://example.org/docs/a)\n\nAbout a.\n',
  })
})

test('leaves out the byline of a Docusaurus blog post', () => {
  const page = extract(
    `<div id="__docusaurus"><main><article><header><h1>Version 2 is out</h1><div class="container_x"><time datetime="2024-02-03">February 3, 2024</time> · One min read</div></header><div class="markdown"><p>It is faster.</p></div><footer>Tags: release</footer></article></main></div>`,
  )
  expect(page).toEqual({ generator: 'docusaurus', markdown: '# Version 2 is out\n\nIt is faster.\n' })
})
