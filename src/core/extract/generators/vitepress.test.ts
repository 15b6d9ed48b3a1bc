import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts the text of a VitePress page without anchors and controls', () => {
  const page = extract(
    `<div class="VPContent" id="VPContent"><div class="VPDoc"><aside class="VPDocAside">On this page</aside><main class="main"><div class="vp-doc"><h1 id="g">Guide to routes <a class="header-anchor" href="#g" aria-label="Permalink to &quot;Guide&quot;">&#8203;</a></h1><div class="language-js"><button title="Copy Code" class="copy"></button><span class="lang">js</span><pre class="shiki"><code><span class="line">a()</span></code></pre></div></div></main><footer class="VPDocFooter">Next page</footer></div></div>`,
  )
  expect(page).toEqual({ generator: 'vitepress', markdown: '# Guide to routes\n\n```js\na()\n```\n' })
})

test('extracts all of a VitePress front page', () => {
  const page = extract(
    `<div class="VPContent is-home" id="VPContent"><div class="VPHome"><div class="VPHero"><h1 class="heading"><span class="name">Compass</span><span class="text">Find your way</span></h1><p class="tagline">A small router</p></div><div class="vp-doc"><h2>Why</h2><p>Because.</p></div></div></div>`,
  )
  expect(page).toEqual({
    generator: 'vitepress',
    markdown: '# Compass Find your way\n\nA small router\n\n## Why\n\nBecause.\n',
  })
})
