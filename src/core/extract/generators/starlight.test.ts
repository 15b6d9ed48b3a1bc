import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a Starlight page without footer and table of contents', () => {
  const page = extract(
    `<html><head><meta name="generator" content="Astro v5.0"><meta name="generator" content="Starlight v0.36"></head><body><main data-pagefind-body><mobile-starlight-toc><nav>On this page</nav></mobile-starlight-toc><h1>Guide to orbits</h1><div class="sl-markdown-content"><p>Text.</p><article class="card"><p class="title">Stars</p><div class="body"><p>Far.</p></div></article></div><footer><a>Edit page</a></footer></main></body></html>`,
  )
  expect(page).toEqual({ generator: 'starlight', markdown: '# Guide to orbits\n\nText.\n\n**Stars**\n\nFar.\n' })
})
