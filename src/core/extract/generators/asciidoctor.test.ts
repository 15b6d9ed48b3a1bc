import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts an Asciidoctor page without byline, table of contents and footer', () => {
  const page = extract(
    `<html><head><meta name="generator" content="Asciidoctor 2.0.18"></head><body class="article"><div id="header"><h1>Kiln guide</h1><div class="details"><span class="author">Ada</span></div><div id="toc" class="toc"><ul><li><a href="#_a">A</a></li></ul></div></div><div id="content"><div class="sect1"><h2 id="_a"><a class="anchor" href="#_a"></a>A section</h2><div class="sectionbody"><div class="paragraph"><p>Text \\(x\\).</p></div></div></div></div><div id="footer">Last updated</div></body></html>`,
  )
  expect(page).toEqual({ generator: 'asciidoctor', markdown: '# Kiln guide\n\n## A section\n\nText $x$.\n' })
})

test('reads admonitions with a title, callouts and checkboxes of Asciidoctor', () => {
  const page = extract(
    `<html><head><meta name="generator" content="Asciidoctor 2.0.18"></head><body><div id="content"><div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div></td><td class="content"><div class="title">Hurry</div><div class="paragraph"><p>Open it.</p></div></td></tr></table></div><div class="listingblock"><div class="title">a.rb</div><div class="content"><pre class="rouge highlight"><code data-lang="ruby">puts 1 <i class="conum" data-value="1"></i><b>(1)</b></code></pre></div></div><div class="colist arabic"><table><tr><td><i class="conum" data-value="1"></i><b>1</b></td><td>Prints.</td></tr></table></div><div class="ulist checklist"><ul class="checklist"><li><p><i class="fa fa-check-square-o"></i> done</p></li><li><p>&#10063; open</p></li></ul></div></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'asciidoctor',
    markdown:
      '> [!NOTE]\n> **Hurry**\n>\n> Open it.\n\n**a.rb**\n\n```ruby\nputs 1 (1)\n```\n\n1. Prints.\n\n- [x] done\n- [ ] open\n',
  })
})

test('reads footnotes and attributions of Asciidoctor', () => {
  const page = extract(
    `<html><head><meta name="generator" content="Asciidoctor 2.0.18"></head><body><div id="content"><div class="paragraph"><p>It is so.<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1">1</a>]</sup></p></div><div class="quoteblock"><blockquote>Bread needs time.</blockquote><div class="attribution">&#8212; A. Baker</div></div></div><div id="footnotes"><div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. The note.</div></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'asciidoctor',
    markdown: 'It is so.[^1]\n\n> Bread needs time.\n>\n> — A. Baker\n\n[^1]: The note.\n',
  })
})
