import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

const TEXTS = [
  'I measured three metres at the pier, is that possible?',
  'Yes, it was a spring tide, and the wind came from the west.',
]

test('extracts the title and all posts of a Discourse topic, but no related topics', () => {
  const post = (text: string, i: number) =>
    `<div class="topic-body crawler-post"><div class="crawler-post-meta"><span class="creator" itemprop="author"><a href="/u/ann"><span itemprop="name">ann</span></a></span><span class="crawler-post-infos"><time itemprop="datePublished">May ${i + 1}, 2024</time><span itemprop="position">${i + 1}</span></span></div><div class="post" itemprop="text"><p>${text}</p></div></div>`
  const page = extract(
    `<html><head><meta name="generator" content="Discourse 3.1.0"></head><body class="crawler"><header>Forum</header><div id="main-outlet" class="wrap"><div id="topic-title"><h1><a href="/t/1">How high is the tide?</a></h1></div><div>${TEXTS.map(post).join('')}</div><div id="related-topics">Other topics</div></div></body></html>`,
  )
  expect(page.generator).toBe('discourse')
  expect(page.markdown).toBe(
    `# [How high is the tide?](https://example.org/t/1)

[ann](https://example.org/u/ann)

May 1, 2024

${TEXTS[0]}

[ann](https://example.org/u/ann)

May 2, 2024

${TEXTS[1]}
`,
  )
})

test('reads a topic as Discourse sends it to browsers', () => {
  const post = (text: string, i: number) =>
    `<div class="topic-post"><article><div class="topic-avatar"><img src="/a.png" alt="ann"></div><div class="topic-body"><div class="topic-meta-data"><span class="first username"><a href="/u/ann">ann</a></span><div class="post-info post-date"><a href="/t/1/${i + 1}">May ${i + 1}</a></div></div><div class="cooked"><p>${text}</p></div></div></article></div>`
  const { markdown } = extract(
    `<html><head><meta name="generator" content="Discourse 3.1.0"></head><body><div id="main-outlet"><div id="topic-title"><h1><a class="fancy-title" href="/t/1">How high is the tide?</a></h1></div><div class="post-stream">${TEXTS.map(post).join('')}</div></div></body></html>`,
  )
  expect(markdown).toContain('# [How high is the tide?]')
  expect(markdown).toContain(`[ann](https://example.org/u/ann)

[May 2](https://example.org/t/1/2)

${TEXTS[1]}`)
  expect(markdown).not.toContain('a.png')
})
