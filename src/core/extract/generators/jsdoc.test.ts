import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts the main part of a JSDoc page and writes signatures as code', () => {
  const page = extract(
    `<body><div id="main"><h1 class="page-title">Class: Tide</h1><section><h4 class="name" id="height"><span class="type-signature"></span>height<span class="signature">(hour, options<span class="signature-attributes">opt</span>)</span></h4><div class="description">Height of it.</div><dl class="details"><dt class="tag-source">Source:</dt><dd class="tag-source"><a href="tide.js.html">tide.js</a></dd></dl></section></div><nav><h2>Home</h2></nav><footer>Generated</footer></body>`,
  )
  expect(page).toEqual({
    generator: 'jsdoc',
    markdown: '# Class: Tide\n\n#### `height(hour, options)`\n\nHeight of it.\n',
  })
})
