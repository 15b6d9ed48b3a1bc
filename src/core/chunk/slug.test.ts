import { describe, expect, test } from 'vitest'
import { createSlug, type SlugSource, slugify } from './slug.ts'

function slug(path: string, source: Partial<SlugSource> = {}): string {
  return createSlug({
    path,
    kind: 'markdown',
    startLine: 3,
    endLine: 9,
    headingPath: [],
    symbol: null,
    address: null,
    ...source,
  })
}

describe('slugify', () => {
  test.each([
    ['Hello, World!', 'hello-world'],
    ['  a--b__c  ', 'a-b-c'],
    ['ÄÖ', 'chunk'],
    ['', 'chunk'],
    ['---', 'chunk'],
    ['Café au lait', 'caf-au-lait'],
    ['K9\u212a', 'k9'],
    ['İx', 'x'],
  ])('%j becomes %j', (text, expected) => {
    expect(slugify(text)).toBe(expected)
  })
})

describe('createSlug', () => {
  test.each<[string, Partial<SlugSource>, string]>([
    ['docs/Guide.md', {}, 'guide'],
    ['docs/archive.tar.gz', {}, 'archive-tar'],
    ['.gitignore', {}, 'gitignore'],
    ['Makefile', {}, 'makefile'],
    ['docs.v2/readme', {}, 'readme'],
    ['a.md', { headingPath: ['Top', 'Install it'], symbol: 's', address: '$.a' }, 'a--install-it'],
    ['a.ts', { kind: 'java_script', symbol: 'Parser.parse', address: '$.a' }, 'a--parser-parse'],
    ['a.json', { kind: 'json', address: '$[0:50]' }, 'a--0-50'],
  ])('%s with %j is %s', (path, source, expected) => {
    expect(slug(path, source)).toBe(expected)
  })

  test('drops repeats of the file name from the beginning of the context', () => {
    expect(slug('api.md', { headingPath: ['API Reference'] })).toBe('api--reference')
    expect(slug('api.md', { headingPath: ['API api: Errors'] })).toBe('api--errors')
    expect(slug('api.md', { headingPath: ['Apis'] })).toBe('api--apis')
  })

  test('leaves out a context that has no ASCII letters, is only `chunk`, or repeats the file name', () => {
    expect(slug('api.md', { headingPath: ['API'] })).toBe('api')
    expect(slug('api.md', { headingPath: ['api API'] })).toBe('api')
    expect(slug('api.md', { headingPath: ['概要'] })).toBe('api')
    expect(slug('api.md', { headingPath: ['Chunk'] })).toBe('api')
  })

  test('adds the lines only for a text file', () => {
    expect(slug('a.log', { kind: 'text' })).toBe('a-l3-9')
    expect(slug('a', { kind: 'unknown' })).toBe('a')
  })

  test('cuts the file name at 28 characters, that of an image at 72', () => {
    expect(slug(`${'n'.repeat(40)}.md`)).toBe('n'.repeat(28))
    expect(slug(`${'n'.repeat(90)}.png`, { kind: 'image' })).toBe('n'.repeat(72))
  })

  test('cuts the context at 44 characters', () => {
    expect(slug('a.md', { headingPath: ['h'.repeat(60)] })).toBe(`a--${'h'.repeat(44)}`)
  })

  test('is never longer than 96 characters', () => {
    const source = { kind: 'image', headingPath: ['h'.repeat(60)] } as const
    expect(slug(`${'n'.repeat(90)}.png`, source)).toBe(`${'n'.repeat(72)}--${'h'.repeat(22)}`)
  })

  test('does not end in a hyphen where it was cut', () => {
    expect(slug(`${'n'.repeat(27)}-x.md`)).toBe('n'.repeat(27))
    expect(slug('a.md', { headingPath: [`${'h'.repeat(43)} x`] })).toBe(`a--${'h'.repeat(43)}`)
  })
})
