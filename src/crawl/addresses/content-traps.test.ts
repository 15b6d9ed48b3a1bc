import { describe, expect, test } from 'vitest'
import { ContentTraps, type PageContent, shapeOf } from './content-traps.ts'

const OWN: ReadonlySet<string> = new Set(['a.example', 'a.example:8443'])

describe('shapeOf', () => {
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
    ['https://k3j9.a.example/', '*.a.example/'],
    ['https://k3j9.a.example:8443/docs/', '*.a.example:8443/docs/'],
    ['https://x.k3j9.a.example/docs/7', '*.k3j9.a.example/docs/#'],
    ['https://10.0.0.1.example/', '*.0.0.1.example/'],
    ['https://127.0.0.1:8080/7', '127.0.0.1:8080/#'],
    ['https://[::1.2.3.4]/7', '[::1.2.3.4]/#'],
  ])('shapeOf(%s) is %s', (url, shape) => {
    expect(shapeOf(url, OWN)).toBe(shape)
  })

  test.each([
    'https://a.example/',
    'https://a.example',
    'https://127.0.0.1:8080/docs/intro.html',
    'https://127.0.0.1/',
    'https://[::1]:8080/docs',
    'https://localhost:8080/docs',
    'https://a.example/docs/v2/',
    'https://a.example/docs/1.2/intro',
    'https://a.example/docs/v1.2.3-rc.1/',
    'https://a.example/docs/release-11.x/',
  ])('%s has no shape', (url) => {
    expect(shapeOf(url, OWN)).toBeUndefined()
  })
})

describe('ContentTraps', () => {
  const text = (words: string): PageContent => ({ text: `# List\n\n${words} are here.`, links: [] })
  /** Records pages of one shape, each one link deeper than the one before, and returns the trap of the next one, if any. */
  const read = (
    count: number,
    contentOf: (i: number) => PageContent,
    urlOf = (i: number) => `https://a.example/list/${i}`,
    depthOf = (i: number) => i,
  ): string | undefined => {
    const traps = new ContentTraps(OWN)
    for (let i = 0; i < count; i++) traps.note(urlOf(i), depthOf(i), contentOf(i))
    return traps.find(urlOf(9999))
  }
  const months = ['January', 'februar', 'März', 'avril', 'May', 'Juni']
  const dated = (i: number): PageContent => ({
    text: `# ${months[i % 6]} ${2000 + i}\n\n[Next](https://a.example/list/${i + 1}?x=${'abcdefgh'[i % 8]}) on Tuesday ${i}th, k${i}z, 5月`,
    links: [`https://a.example/list/${i + 1}?x=${'abcdefgh'[i % 8]}`],
  })

  test('reports a trap after twenty-five identical pages of a shape', () => {
    expect(read(24, () => text('apples'))).toBeUndefined()
    expect(read(25, () => text('apples'))).toBe('a.example/list/#')
  })

  test('reports a trap after fifty empty pages of a shape', () => {
    const nothing: PageContent = { text: '', links: [] }
    expect(read(49, () => nothing)).toBeUndefined()
    expect(read(50, () => nothing)).toBe('a.example/list/#')
  })

  test('reports a trap for endless subdomains, but not for hosts of the site', () => {
    const hostOf = (i: number) => `https://h${'abcdefghij'[i % 10]}${i}.a.example/`
    expect(read(24, () => text('apples'), hostOf)).toBeUndefined()
    expect(read(25, () => text('apples'), hostOf)).toBe('*.a.example/')
    expect(read(5000, (i) => text(i % 9 === 7 ? 'pears' : 'apples'), hostOf)).toBeUndefined()
    const word = (i: number) => 'abcdefghij'.charAt(i % 10).repeat(3)
    const leadingTo = (linkOf: (i: number) => string) => (i: number) => ({ text: 'Go on', links: [linkOf(i)] })
    expect(
      read(
        50,
        leadingTo((i) => `https://${word(i)}.a.example/`),
        hostOf,
      ),
    ).toBeDefined()
    expect(
      read(
        5000,
        leadingTo((i) => `https://${word(i)}.b.example/`),
        hostOf,
      ),
    ).toBeUndefined()
    expect(
      read(
        5000,
        leadingTo((i) => `https://x.a.example/${word(i)}`),
        hostOf,
      ),
    ).toBeUndefined()
    expect(
      read(
        5000,
        () => text('apples'),
        () => 'https://a.example/',
      ),
    ).toBeUndefined()
  })

  test('accepts a host of the site that is added later', () => {
    const hosts = new Set(OWN)
    const traps = new ContentTraps(hosts)
    hosts.add('www.a.example')
    for (let i = 0; i < 50; i++) traps.note(`https://h${i}.a.example/`, i, text('apples'))
    expect(traps.find('https://x.a.example/')).toBe('*.a.example/')
    expect(traps.find('https://www.a.example/')).toBeUndefined()
  })

  test('ignores the exact targets of links', () => {
    const linked = (i: number): PageContent => ({
      text: `[Next](https://a.example/list/${i}?x=${'abcdefgh'[i % 8]})`,
      links: [`https://a.example/list/${i}?x=${'abcdefgh'[i % 8]}`],
    })
    expect(read(50, linked)).toBeDefined()
  })

  test('reports a trap after fifty pages that differ only in numbers and dates', () => {
    expect(read(49, dated)).toBeUndefined()
    expect(read(50, dated)).toBeDefined()
  })

  test('reports no trap for pages that differ only in numbers and are at few depths', () => {
    expect(read(5000, dated, undefined, () => 1)).toBeUndefined()
    expect(read(5000, dated, undefined, (i) => i % 9)).toBeUndefined()
    const byQuery = (i: number) => `https://a.example/list?id=${i}`
    expect(read(5000, dated, byQuery, () => 1)).toBeUndefined()
    expect(read(100, dated, byQuery, (i) => i % 2)).toBeDefined()
  })

  test('applies the limit for similar pages as soon as one page differs in a number', () => {
    const numbered = (i: number) => text(i === 20 ? 'apples 7' : 'apples 8')
    expect(read(49, numbered)).toBeUndefined()
    expect(read(50, numbered)).toBeDefined()
  })

  test('requires four times as many pages once a page has differed', () => {
    for (const odd of [0, 1, 23]) {
      const readWithOneOdd = (count: number) => read(count, (i) => text(i === odd ? 'pears' : 'apples'))
      expect(readWithOneOdd(odd + 100)).toBeUndefined()
      expect(readWithOneOdd(odd + 101)).toBeDefined()
    }
    const calendar = (i: number) => (i < 8 && i % 2 === 0 ? text(`concert ${'abcdefgh'[i]}`) : dated(i))
    expect(read(206, calendar)).toBeUndefined()
    expect(read(207, calendar)).toBeDefined()
  })

  test('reports no trap when a page differs now and then', () => {
    const letters = (i: number) => String(i).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')
    expect(read(5000, (i) => text(i % 20 === 0 ? 'pears' : 'apples'))).toBeUndefined()
    expect(read(5000, (i) => (i % 49 === 48 ? text('pears') : dated(i)))).toBeUndefined()
    expect(read(5000, (i) => text(letters(i)))).toBeUndefined()
    expect(read(5000, (i) => ({ text: '', links: [`https://a.example/${letters(i)}`] }))).toBeUndefined()
  })

  test('reports no trap for addresses of another shape or without a shape', () => {
    const traps = new ContentTraps(OWN)
    for (let i = 0; i < 100; i++) {
      traps.note(`https://a.example/list/${i}`, i, text('apples'))
      traps.note('https://a.example/fixed', i, text('apples'))
    }
    expect(traps.find('https://a.example/list/1/more')).toBeUndefined()
    expect(traps.find('https://b.example/list/1')).toBeUndefined()
    expect(traps.find('https://a.example/fixed')).toBeUndefined()
  })

  test('forgets the pages of a shape after 2,000 other shapes, but not that a shape is diverse', () => {
    const traps = new ContentTraps(OWN)
    const note = (folder: string, count: number) => {
      for (let i = 0; i < count; i++) traps.note(`https://a.example/${folder}/${i}`, i, text('apples'))
    }
    const noteOthers = (sign: string) => {
      for (let i = 0; i < 2000; i++) note(`${sign}${String.fromCharCode(0x4e00 + i)}`, 1)
    }
    note('first', 15)
    noteOthers('x')
    note('first', 24)
    expect(traps.find('https://a.example/first/1')).toBeUndefined()
    note('first', 1)
    expect(traps.find('https://a.example/first/1')).toBeDefined()
    // Diverse shapes are remembered much longer.
    for (let i = 0; i < 12; i++) traps.note('https://a.example/second/1', 1, text(i % 2 === 0 ? 'pears' : 'plums'))
    noteOthers('y')
    note('second', 200)
    expect(traps.find('https://a.example/second/1')).toBeUndefined()
  })
})
