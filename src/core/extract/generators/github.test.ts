import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('takes the rendered file without anchors', () => {
  const page = extract(
    `<body><header>Product</header><div id="readme"><article class="markdown-body entry-content" itemprop="text"><div class="markdown-heading"><h1 class="heading-element">Sail files</h1><a id="user-content-sail" class="anchor" href="#sail"><svg class="octicon"></svg></a></div><div class="markdown-alert markdown-alert-tip"><p class="markdown-alert-title"><svg class="octicon"></svg>Tip</p><p>Try it.</p></div><div class="highlight highlight-source-js"><pre>a()</pre><div class="zeroclipboard-container"><clipboard-copy>Copy</clipboard-copy></div></div></article></div></body>`,
  )
  expect(page).toEqual({ generator: 'github', markdown: '# Sail files\n\n> [!TIP]\n> Try it.\n\n```js\na()\n```\n' })
})
