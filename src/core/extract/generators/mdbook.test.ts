import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts an mdBook chapter with its linked headings, without hidden lines of code', () => {
  const page =
    extract(`<body class="sidebar-visible"><nav id="sidebar" class="sidebar"><div class="sidebar-scrollbox"><ol class="chapter"><li><a href="a.html">One</a></li></ol></div></nav><div id="content" class="content"><main><h1 id="one"><a class="header" href="#one">The first chapter</a></h1><pre><pre class="playground"><code class="language-rust"><span class="boring">fn main() {
</span>let a = 1;
<span class="boring">}</span></code></pre></pre></main><nav class="nav-wrapper"><a rel="next">Next</a></nav></div></body>`)
  expect(page).toEqual({ generator: 'mdbook', markdown: '# The first chapter\n\n```rust\nlet a = 1;\n```\n' })
})

test('does not use the title of an mdBook book as the heading of a chapter without a first-level heading', () => {
  const { markdown } = extract(
    `<body><nav id="sidebar" class="sidebar"><div class="sidebar-scrollbox"></div></nav><div id="menu-bar" class="menu-bar sticky"><h1 class="menu-title">The Book</h1></div><div id="content" class="content"><main><h2 id="install"><a class="header" href="#install">Installation</a></h2><p>The first step is to install it.</p></main></div></body>`,
  )
  expect(markdown).toBe('## Installation\n\nThe first step is to install it.\n')
})
