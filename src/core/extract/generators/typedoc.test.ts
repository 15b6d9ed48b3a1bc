import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('writes TypeDoc signatures and parameters as code and leaves out the index of the page', () => {
  const page = extract(
    `<html><head><meta name="generator" content="typedoc"></head><body><div class="col-content"><div class="tsd-page-title"><ul class="tsd-breadcrumb"><li><a href="../modules.html">tides</a></li></ul><h1>Class Tide</h1></div><section class="tsd-panel tsd-index-panel"><h3>Index</h3><a href="#height">height</a></section><section class="tsd-panel tsd-member"><h3 class="tsd-anchor-link" id="height"><code class="tsd-tag">Readonly</code><span>height</span><a href="#height" class="tsd-anchor-icon"></a></h3><div class="tsd-signature"><span>height</span>(<span>hour</span>: <a href="#n">number</a>): <span>number</span></div><ul class="tsd-parameter-list"><li><span><span class="tsd-kind-parameter">hour</span>: <span>number</span></span><div class="tsd-comment"><p>hour of the day</p></div></li></ul><div class="tsd-alert tsd-alert-note"><div class="tsd-alert-title"><span>Note</span></div><p>In metres.</p></div><pre><code class="ts"><span>a</span>()<br></code><button type="button">Copy</button></pre><aside class="tsd-sources"><ul><li>Defined in index.ts:1</li></ul></aside></section></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'typedoc',
    markdown:
      '# Class Tide\n\n### `Readonly` height\n\n`height(hour: number): number`\n\n- `hour: number`\n\n  hour of the day\n\n> [!NOTE]\n> In metres.\n\n```ts\na()\n```\n',
  })
})

test('keeps the index of a TypeDoc module, which leads to other pages', () => {
  const page = extract(
    `<html><head><meta name="generator" content="typedoc"></head><body><div class="col-content"><div class="tsd-page-title"><h1>Module tides</h1></div><section class="tsd-panel tsd-index-panel"><h3>Classes</h3><a href="classes/Tide.html">Tide</a></section></div></body></html>`,
  )
  expect(page).toEqual({
    generator: 'typedoc',
    markdown: '# Module tides\n\n### Classes\n\n[Tide](https://example.org/docs/classes/Tide.html)\n',
  })
})
