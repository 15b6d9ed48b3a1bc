import { describe, expect, test } from 'vitest'
import { parseHtml } from '../html/parse-html.ts'
import { lineOf } from '../html/tree.ts'
import { indexElements } from './element-index.ts'
import { findContent } from './find-content.ts'
import { readMetadata } from './metadata.ts'
import { removeChrome } from './remove/chrome.ts'

/** Sentences that differ, so that none is a copy. */
function prose(topic: string, count = 6): string {
  return Array.from(
    { length: count },
    (_, i) => `<p>Sentence ${i} about ${topic}, which goes on for a while to be one.</p>`,
  ).join('')
}

function contentOf(html: string): string {
  const root = parseHtml(html)
  const metadata = readMetadata(indexElements(root), 'https://example.com/')
  removeChrome(root, undefined)
  return findContent(root, undefined, metadata).elements.map(lineOf).join(' ')
}

const ARTICLE = '<meta property="og:type" content="article"><meta name="author" content="Ada">'
const PRODUCT =
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Cup"}</script>'
const card = (name: string) =>
  `<li class="card"><img src="${name}.jpg"><h3><a href="/${name}">Card ${name}</a></h3></li>`
const CARDS = `<ul>${['a', 'b', 'c', 'd'].map(card).join('')}</ul>`

describe('findContent', () => {
  const cases: [name: string, html: string, kept: string[], gone: string[]][] = [
    [
      'the text of an article without byline, comments, credits and teasers',
      `${ARTICLE}<body><div class="entry-content"><p class="byline">By Ada</p>${prose('rivers')}
        <figure><img src="x.jpg"><figcaption>Seen from the bridge</figcaption></figure>
        <figure><img src="y.jpg"><figcaption>Photo: Bob</figcaption></figure>${CARDS}
        <h2>You may also like</h2><p><a href="/else">Something else entirely</a></p></div>
        <div id="comments">${prose('opinions')}</div></body>`,
      ['about rivers', 'Seen from the bridge'],
      ['Ada', 'opinions', 'Bob', 'Card a', 'Something else'],
    ],
    [
      'a reference with all its headings, code and cross references',
      `<body><main><h1>Title</h1>${prose('calls')}<h2>Related topics</h2><p>See there.</p><pre>x = 1</pre></main></body>`,
      ['Title', 'about calls', 'Related topics', 'See there.', 'x = 1'],
      [],
    ],
    [
      'a chapter about comments that has no form for comments',
      `<body><main><h1>Title</h1>${prose('grammar')}<div id="comments"><h2>Comments</h2>${prose('comments', 1)}</div></main></body>`,
      ['about grammar', 'about comments'],
      [],
    ],
    [
      'all sections of a page with several',
      `<body><section><h2>One</h2>${prose('plans')}</section><section><h2>Two</h2>${prose('prices')}</section></body>`,
      ['One', 'about plans', 'Two', 'about prices'],
      [],
    ],
    [
      'the introduction beside the body',
      `<body><main><h1>Title</h1><div><p>${'An introduction of some length. '.repeat(4)}</p></div><div>${prose('bodies')}</div></main></body>`,
      ['Title', 'An introduction', 'about bodies'],
      [],
    ],
    ['the items of a listing', `<body><main><h1>Cups</h1>${CARDS}</main></body>`, ['Cups', 'Card a', 'Card d'], []],
    [
      'the description of a product without reviews and other products',
      `${PRODUCT}<body><main><h1>Cup</h1>${prose('clay')}${CARDS}<div class="reviews">${prose('delight')}</div></main></body>`,
      ['Cup', 'about clay'],
      ['Card a', 'delight'],
    ],
    [
      'a description once if the page has one for narrow and one for wide screens',
      `${PRODUCT}<body><main><h1>Cup</h1><div>${prose('clay', 2)}</div><div>${prose('clay', 2)}</div></main></body>`,
      ['Cup', 'Sentence 1 about clay'],
      ['to be one.Sentence 0'],
    ],
    [
      'the text below a main element that holds only labels, and the labels',
      `<body><main><h1>Cups</h1>${CARDS.repeat(12)}</main><section>${prose('choosing a cup')}</section></body>`,
      ['Cups', 'Card a', 'about choosing a cup'],
      [],
    ],
    [
      'a list without the comments below it, even if these are longer',
      `<body><h1>Cups</h1>${CARDS.repeat(30)}<div id="comment_list">${prose('opinions', 20)}</div></body>`,
      ['Card a'],
      ['opinions'],
    ],
    [
      'a text once if it is on the page twice',
      `<body><div class="wide">${prose('rooms', 9)}</div><div class="narrow">${prose('rooms', 9)}</div></body>`,
      ['Sentence 0 about rooms'],
      ['Sentence 8 about rooms, which goes on for a while to be one.Sentence 0'],
    ],
    [
      'a code listing each time that a tutorial shows it',
      `${ARTICLE}<body>${prose('code')}<pre>first ${'x = 1; '.repeat(60)}</pre><p>Now</p><pre>first ${'x = 1; '.repeat(60)}</pre></body>`,
      ['x = 1; Nowfirst x = 1;'],
      [],
    ],
    [
      'the posts of a thread with their writers and dates',
      `<body><div class="thread">${['Ann', 'Ben']
        .map(
          (
            name,
          ) => `<article class="message"><h4 class="message-name">${name}</h4><h5 class="message-userTitle">Expert</h5>
          <div class="message-attribution-main"><time itemprop="datePublished">May 1</time></div>
          <div class="message-body"><div class="bbWrapper">${prose(`the view of ${name}`)}</div></div>
          <div class="message-signature">Sent from a phone</div></article>`,
        )
        .join('')}</div></body>`,
      ['Ann', 'May 1', 'the view of Ann', 'Ben', 'the view of Ben'],
      ['Expert', 'phone'],
    ],
    [
      'text in navigation if there is no other text',
      `<body><nav>${prose('what a nav should not hold')}</nav></body>`,
      ['about what a nav should not hold'],
      [],
    ],
    ['a page of one line', '<body><nav>Home</nav><p>Hello</p></body>', ['Hello'], ['Home']],
  ]
  test.each(cases)('finds %s', (_, html, kept, gone) => {
    const content = contentOf(html)
    for (const text of kept) expect(content).toContain(text)
    for (const text of gone) expect(content).not.toContain(text)
  })

  test('keeps a short section beside a long one with a heading of the same rank', () => {
    const html = `<main><h1>Install</h1><section><h2>Steps</h2><p>Run the installer.</p></section>
      <section><h2>Notes</h2>${prose('notes', 12)}</section></main>`
    expect(contentOf(html)).toContain('Run the installer.')
  })

  test('keeps every occurrence of a repeated paragraph, but only one copy of a part made for each screen size', () => {
    const vow = `<p>I promise to ${'keep the lamp lit and the log <b>true</b>, <i>always</i>, '.repeat(12)}so.</p>`
    const repeated = contentOf(`<body><h1>Vows</h1><h2>At dusk</h2>${vow}<h2>At dawn</h2>${vow}</body>`)
    expect(repeated.split('I promise')).toHaveLength(3)
    const part = `<div>${prose('lamps', 8)}</div>`
    expect(contentOf(`<body><h1>Lamps</h1>${prose('oil')}${part}${part}</body>`).split('Sentence 7')).toHaveLength(2)
  })

  test('finds only the article, even among many links', () => {
    const links = '<li><a href="/x">A headline of another day, which is rather long</a></li>'.repeat(80)
    const html = `${ARTICLE}<body><ul>${links}</ul><div><h1>Rivers</h1>${prose('rivers', 12)}</div><div><ul>${links}</ul></div></body>`
    expect(contentOf(html)).toContain('Sentence 11 about rivers')
    expect(contentOf(html)).not.toContain('headline')
  })

  test('finds the title of a page in its breadcrumb path', () => {
    const path = '<ol class="breadcrumbs"><li><a href="/">Home</a></li><li><h1>Tide tables</h1></li></ol>'
    expect(contentOf(`<body>${path}<main>${prose('tides')}</main></body>`)).toMatch(/^Tide tables Sentence 0/)
  })

  test.each(['class="commentlist"', 'id="comment-box"', 'class="comments-area"'])(
    'drops comments below an article instead of taking them for a thread: %s',
    (name) => {
      const comments = `<ol ${name}><li><div class="comment-content">${prose('opinions', 20)}</div></li></ol>`
      expect(
        contentOf(`${ARTICLE}<body><div class="entry-content">${prose('rivers')}</div>${comments}</body>`),
      ).not.toContain('opinions')
    },
  )

  test('drops pictures that link to pages and those that repeat the title', () => {
    const root = parseHtml(
      `<title>Cup</title><body><div><a href="/b"><img src="b.jpg" alt="b"></a></div><img src="c.jpg" alt="Cup"><a href="d.jpg"><img src="d.jpg" alt="A plan"></a>${prose('cups')}</body>`,
    )
    const { elements } = findContent(root, undefined, readMetadata(indexElements(root), 'https://example.com/'))
    const [content] = elements
    const images = [...(content?.descendants() ?? [])].filter(({ name }) => name === 'img')
    expect(images.map((image) => image.attribute('alt'))).toEqual(['A plan'])
  })

  const SIGNED = `${ARTICLE}<meta property="article:published_time" content="2026-01-02T03:04:05Z">`

  describe('other articles below the article of a page', () => {
    const head = `${SIGNED}<title>The river rises – Daily News</title>`
    const own = `<h1>The river rises</h1>${prose('rivers', 12)}`
    const other = (topic: string) => `<h1>A tower falls</h1>${prose(topic, 30)}`

    test('are dropped', () => {
      const articles = `<article>${own}</article><div><article>${other('towers')}</article></div>`
      const text = contentOf(`${head}<body><main>${articles}</main></body>`)
      expect(text).toContain('Sentence 11 about rivers')
      expect(text).not.toContain('tower')
    })

    test.each([
      ['parts of an article', `<article><section>${own}</section><section>${other('springs')}</section></article>`],
      ['parts of a page without classes', `<div>${own}</div><div>${other('springs')}</div>`],
      ['parts of a page with one class', `<div class="row">${own}</div><div class="row">${other('springs')}</div>`],
      ['the stories of a newsletter', `<div class="intro">${own}</div><article>${other('springs')}</article>`],
      ['a text with a caption as its heading', `<h1>The river rises</h1><article>${other('springs')}</article>`],
    ])('are not confused with %s', (_, parts) => {
      expect(contentOf(`${head}<body><main>${parts}</main></body>`)).toContain('Sentence 29 about springs')
    })
  })

  test('a title with one short sentence is the content, however many links surround it', () => {
    const links = '<li><a href="/x">A headline of another day, which is rather long</a></li>'.repeat(40)
    const page = `<body><nav><a href="/">Home</a></nav><div><h1>Bridge closed</h1><p>The bridge is closed until Friday.</p></div>
      <aside><h3>Most read</h3><ul>${links}</ul></aside></body>`
    expect(contentOf(page)).toBe('Bridge closedThe bridge is closed until Friday.')
  })

  test('a list of links below a title and a sentence stays, even as navigation', () => {
    const links = Array.from({ length: 60 }, (_, i) => `<li><a href="/${i}">Chapter ${i} of the manual</a></li>`)
    const page = `<body><main><h1>Manual</h1><p>Pick a topic to begin.</p><nav><ul>${links.join('')}</ul></nav></main></body>`
    expect(contentOf(page)).toContain('Chapter 59')
  })

  describe('lists of other articles', () => {
    const item = (i: number) => `<li class="item"><h3><a href="/${i}">Headline number ${i} of another day</a></h3>
      <p>The first sentence of article ${i}, which is long enough to count as prose here.</p></li>`
    const list = (count: number) => `<ul>${Array.from({ length: count }, (_, i) => item(i)).join('')}</ul>`

    test('are dropped below a signed article, with advertisements between them', () => {
      const items = list(6).replace('<li class="item">', '<li class="ad">Buy a boat now</li><li class="item">')
      const text = contentOf(`${SIGNED}<body><h1>Title</h1><div>${prose('rivers', 30)}</div><div>${items}</div></body>`)
      expect(text).toContain('Sentence 29 about rivers')
      expect(text).not.toContain('Headline')
      expect(text).not.toContain('boat')
    })

    test('are dropped even when they are longer than the article', () => {
      const text = contentOf(
        `${SIGNED}<body><h1>Title</h1><div>${prose('rivers', 30)}</div><div>${list(40)}</div></body>`,
      )
      expect(text).toContain('Sentence 29 about rivers')
      expect(text).not.toContain('Headline')
    })

    test('stay on a page with only a few sentences beside them', () => {
      expect(contentOf(`${SIGNED}<body><h1>Title</h1>${prose('rivers', 3)}${list(12)}</body>`)).toContain(
        'Headline number 11',
      )
    })

    test('stay on a page without author and date', () => {
      const page = `<body><h1>Title</h1><div>${prose('rivers', 30)}</div><div>${list(6)}</div></body>`
      expect(contentOf(page)).toContain('Headline number 5')
    })

    test('stay when they have fewer than five items, or names instead of headlines', () => {
      const body = `<h1>Title</h1><div>${prose('rivers', 30)}`
      expect(contentOf(`${SIGNED}<body>${body}${list(4)}</div></body>`)).toContain('Headline number 3')
      const names = Array.from(
        { length: 6 },
        (_, i) => `<p><b>Use</b></p><div><h3><a href="/${i}">Name ${i}</a></h3></div>`,
      )
      expect(contentOf(`${SIGNED}<body>${body}${names.join('')}</div></body>`)).toContain('Name 5')
    })
  })

  test('takes every part of an article whose text is in several elements', () => {
    const page = `${ARTICLE}<body><article><div><div class="story-body">${prose('springs', 4)}</div></div><p>Advertisement</p>
      <div><div class="story-body">${prose('rivers', 20)}</div></div></article></body>`
    expect(contentOf(page)).toContain('Sentence 0 about springs')
    expect(contentOf(page)).toContain('Sentence 19 about rivers')
  })
})
