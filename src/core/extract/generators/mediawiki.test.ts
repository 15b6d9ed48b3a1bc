import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a MediaWiki article without edit links, table of contents and categories', () => {
  const page = extract(
    `<html><head><meta name="generator" content="MediaWiki 1.39.1"></head><body><div id="content" class="mw-body"><h1 id="firstHeading">Tide pools</h1><div id="siteSub">From a wiki</div><div id="mw-content-text"><div class="mw-parser-output"><p>A pool.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup></p><div id="toc" class="toc"><ul><li><a href="#Life">Life</a></li></ul></div><h2><span class="mw-headline" id="Life">Life</span><span class="mw-editsection">[<a href="e">edit</a>]</span></h2><p>Crabs.</p><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><a href="#cite_ref-1">↑</a></span> <span class="reference-text">A book.</span></li></ol></div></div><div id="catlinks">Categories</div></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'mediawiki',
    markdown: '# Tide pools\n\nA pool.[^1]\n\n## Life\n\nCrabs.\n\n[^1]: A book.\n',
  })
})
