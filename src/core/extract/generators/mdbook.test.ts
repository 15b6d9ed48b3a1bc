import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('takes the chapter with linked headings, without hidden lines of code', () => {
  const page =
    extract(`<body class="sidebar-visible"><nav id="sidebar" class="sidebar"><div class="sidebar-scrollbox"><ol class="chapter"><li><a href="a.html">One</a></li></ol></div></nav><div id="content" class="content"><main><h1 id="one"><a class="header" href="#one">The first chapter</a></h1><pre><pre class="playground"><code class="language-rust"><span class="boring">fn main() {
</span>let a = 1;
<span class="boring">}</span></code></pre></pre></main><nav class="nav-wrapper"><a rel="next">Next</a></nav></div></body>`)
  expect(page).toEqual({ generator: 'mdbook', markdown: '# The first chapter\n\n```rust\nlet a = 1;\n```\n' })
})
