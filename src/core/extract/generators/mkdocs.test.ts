import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts the article of the Material theme without permalinks and controls', () => {
  const page = extract(
    `<body><header class="md-header" data-md-component="header">Site</header><div class="md-content" data-md-component="content"><article class="md-content__inner md-typeset"><a class="md-content__button" title="Edit">Edit</a><h1 id="a">Install it first<a class="headerlink" href="#a">¶</a></h1><p>Text with <span class="arithmatex">\\(x^2\\)</span>.</p></article></div></body>`,
  )
  expect(page).toEqual({ generator: 'mkdocs', markdown: '# Install it first\n\nText with $x^2$.\n' })
})

test('writes the name of a file before code with line numbers', () => {
  const page =
    extract(`<body><div class="md-content"><article class="md-content__inner"><h1>Configuration</h1><div class="language-yaml highlight"><table class="highlighttable"><tr><th colspan="2" class="filename"><span class="filename">a.yml</span></th></tr><tr><td class="linenos"><div class="linenodiv"><pre>1</pre></div></td><td class="code"><div><pre><code>a: 1
</code></pre></div></td></tr></table></div></article></div></body>`)
  expect(page).toEqual({ generator: 'mkdocs', markdown: '# Configuration\n\n**a.yml**\n\n```yaml\na: 1\n```\n' })
})

test('writes the output of an animated terminal without its styling tags', () => {
  const page = extract(
    `<body><div class="md-content"><article class="md-content__inner"><h1>Start the server</h1><div class="termy"><div class="language-console highlight"><pre><code>$ run &lt;file&gt;
&lt;font color="#4E9A06"&gt;INFO&lt;/font&gt;: ready
</code></pre></div></div></article></div></body>`,
  )
  expect(page.markdown).toBe('# Start the server\n\n```console\n$ run <file>\nINFO: ready\n```\n')
})

test('recognizes MkDocs on pages that use a theme of Sphinx', () => {
  const page = extract(
    `<body class="wy-body-for-nav"><section class="wy-nav-content-wrap"><div class="wy-nav-content"><div class="rst-content"><div role="main" class="document"><div class="section" itemprop="articleBody"><h1>Install it now</h1><p>Text.</p></div></div><footer>Built with <a href="https://www.mkdocs.org/">MkDocs</a></footer></div></div></section></body>`,
  )
  expect(page).toEqual({ generator: 'mkdocs', markdown: '# Install it now\n\nText.\n' })
})
