import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('keeps a heading whose whole text is a link to itself', () => {
  const page = extract(
    `<body><div class="markdown-body"><h2 id="keys"><a class="heading-link" href="#keys">About keys<span class="heading-link-symbol"></span></a></h2><p>A key opens a lock and nothing else.</p></div></body>`,
  )
  expect(page).toEqual({ generator: 'github', markdown: '## About keys\n\nA key opens a lock and nothing else.\n' })
})

test('extracts a Markdown file that GitHub rendered, without anchors and controls', () => {
  const page = extract(
    `<body><header>Product</header><div id="readme"><article class="markdown-body entry-content" itemprop="text"><div class="markdown-heading"><h1 class="heading-element">Sail files</h1><a id="user-content-sail" class="anchor" href="#sail"><svg class="octicon"></svg></a></div><div class="markdown-alert markdown-alert-tip"><p class="markdown-alert-title"><svg class="octicon"></svg>Tip</p><p>Try it.</p></div><div class="highlight highlight-source-js"><pre>a()</pre><div class="zeroclipboard-container"><clipboard-copy>Copy</clipboard-copy></div></div></article></div></body>`,
  )
  expect(page).toEqual({ generator: 'github', markdown: '# Sail files\n\n> [!TIP]\n> Try it.\n\n```js\na()\n```\n' })
})

test('extracts all comments of a discussion, each of which GitHub renders as a document', () => {
  const comment = (author: string, text: string) =>
    `<div class="timeline-comment"><h3><a class="author" href="/${author}">${author}</a> commented</h3><table><tbody><tr><td class="comment-body markdown-body js-comment-body"><p>${text}</p></td></tr></tbody></table></div>`
  const page = extract(
    `<body><h1>The lock sticks</h1><div class="js-discussion">${comment('anna', 'The lock sticks in winter, and the key cannot be turned at all.')}${comment('bert', 'Put some graphite into the lock, and never use oil for that.')}${comment('cora', 'Thank you, the graphite helped and the key turns again.')}</div></body>`,
  )
  for (const words of ['sticks in winter', 'some graphite', 'turns again']) expect(page.markdown).toContain(words)
})

test('extracts all entries of a list of releases, without anchors and controls', () => {
  const release = (version: string, text: string) =>
    `<section><h2>${version}</h2><div class="markdown-body"><h3>Changes<a class="anchor" href="#c">#</a></h3><p>${text}</p><clipboard-copy>Copy</clipboard-copy></div></section>`
  const { markdown } = extract(
    `<body><h1>Releases</h1><div class="releases">${release('2.0', 'The lock now opens with every key of the new kind, and the old keys are gone.')}${release('1.1', 'The key turns faster than before, because the lock got more oil inside.')}${release('1.0', 'The first release has one lock, one key, and a manual of three pages.')}</div></body>`,
  )
  for (const words of ['2.0', 'opens with every key', '1.1', 'turns faster', '1.0', 'first release']) {
    expect(markdown).toContain(words)
  }
  expect(markdown).not.toMatch(/Copy|#c/)
})
