import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('drops navigation and keeps the content of a DocBook chapter', () => {
  const page = extract(
    `<html><head><meta name="generator" content="DocBook XSL Stylesheets V1.79.2"></head><body><div class="navheader"><table><tr><td>Prev</td></tr></table><hr></div><div class="chapter"><div class="titlepage"><h2 class="title">Chapter 1. Commands</h2></div><div class="toc"><dl class="toc"><dt><a href="a.html">First</a></dt><dd><dl><dt><a href="a.html#b">Inner</a></dt></dl></dd></dl></div><p>Text.</p></div><div class="navfooter"><hr>Next</div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'docbook',
    markdown:
      '## Chapter 1. Commands\n\n- [First](https://example.org/docs/a.html)\n  - [Inner](https://example.org/docs/a.html#b)\n\nText.\n',
  })
})

test('writes the numbers of DocBook callouts in code and in the list below the code', () => {
  const page =
    extract(`<html><head><meta name="generator" content="DocBook XSL"></head><body><h1>Balances of accounts</h1><pre class="programlisting">balance <a id="co1"></a><span><img src="images/callouts/1.png" alt="1"></span>
</pre><div class="calloutlist"><table><tr><td><p><a href="#co1"><img src="images/callouts/1.png" alt="1"></a></p></td><td><p>The total.</p></td></tr></table></div></body></html>`)
  expect(page).toEqual({
    generator: 'docbook',
    markdown: '# Balances of accounts\n\n```\nbalance (1)\n```\n\n1. The total.\n',
  })
})
