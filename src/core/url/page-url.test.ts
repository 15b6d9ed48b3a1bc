import { describe, expect, test } from 'vitest'
import { classifyUrl, foldPagination, isArticleUrl, type PageUrl } from './page-url.ts'

describe('an address', () => {
  test.each<[string, PageUrl['kind'], string]>([
    ['/', 'nav', 'the front page'],
    ['/index.html', 'nav', 'the front page by its name'],
    ['/2024/03/05/storm-hits-coast', 'article', 'a date and something after it'],
    ['/world/2024/mar/05/storm', 'article', 'a month by its name'],
    ['/news/2024-03-05-storm.html', 'article', 'a date in its name'],
    ['/news/storm-20240305', 'article', 'a date at its end'],
    ['/2024/03', 'nav', 'a month alone'],
    ['/archive/2024-03-05', 'nav', 'a day alone'],
    ['/2024/03/05/index.html', 'nav', 'a day, with the name of its page'],
    ['/archive/2024', 'nav', 'a year of an archive'],
    ['/world/prime-minister-resigns-after-vote', 'article', 'a headline'],
    ['/article/4711', 'article', 'a number under a word for articles'],
    ['/news/prime-minister-resigns', 'article', 'three words under a word for news'],
    ['/news/north-america', 'unknown', 'two words under a word for news'],
    ['/post/7-side-moving-company/18153161/', 'article', 'a headline before a number'],
    ['/world/france', 'unknown', 'a section of a section'],
    ['/tag/trade', 'nav', 'a tag'],
    ['/topics/france-news', 'nav', 'a topic'],
    ['/author/anna-smith', 'nav', 'an author'],
    ['/world/france?page=2', 'nav', 'a second page'],
    ['/docs/getting-started-with-the-thing', 'other', 'a manual'],
    ['/t/is-this-a-good-idea-at-all/138416', 'other', 'a thread'],
    ['/topic/188682-new-2500x-pc-case/', 'other', 'a numbered topic'],
    ['/forum/viewtopic.php?t=9', 'other', 'a topic of phpBB'],
    ['/privacy', 'other', 'a page of a site about itself'],
    ['/search?q=tides', 'other', 'a search'],
  ])('%s is %s: %s', (path, kind) => {
    expect(classifyUrl(`https://news.example${path}`).kind).toBe(kind)
    expect(isArticleUrl(`https://news.example${path}`)).toBe(kind === 'article')
  })

  test('is judged by its host as well', () => {
    expect(classifyUrl('https://docs.example.org/intro').kind).toBe('other')
    expect(classifyUrl('https://forums.example.org/a-long-title-of-a-thread').kind).toBe('other')
    expect(classifyUrl('https://docs.example.org/').kind).toBe('unknown')
  })

  test.each([
    ['/2024/03/05/x', '2024-03-05'],
    ['/2024/3/x', '2024-03'],
    ['/2024/märz/5', '2024-03-05'],
    ['/a/20240305/x', '2024-03-05'],
    ['/a/x-2024-03-05.html', '2024-03-05'],
    ['/a/2024_03_05', '2024-03-05'],
    ['/2024/13/05/x', undefined],
    ['/a/120240305', undefined],
    ['/2024/x', undefined],
  ])('%s has the date %s', (path, date) => {
    const classified = classifyUrl(encodeURI(`https://news.example${path}`))
    expect(classified.date).toBe(date)
    expect(classified.hasDate).toBe(date !== undefined)
  })

  test('is cut into decoded segments', () => {
    expect(classifyUrl('https://news.example//World/C%C3%B4te/?a=/b#/c').segments).toEqual(['world', 'côte'])
  })

  test('is classified in linear time, whatever its length', () => {
    const long = `https://news.example/${'a-'.repeat(200_000)}/${'2024'.repeat(100_000)}`
    expect(classifyUrl(long).segments).toHaveLength(2)
    expect(foldPagination(long)).toBe(long)
  })
})

describe('paginated addresses', () => {
  test.each([
    ['/world/france?page=2', '/world/france'],
    ['/world/france?lang=en&page=2&x=1#top', '/world/france?lang=en&x=1'],
    ['/world/france/page/2', '/world/france'],
    ['/world/france/page/2/', '/world/france/'],
    ['/world/france-p2', '/world/france'],
    ['/world/france-page-3.html', '/world/france.html'],
    ['/world/france/seite/4', '/world/france'],
    ['/page/2', '/'],
    ['/?page=2', '/'],
  ])('%s is a page of %s', (path, first) => {
    expect(foldPagination(`https://news.example${path}`)).toBe(`https://news.example${first}`)
    expect(classifyUrl(`https://news.example${path}`).isPagination).toBe(true)
  })

  test.each(['/world/france', '/?p=123', '/world/g20', '/map-2', '/page', '/homepage/2', '/world?page=two'])(
    '%s is not paginated',
    (path) => {
      expect(foldPagination(`https://news.example${path}`)).toBe(`https://news.example${path}`)
      expect(classifyUrl(`https://news.example${path}`).isPagination).toBe(false)
    },
  )
})
