import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a Sphinx page without permalinks, links to the source and navigation', () => {
  const page = extract(
    `<div class="related"><a href="b.html">next</a></div><div class="body" role="main"><h1>Pools<a class="headerlink" href="#pools">¶</a></h1><dl class="py function"><dt class="sig sig-object py" id="open"><span class="sig-name descname"><span class="pre">open</span></span>(<em class="sig-param">path</em>)<a class="reference internal" href="_modules/x.html"><span class="viewcode-link">[source]</span></a><a class="headerlink" href="#open">¶</a></dt><dd><p>Open a pool of values.</p></dd></dl></div><div class="sphinxsidebar"><h3>Navigation</h3></div>`,
  )
  expect(page).toEqual({ generator: 'sphinx', markdown: '# Pools\n\n`open(path)`\n\nOpen a pool of values.\n' })
})

test('recognizes signatures of Sphinx versions before 4', () => {
  const page = extract(
    `<div class="body" role="main"><h1>Pools and values</h1><dl class="function"><dt id="f"><code class="descname">f</code><span>(</span><em>a</em>, <em>b=1</em><span>)</span><a class="headerlink" href="#f">¶</a></dt><dd><p>Does it.</p></dd></dl></div>`,
  )
  expect(page).toEqual({ generator: 'sphinx', markdown: '# Pools and values\n\n`f(a, b=1)`\n\nDoes it.\n' })
})

test('keeps Sphinx lists of pages with their captions', () => {
  const page = extract(
    `<article role="main" id="furo-main-content"><h1>Index of pages</h1><div class="toctree-wrapper compound"><p class="caption" role="heading"><span class="caption-text">Guide</span></p><ul><li><a href="a.html">A page</a></li></ul></div></article>`,
  )
  expect(page).toEqual({
    generator: 'sphinx',
    markdown: '# Index of pages\n\n**Guide**\n\n- [A page](https://example.org/docs/a.html)\n',
  })
})

test('keeps line blocks, classifiers and citations of Sphinx', () => {
  const page = extract(
    `<div class="body" role="main"><h1>Lines and terms</h1><div class="line-block"><div class="line">one</div><div class="line-block"><div class="line">two</div></div></div><dl><dt>pool<span class="classifier">text</span></dt><dd><p>See <a class="reference internal" href="#mar19" id="id1"><span>[Mar19]</span></a>.</p></dd></dl><div class="citation" id="mar19" role="doc-biblioentry"><span class="label"><a href="#id1">Mar19</a></span><p>Tides.</p></div></div>`,
  )
  expect(page).toEqual({
    generator: 'sphinx',
    markdown: '# Lines and terms\n\none  \ntwo\n\n**pool : text**\n\nSee [^Mar19].\n\n[^Mar19]: Tides.\n',
  })
})

test('labels the panels of Sphinx inline tabs, even nested ones', () => {
  const page = extract(
    `<article role="main" id="furo-main-content"><h1>Choose a client</h1><div class="tab-set docutils"><input type="radio" id="a"><label class="tab-label" for="a">Python</label><div class="tab-content docutils"><p>One.</p><div class="tab-set docutils"><input type="radio" id="c"><label class="tab-label" for="c">3</label><div class="tab-content docutils"><p>Inner.</p></div></div></div><input type="radio" id="b"><label class="tab-label" for="b">C</label><div class="tab-content docutils"><p>Two.</p></div></div></article>`,
  )
  expect(page).toEqual({
    generator: 'sphinx',
    markdown: '# Choose a client\n\n**Python**\n\nOne.\n\n**3**\n\nInner.\n\n**C**\n\nTwo.\n',
  })
})
