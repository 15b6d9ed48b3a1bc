import { describe, expect, test } from 'vitest'
import { ContentTraps, type PageContent, shapeOf } from './traps.ts'

describe('the shape of an address', () => {
  test.each([
    ['https://a.example/list/7?page=2', 'a.example/list/#?page=*'],
    ['https://a.example/list/7/?page=2&x', 'a.example/list/#/?page=*&x'],
    ['https://a.example:8443/item-12.html', 'a.example:8443/#'],
    ['https://a.example/p/8f3ab2', 'a.example/p/#'],
    ['https://a.example/?x=abc', 'a.example/?x=*'],
    ['https://a.example/x?k3j9', 'a.example/x?#'],
    ['https://a.example/b/a/c/a/b/', 'a.example/{a,b,c}…'],
    ['https://a.example/c/b/a/b/', 'a.example/{a,b,c}…'],
    ['https://a.example/docs/2.0/api/3', 'a.example/docs/2.0/api/#'],
  ])('%s is %s', (url, shape) => {
    expect(shapeOf(url)).toBe(shape)
  })

  test.each([
    'https://a.example/',
    'https://a.example',
    'https://127.0.0.1:8080/docs/intro.html',
    'https://a.example/docs/v2/',
    'https://a.example/docs/1.2/intro',
    'https://a.example/docs/v1.2.3-rc.1/',
    'https://a.example/docs/release-11.x/',
  ])('%s has none', (url) => {
    expect(shapeOf(url)).toBeUndefined()
  })
})

describe('the same content under many addresses', () => {
  const text = (words: string): PageContent => ({ text: `# List\n\n${words} are here.`, links: [] })
  /** Notes so many pages of one shape, each found on the one before, and tells whether the next one is left out. */
  const read = (
    count: number,
    contentOf: (i: number) => PageContent,
    urlOf = (i: number) => `https://a.example/list/${i}`,
    depthOf = (i: number) => i,
  ): string | undefined => {
    const traps = new ContentTraps()
    for (let i = 0; i < count; i++) traps.note(urlOf(i), depthOf(i), contentOf(i))
    return traps.find(urlOf(9999))
  }
  const months = ['January', 'februar', 'März', 'avril', 'May', 'Juni']
  const dated = (i: number): PageContent => ({
    text: `# ${months[i % 6]} ${2000 + i}\n\n[Next](https://a.example/list/${i + 1}?x=${'abcdefgh'[i % 8]}) on Tuesday ${i}th, k${i}z, 5月`,
    links: [`https://a.example/list/${i + 1}?x=${'abcdefgh'[i % 8]}`],
  })

  test('makes a trap of its shape from the thirtieth page on', () => {
    expect(read(29, () => text('apples'))).toBeUndefined()
    expect(read(30, () => text('apples'))).toBe('a.example/list/#')
  })

  test('is the same wherever exactly its links lead', () => {
    const linked = (i: number): PageContent => ({
      text: `[Next](https://a.example/list/${i}?x=${'abcdefgh'[i % 8]})`,
      links: [`https://a.example/list/${i}?x=${'abcdefgh'[i % 8]}`],
    })
    expect(read(30, linked)).toBeDefined()
  })

  test('is the same but for numbers and dates from the hundredth page on', () => {
    expect(read(99, dated)).toBeUndefined()
    expect(read(100, dated)).toBeDefined()
  })

  test('is no trap where only numbers differ and all stand at one place', () => {
    expect(read(5000, dated, undefined, () => 1)).toBeUndefined()
    expect(read(5000, dated, undefined, (i) => i % 9)).toBeUndefined()
    const byQuery = (i: number) => `https://a.example/list?id=${i}`
    expect(read(5000, dated, byQuery, () => 1)).toBeUndefined()
    expect(read(100, dated, byQuery, (i) => i % 2)).toBeDefined()
  })

  test('may be of a few kinds', () => {
    const fruits = ['apples', 'pears', 'plums', 'cherries', 'grapes']
    expect(read(50, (i) => text(fruits[i % 5] ?? ''))).toBeDefined()
    expect(read(49, (i) => text(fruits[i % 5] ?? ''))).toBeUndefined()
  })

  test('is no trap while one page of ten brings something new', () => {
    const letters = (i: number) => String(i).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')
    expect(read(5000, (i) => text(i % 9 === 0 ? letters(i) : 'apples'))).toBeUndefined()
    expect(read(5000, (i) => text(letters(i)))).toBeUndefined()
    expect(read(5000, (i) => ({ text: '', links: [`https://a.example/${letters(i)}`] }))).toBeUndefined()
  })

  test('says nothing about addresses of another shape or none', () => {
    const traps = new ContentTraps()
    for (let i = 0; i < 100; i++) {
      traps.note(`https://a.example/list/${i}`, i, text('apples'))
      traps.note('https://a.example/fixed', i, text('apples'))
    }
    expect(traps.find('https://a.example/list/1/more')).toBeUndefined()
    expect(traps.find('https://b.example/list/1')).toBeUndefined()
    expect(traps.find('https://a.example/fixed')).toBeUndefined()
  })

  test('is forgotten where too many shapes were read since', () => {
    const traps = new ContentTraps()
    const note = (host: string, count: number) => {
      for (let i = 0; i < count; i++) traps.note(`https://${host}.example/${i}`, i, text('apples'))
    }
    note('first', 20)
    for (let i = 0; i < 2000; i++) note(`host${i}`, 1)
    note('first', 20)
    expect(traps.find('https://first.example/1')).toBeUndefined()
    note('first', 10)
    expect(traps.find('https://first.example/1')).toBeDefined()
  })
})
