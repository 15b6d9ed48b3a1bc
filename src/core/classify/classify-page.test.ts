import { describe, expect, test } from 'vitest'
import { extractPage } from '../extract/extract-page.ts'
import type { Page, PageClass } from '../model.ts'
import { classifyPage } from './classify-page.ts'

const SENTENCES = [
  'The harbour was closed for two days while divers looked for the anchor that had been lost.',
  'Nobody on the quay could remember a winter in which so many boats stayed ashore.',
  'The council will decide in spring whether the old lighthouse is to be sold.',
  'Fishermen said that prices had fallen by a third since the new market opened.',
  'A spokeswoman for the port declined to say when the ferry would sail again.',
]

function prose(paragraphs: number): string {
  return Array.from({ length: paragraphs }, (_, i) => `<p>${SENTENCES.slice(i % 3, (i % 3) + 3).join(' ')}</p>`).join(
    '',
  )
}

const TITLES = ['harbour closed', 'anchor found', 'winter ashore', 'lighthouse sold', 'prices fall', 'ferry sails']

function titleOf(i: number): string {
  return `${TITLES[i % TITLES.length]} after ${i + 2} days`
}

/** Forms of article lists on sites without metadata. */
const LISTS = {
  'a plain list': (href: string, i: number) => `<li><a href="${href}">${titleOf(i)}</a></li>`,
  'a list with teasers': (href: string, i: number) =>
    `<li><a href="${href}">${titleOf(i)}</a> ${SENTENCES[i % 5]}</li>`,
  'headings with teasers': (href: string, i: number) =>
    `<article><h2><a href="${href}">${titleOf(i)}</a></h2><p>${SENTENCES[i % 5]} ${SENTENCES[(i + 1) % 5]}</p></article>`,
  'cards that are links': (href: string, i: number) =>
    `<a href="${href}"><h3>${titleOf(i)}</h3><p>${SENTENCES[i % 5]}</p></a>`,
} as const

const URL_FORMS = {
  dated: (i: number) => `/2026/03/${10 + (i % 18)}/${titleOf(i).replaceAll(' ', '-')}`,
  numbered: (i: number) => `/news/${4000 + i}.html`,
  'by section': (i: number) => `/world/${titleOf(i).replaceAll(' ', '-')}`,
} as const

const MENU = `<nav>${[
  'world',
  'sport',
  'culture',
  'business',
  'travel',
  'science',
  'opinion',
  'weather',
  'video',
  'arts',
  'food',
  'games',
]
  .map((name) => `<a href="/${name}">${name}</a>`)
  .join(' ')}</nav>`

function read(path: string, html: string): Page {
  const extraction = extractPage({
    url: `https://news.example${path}`,
    body: `<html lang="en"><body>${html}</body></html>`,
  })
  if (extraction.type !== 'page') throw new Error(`no page: ${extraction.reason}`)
  return extraction.page
}

function kindOf(path: string, html: string): PageClass {
  return classifyPage(read(path, html)).kind
}

describe('a hub without metadata', () => {
  const paths = [
    '/',
    '/world/',
    '/world/france',
    '/nations/france.html',
    '/c/fr/',
    '/tag/trade',
    '/world/france?page=2',
  ]
  for (const [list, item] of Object.entries(LISTS)) {
    test.each(Object.entries(URL_FORMS))(`a hub as ${list} is navigation when article addresses are %s`, (_, href) => {
      for (const count of [10, 15, 40]) {
        const items = Array.from({ length: count }, (__, i) => item(href(i), i)).join('')
        for (const path of paths) {
          const html = `${MENU}<main><h1>France</h1>${items}<a href="${path}?page=3">Next</a></main>`
          expect(kindOf(path, html), `${path} with ${count}`).toBe('nav')
        }
      }
    })
  }

  test('a hub is navigation even if its address reads like a headline', () => {
    const items = Array.from({ length: 15 }, (_, i) => LISTS['a list with teasers'](URL_FORMS.dated(i), i)).join('')
    expect(kindOf('/world/saint-vincent-and-the-grenadines', `${MENU}<h1>Saint Vincent</h1><ul>${items}</ul>`)).toBe(
      'nav',
    )
  })
})

describe('an article without metadata', () => {
  test.each([
    '/2026/03/05/harbour-closed-after-storm',
    '/news/4711.html',
    '/world/harbour-closed-after-the-winter-storm',
    '/story/harbour',
    '/world/harbour-storm',
  ])('prose without metadata is an article at %s', (path) => {
    expect(kindOf(path, `${MENU}<main><h1>Harbour closed</h1>${prose(5)}</main>`)).toBe('article')
  })

  test('an article may have links to other articles below it', () => {
    const more = Array.from({ length: 6 }, (_, i) => LISTS['a plain list'](URL_FORMS.dated(i), i)).join('')
    const html = `${MENU}<main><h1>Harbour closed</h1>${prose(6)}<h2>More</h2><ul>${more}</ul></main>`
    expect(kindOf('/2026/03/05/harbour-closed', html)).toBe('article')
  })
})

describe('pages in scripts without spaces', () => {
  const story =
    '政府星期一决定，新规定将从明年一月一日起在全国范围内实施。许多市民对此表示反对，并要求议会重新讨论这一问题，部长没有回答。'

  test('classifies a Chinese text as an article', () => {
    const body = Array.from({ length: 4 }, (_, i) => `<p>${story}${i}</p>`).join('')
    expect(kindOf('/2026/03/05/4711.html', `${MENU}<main><h1>新规定</h1>${body}</main>`)).toBe('article')
    expect(kindOf('/a/4711', `${MENU}<main><h1>新规定</h1>${body}</main>`)).toBe('article')
  })

  test('classifies a list of Chinese links as navigation', () => {
    const items = Array.from(
      { length: 15 },
      (_, i) => `<li><a href="/a/${i}">新规定将从明年开始实施${i}</a></li>`,
    ).join('')
    expect(kindOf('/world', `${MENU}<main><h1>世界</h1><ul>${items}</ul></main>`)).toBe('nav')
  })
})

describe('pages that are neither article nor navigation', () => {
  test("a site's page about itself is not an article", () => {
    expect(kindOf('/privacy', `${MENU}<h1>Privacy</h1><p>${SENTENCES.join(' ')}</p>`)).not.toBe('article')
    expect(kindOf('/login', `<h1>Members</h1><p>${SENTENCES[0]} ${SENTENCES[1]}</p>`)).toBe('other')
  })

  test('a forum thread is other, even if it claims to be an article', () => {
    const posts = Array.from(
      { length: 8 },
      (_, i) =>
        `<div class="message-body"><div class="bbWrapper">${SENTENCES[i % 5]} ${SENTENCES[(i + 2) % 5]}</div></div>`,
    ).join('')
    const page = read(
      '/threads/what-to-do-with-an-old-anchor.88/',
      `<meta property="og:type" content="article">${posts}`,
    )
    expect(page.generator).toBe('xenforo')
    expect(classifyPage(page).kind).toBe('other')
  })

  test('a manual page is other', () => {
    const html = `<meta name="generator" content="Docutils 0.18"><div class="document"><div class="body" role="main"><h1>anchor</h1>${prose(5)}<pre>drop(anchor)\nraise(anchor)</pre></div></div>`
    expect(kindOf('/docs/reference/anchor.html', html)).toBe('other')
  })
})

describe('classification details', () => {
  const dated = read(
    '/world/2026/03/05/harbour-closed-after-storm?a=1&b=2',
    `${MENU}<h1>Harbour</h1><h2>A</h2>${prose(4)}<h3>B</h3>`,
  )

  test('the details include the signals of address and content', () => {
    const { url, content } = classifyPage(dated)
    expect(url).toEqual({
      host: 'news.example',
      tld: 'example',
      section: 'world',
      pathDepth: 5,
      slugLen: 'harbour-closed-after-storm'.length,
      hasDatePath: true,
      hasArticleWords: false,
      queryCount: 2,
    })
    expect(content).toMatchObject({ linkDensity: 0, h2: 1, h3: 1, a: 12, navLinks: 12, articleLinks: 0 })
    expect(content.p).toBe(4)
  })

  test('confidence grows with the number of matching signals', () => {
    const bare = read('/world/harbour-storm', `<h1>Harbour closed</h1>${prose(3)}`)
    const declared = { ...bare, types: ['newsarticle', 'og:article'], author: 'Anna Smith', publishedAt: '2026-03-05' }
    expect(classifyPage(declared).confidence).toBeGreaterThan(classifyPage(bare).confidence)
    expect(classifyPage(declared).confidence).toBeGreaterThan(0.9)
  })

  test('only links of the same site count, with or without www', () => {
    const html = `<p>${SENTENCES[0]}</p><a href="https://www.news.example/a">a</a><a href="https://news.example.org/b">b</a><a href="https://other.example/2026/03/05/c">c</a><a href="/2026/03/05/d">d</a>`
    expect(classifyPage(read('/x', html)).content).toMatchObject({ a: 4, navLinks: 1, articleLinks: 1 })
  })
})
