import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { countStatistics } from '../content/statistics.ts'
import { listRemovals } from '../drop.ts'
import { removeTitledParts } from './titled-parts.ts'

const SENTENCE = 'A sentence that is long enough to be one and says a little.'
const PROSE = `<p>${SENTENCE} ${SENTENCE}</p>`

function removals(part: string): string[] {
  const root = parseHtml(`<body>${PROSE.repeat(8)}${part}<h2>End</h2>${PROSE}</body>`)
  removeTitledParts(root, countStatistics(root), false)
  return [...new Set(listRemovals(root).map(({ reason }) => reason))]
}

describe('removeTitledParts', () => {
  test.each([
    'Comments',
    'Responses',
    'Response',
    'Kommentare',
    '评论',
    'Subscribe to events',
    'Sign up',
    'Share the document',
    'Contents',
    'Feedback',
    'Related guides',
    'Written by hand',
    'Get the latest version',
    'Related topics',
    'Newsletter',
  ])('keeps a section called %s that explains something', (title) => {
    expect(removals(`<h2>${title}</h2>${PROSE}`)).toEqual([])
    expect(removals(`<section><h2>${title}</h2>${PROSE}<ul><li>An <a href="/x">item</a></li></ul></section>`)).toEqual(
      [],
    )
    expect(removals(`<h2>${title}</h2><pre>x = 1</pre>`)).toEqual([])
  })

  const links = '<ul><li><a href="/a">One page</a></li><li><a href="/b">Another page</a></li></ul>'
  test.each([
    ['Related guides', links, 'other pages'],
    ['You may also like', links, 'other pages'],
    [
      'Recommended',
      `<div><img src="a.jpg"><h3><a href="/a">A</a></h3>${PROSE}</div><div><img src="b.jpg"><h3><a href="/b">B</a></h3></div>`,
      'other pages',
    ],
    ['Contents', links, 'table of contents'],
    ['Contents', '', 'table of contents'],
    ['Subscribe to our newsletter', `${PROSE}<form><input type="email"></form>`, 'newsletter and sharing'],
    ['Share this page', links, 'newsletter and sharing'],
    ['Comments', `<ol><li class="comment">${PROSE}</li></ol>`, 'comments of readers'],
    ['Comments', `${PROSE}<form><textarea></textarea></form>`, 'comments of readers'],
    ['3 comments', PROSE, 'comments of readers'],
    ['12 Kommentare', `<ol><li class="comment">${PROSE}</li></ol>`, 'comments of readers'],
    ['留言列表 (42)', `<ol><li class="comment">${PROSE}</li></ol>`, 'comments of readers'],
    ['About the author', PROSE, 'byline'],
    ['Was this page helpful?', '<p>Tell us</p>', 'feedback on the page'],
  ])('drops a part called %s if its content confirms the title', (title, html, reason) => {
    expect(removals(`<h2>${title}</h2>${html}`)).toEqual([reason])
  })
})
