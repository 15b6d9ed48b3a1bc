import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { findThread } from './forum.ts'
import { countStatistics } from './statistics.ts'

const TEXT = 'What is said in a post, in a sentence or two. It goes on for a while.'

function threadOf(html: string, types: string[] = []): string | undefined {
  const root = parseHtml(`<body><div id="page">${html}</div></body>`)
  return findThread(root, countStatistics(root), { types })?.elements.map(lineOf).join(' ')
}

describe('findThread', () => {
  /** One post as each program writes it: T stands for the text of the post, N for the name of its writer, X for other parts. */
  const posts: [forum: string, post: string, kept: string][] = [
    [
      'Discourse',
      '<div class="topic-body crawler-post"><div class="crawler-post-meta"><b class="creator">N</b><i itemprop="position">X</i></div><div class="post">T</div><i>X</i></div>',
      'NT',
    ],
    [
      'XenForo',
      '<article class="message"><h4 class="message-name">N</h4><p>X</p><div class="message-body"><div class="bbWrapper">T</div></div></article>',
      'NT',
    ],
    [
      'Stack Exchange',
      '<div class="answer"><div class="votes">X</div><div class="js-post-body">T</div><div class="user-card">X</div></div>',
      'T',
    ],
    [
      'phpBB',
      '<div class="post"><dl class="postprofile">X</dl><div class="postbody"><p class="author">N</p><div class="content">T</div><div class="signature">X</div></div></div>',
      'NT',
    ],
    [
      'vBulletin',
      '<table><tr><td><div class="smallfont">X</div><div id="post_message_1">T</div></td></tr></table>',
      'T',
    ],
    [
      'Invision',
      '<article class="ipsComment cPost"><h3 class="cAuthorPane_author">N</h3><div data-role="commentContent">T</div><div>X</div></article>',
      'NT',
    ],
    [
      'MyBB',
      '<div class="post"><div class="post_author"><span class="largetext">N</span> </div><div class="post_body">T</div><div class="signature">X</div></div>',
      'N T',
    ],
    ['NodeBB', '<li component="post"><i>X</i><div component="post/content">T</div></li>', 'T'],
    ['Khoros', '<div class="lia-message-view"><b>X</b><div class="lia-message-body-content">T</div></div>', 'T'],
    [
      'bbPress',
      '<div class="topic"><b class="bbp-author-name">N</b><div class="bbp-reply-content">T</div><p>X</p></div>',
      'NT',
    ],
  ]
  test.each(posts)('keeps the posts of %s and drops everything around them', (_, post, kept) => {
    const fill = (pattern: string) => pattern.replace('T', TEXT).replace('N', 'Ann')
    const html = post.replace(/\bT\b/, TEXT).replace(/\bN\b/, 'Ann').replaceAll(/\bX\b/g, 'furniture')
    const text = threadOf(html + html) ?? ''
    expect(text.replaceAll(' ', '')).toBe((fill(kept) + fill(kept)).replaceAll(' ', ''))
  })

  test('takes a single post without replies', () => {
    expect(threadOf(`<div class="postbody"><div class="content">${TEXT}</div></div>`)).toBe(TEXT)
  })

  test('begins with the title of the thread, whether it is before the posts or among them', () => {
    const post = `<div class="postbody"><div class="content">${TEXT}</div></div>`
    expect(threadOf(`<h1><a href="/t/1">Tides</a></h1><div>${post}${post}</div>`)).toBe(`Tides ${TEXT}${TEXT}`)
    expect(threadOf(`<h1>Tides</h1>${post}${post}`)).toBe(`Tides${TEXT}${TEXT}`)
    expect(threadOf(`<h1><a href="/">Our forum</a></h1><div>${post}${post}</div>`)).toBe(TEXT + TEXT)
  })

  test('ignores a few posts in a page, unless the page declares that it is a thread', () => {
    const html = `<p>${TEXT.repeat(20)}</p><div class="js-post-body">${TEXT}</div>`
    expect(threadOf(html)).toBeUndefined()
    expect(threadOf(html, ['qapage'])).toBe(TEXT)
  })

  test('finds no thread in a page without posts', () => {
    expect(threadOf(`<p>${TEXT}</p>`)).toBeUndefined()
  })
})
