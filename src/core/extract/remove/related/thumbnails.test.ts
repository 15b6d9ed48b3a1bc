import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../../html/parse-html.ts'
import { countStatistics } from '../../content/statistics.ts'
import { removeThumbnails } from './thumbnails.ts'

const PROSE = '<p>A sentence that is long enough to be one and says a little.</p>'

function imagesIn(html: string, title: string, isCatalogue = false): string[] {
  const root = parseHtml(`<body>${html}${PROSE}</body>`)
  removeThumbnails(root, countStatistics(root), { title, isCatalogue })
  return [...root.descendants()].filter(({ name }) => name === 'img').map((image) => image.attribute('src') ?? '')
}

describe('removeThumbnails', () => {
  test.each([
    ['whose text holds a letter of the title', '<img src="a" alt="A tree">', 'T'],
    ['whose text begins with the title', '<img src="a" alt="Architecture diagram of the cache">', 'Architecture'],
    ['with the same text as another', '<img src="b" alt="Screen"><img src="a" alt="Screen">', 'Screens'],
    [
      'in a link in a sentence',
      `<p>The sign <a href="/b"><img src="a" alt="x"></a> leads to a page of its own.</p>`,
      'T',
    ],
    [
      'in a link with a caption',
      '<figure><a href="/b"><img src="a"></a><figcaption>Seen from above</figcaption></figure>',
      'T',
    ],
    ['that a link enlarges', '<a href="a.jpg"><img src="a"></a>', 'T'],
  ])('keeps a picture %s', (_, html, title) => {
    expect(imagesIn(html, title)).toContain('a')
  })

  test.each([
    ['that repeats the title', '<img src="a" alt="On the Tides">', 'On the tides'],
    ['that nearly repeats the title', '<img src="a" alt="How high the tides are">', 'How high are the tides'],
    ['that repeats a heading', '<h2>Tides</h2><img src="a" alt="Tides">', 'T'],
    ['of a card', '<div><a href="/b"><img src="a" alt="x"></a></div>', 'T'],
    [
      'beside a text link to the same page',
      `<div><figure><a href="/b"><img src="a"></a></figure><a href="/b">B</a>${PROSE}</div>`,
      'T',
    ],
  ])('drops a picture %s', (_, html, title) => {
    expect(imagesIn(html, title)).toEqual([])
  })

  test('drops a row of pictures without text and alternative text', () => {
    const row = '<div><i><img src="a"></i><i><img src="b" alt=""></i><i><img src="c"></i><i><img src="d"></i></div>'
    expect(imagesIn(row, 'T')).toEqual([])
    expect(imagesIn(row.replace('alt=""', 'alt="The harbour"'), 'T')).toHaveLength(4)
    expect(imagesIn(`<p>1. Press this. ${row} 2. Release it.</p>`, 'T')).toEqual([])
    expect(imagesIn('<div><img src="a"><img src="b"></div>', 'T')).toEqual(['a', 'b'])
  })

  test('keeps one of several copies of a picture, and of variants for light and dark screens', () => {
    expect(imagesIn('<img src="a.png" alt="x"><img src="a.png" alt="x"><img src="a-dark.png" alt="x">', 'T')).toEqual([
      'a.png',
    ])
  })

  test('keeps one picture of an item in a catalogue, and none of linked items', () => {
    expect(
      imagesIn('<img src="a" alt="Cup"><img src="b" alt="Cup"><p><a href="/c"><img src="c"></a></p>', 'T', true),
    ).toEqual(['a'])
  })
})
