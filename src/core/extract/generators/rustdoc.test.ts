import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('writes rustdoc members as code and leaves out links to the source', () => {
  const page = extract(
    `<html><head><meta name="generator" content="rustdoc"></head><body class="rustdoc struct"><nav class="sidebar">Tide</nav><main><section id="main-content" class="content"><div class="main-heading"><h1>Struct <span class="struct">Tide</span><button id="copy-path">Copy item path</button></h1><rustdoc-toolbar></rustdoc-toolbar><span class="sub-heading"><a class="src" href="src.html">Source</a></span></div><pre class="rust item-decl"><code><div class="code-attribute">#[non_exhaustive]</div>pub struct Tide;</code></pre><details class="toggle method-toggle deprecated"><summary><section id="method.new" class="method"><a class="src rightside" href="s">Source</a><h4 class="code-header">pub fn <a class="fn">new</a>(place: &amp;<a>str</a>) -&gt; Self</h4></section></summary><div class="docblock"><p>Makes a tide.</p></div></details></section></main></body></html>`,
  )
  expect(page).toEqual({
    generator: 'rustdoc',
    markdown:
      '# Struct Tide\n\n```rust\n#[non_exhaustive]\npub struct Tide;\n```\n\n#### `pub fn new(place: &str) -> Self`\n\nMakes a tide.\n',
  })
})
