import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('drops the navigation of a Texinfo page and the horizontal rules around it', () => {
  const page = extract(
    `<html><head><meta name="Generator" content="texi2any"></head><body><div class="chapter"><div class="header"><p>Next: <a href="F.html">Functions</a></p></div><hr><h2 class="chapter">1 Weaving lists</h2><blockquote><p><b>Note:</b> Same length.</p></blockquote><p>Colors.<a id="DOCF1" href="#FOOT1"><sup>1</sup></a></p><dl class="def"><dt id="index-open"><span class="category">Function: </span><span><em>int</em> <strong>open</strong> <em>(int fd)</em></span></dt><dd><p>Opens.</p></dd></dl></div><div class="footnote"><hr><h4 class="footnotes-heading">Footnotes</h4><h5><a id="FOOT1" href="#DOCF1">(1)</a></h5><p>On terminals.</p></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'texinfo',
    markdown:
      '## 1 Weaving lists\n\n> [!NOTE]\n> Same length.\n\nColors.[^1]\n\n`Function: int open (int fd)`\n\nOpens.\n\n[^1]: On terminals.\n',
  })
})
