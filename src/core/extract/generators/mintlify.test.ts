import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a Mintlify page without feedback form and navigation', () => {
  const page = extract(
    `<html><head><meta name="generator" content="Mintlify"></head><body><div id="navbar">Docs</div><div id="content-area"><header id="header"><div class="eyebrow">Guides</div><h1 id="page-title">Quick start</h1></header><div class="mdx-content"><p>Install it first.</p></div><div class="feedback-toolbar">Was this page helpful?</div><div id="pagination"><a href="/b">Next</a></div></div></body></html>`,
  )
  expect(page).toEqual({ generator: 'mintlify', markdown: '# Quick start\n\nInstall it first.\n' })
})
