import { expect, test } from 'vitest'
import { extractPage } from '../extract-page.ts'

function extract(body: string) {
  const extraction = extractPage({ url: 'https://example.org/docs/page.html', body })
  if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
  const { generator, markdown } = extraction.page
  return { generator, markdown }
}

test('takes all posts of a topic and no other topics', () => {
  const post = (text: string) =>
    `<div class="topic-body crawler-post"><div class="crawler-post-meta"><span class="position">1</span></div><div class="post" itemprop="text"><p>${text}</p></div></div>`
  const page = extract(
    `<html><head><meta name="generator" content="Discourse 3.1.0"></head><body class="crawler"><header>Forum</header><div id="main-outlet" class="wrap"><div id="topic-title"><h1><a href="/t/1">How high is the tide?</a></h1></div>${post('I measured three metres at the pier, is that possible?')}${post('Yes, it was a spring tide, and the wind came from the west.')}<div id="related-topics">Other topics</div></div></body></html>`,
  )
  expect(page.generator).toBe('discourse')
  expect(page.markdown).toContain('three metres at the pier')
  expect(page.markdown).toContain('a spring tide')
  expect(page.markdown).not.toContain('Other topics')
})
