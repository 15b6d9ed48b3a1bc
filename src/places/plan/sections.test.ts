import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { SectionIndex } from './sections.ts'

const SITE = 'https://news.example'

function learn(paths: readonly string[], base = 0): SectionIndex {
  const index = new SectionIndex(base)
  for (const path of paths) {
    const address = parseAddress(SITE + path)
    if (address !== undefined) index.note(address)
  }
  return index
}

/** A front page of a section with this many articles below it. */
const section = (name: string, articles: number, hasFront = true) => [
  ...(hasFront ? [`/${name}`] : []),
  ...Array.from({ length: articles }, (_, n) => `/${name}/2024/05/03/an-article-with-the-number-${n}`),
]

test('sections are the first path segments, except dates and service pages', () => {
  const paths = [...section('world', 5), ...section('sport', 9), ...section('about', 5), '/2024/05/03/lonely-one']
  const index = learn(paths)
  const home = parseAddress(`${SITE}/world`)
  if (home !== undefined) index.noteHomeLink(home)
  expect(index.list().map(({ name, count, homeLinkCount }) => [name, count, homeLinkCount])).toEqual([
    ['world', 6, 1],
    ['sport', 10, 0],
  ])
})

test('a language prefix or the folder of the start page is not a section by itself', () => {
  expect(learn(section('en/world', 5)).list()[0]?.name).toBe('en/world')
  expect(learn(section('paper/world', 5), 1).list()[0]?.name).toBe('paper/world')
})

test('front pages of sections are guessed only when most sections have one', () => {
  const known = ['world', 'sport', 'arts'].flatMap((name) => section(name, 5))
  expect(learn([...known, ...section('science', 6, false)]).guessFronts(SITE)).toEqual([`${SITE}/science`])
  expect(learn([...known, ...section('science', 3, false)]).guessFronts(SITE)).toEqual([])
  expect(learn(['a', 'b', 'c'].flatMap((name) => section(`${name}-part`, 6, false))).guessFronts(SITE)).toEqual([])
})
