import { describe, expect, test } from 'vitest'
import { chunkId } from '../../core/chunk/id.ts'
import { sha256 } from '../../core/hash.ts'
import { runToEnd } from '../cooperative-task.ts'
import { createImportedPage, groupPages } from './import-pages.ts'
import type { GivenChunk } from './parse-import.ts'

function given(text: string, fields: Partial<GivenChunk> = {}): GivenChunk {
  return {
    text,
    sourceUrl: 'https://docs.example/lamp',
    sectionPath: '',
    contentType: 'prose',
    lastUpdated: '2026-02-20',
    language: null,
    ...fields,
  }
}

/** Returns the single page of some chunks. */
function pageOf(...chunks: readonly GivenChunk[]) {
  const [page, ...others] = runToEnd(groupPages(chunks, sha256)).values()
  if (page === undefined || others.length > 0) throw new Error('expected the chunks to form exactly one page')
  return createImportedPage(page, sha256)
}

describe('groupPages', () => {
  test('groups chunks by page in order, however their addresses are written', () => {
    const work = groupPages(
      [
        given('a', { sourceUrl: 'https://DOCS.example:443/lamp/#top' }),
        given('b', { sourceUrl: 'https://docs.example/horn?page=2' }),
        given('c', { sourceUrl: 'https://docs.example/lamp#wick' }),
        given('d', { sourceUrl: 'https://docs.example/horn?page=3' }),
      ],
      sha256,
    )
    const texts = [...runToEnd(work)].map(([key, { url, chunks }]) => [key, url, chunks.map(({ text }) => text).join()])
    expect(texts).toEqual([
      ['https://docs.example/lamp', 'https://DOCS.example:443/lamp/', 'a,c'],
      ['https://docs.example/horn?page=2', 'https://docs.example/horn?page=2', 'b'],
      ['https://docs.example/horn?page=3', 'https://docs.example/horn?page=3', 'd'],
    ])
  })

  test('gives each page a version that changes with any of its input', () => {
    const versionOf = (...chunks: GivenChunk[]) => [...runToEnd(groupPages(chunks, sha256)).values()][0]?.version
    const version = versionOf(given('a'), given('b'))
    expect(versionOf(given('a'), given('b'))).toBe(version)
    const others = [
      versionOf(given('b'), given('a')),
      versionOf(given('a'), given('b', { sectionPath: 'x' })),
      versionOf(given('a'), given('b', { lastUpdated: '2026-02-21' })),
      versionOf(given('a'), given('b', { language: 'en' })),
      versionOf(given('a')),
    ]
    expect(new Set([version, ...others]).size).toBe(6)
  })
})

describe('createImportedPage', () => {
  const record = pageOf(
    given('# The Lamp\n\nLight it at dusk.\n'),
    given('## Trim the wick\n\nEvery **four** hours.', { sectionPath: 'trim-the-wick', lastUpdated: '2026-03-01' }),
    given('trim(wick)', { sectionPath: 'trim-the-wick/by-hand', contentType: 'code' }),
    given('Clean the lens.', { sectionPath: 'lens', sourceUrl: 'https://docs.example/lamp#the-lens' }),
  )

  test('joins the texts of chunks, and each chunk equals its lines', () => {
    const { page, chunks } = record
    expect(page.markdown).toBe(
      '# The Lamp\n\nLight it at dusk.\n\n## Trim the wick\n\nEvery **four** hours.\n\n```\ntrim(wick)\n```\n\nClean the lens.\n',
    )
    const lines = page.markdown.split('\n')
    for (const { content, startLine, endLine } of chunks) {
      expect(lines.slice(startLine - 1, endLine).join('\n')).toBe(content)
    }
    expect(chunks.map(({ startLine, endLine }) => [startLine, endLine])).toEqual([
      [1, 3],
      [5, 7],
      [9, 11],
      [13, 13],
    ])
  })

  test('takes the title from the first heading and the date from the latest chunk', () => {
    expect(record.page).toMatchObject({
      url: 'https://docs.example/lamp',
      title: 'The Lamp',
      modifiedAt: '2026-03-01',
      hiddenChars: 0,
    })
    expect(pageOf(given('No heading.', { sourceUrl: 'https://docs.example/a/wick%20trim/' })).page.title).toBe(
      'wick trim',
    )
    expect(pageOf(given('No heading.', { sourceUrl: 'https://docs.example/' })).page.title).toBe('docs.example')
  })

  test('derives the ids of chunks from their texts, and takes headings from the page or else from the slugs', () => {
    const { chunks } = record
    expect(chunks.map(({ headingPath }) => headingPath)).toEqual([
      [],
      ['Trim the wick'],
      ['Trim the wick', 'by-hand'],
      ['lens'],
    ])
    const key = 'https://docs.example/lamp'
    expect(chunks[3]).toMatchObject({
      id: chunkId(key, sha256('Clean the lens.'), 0, sha256),
      path: key,
      kind: 'markdown',
      chunkIndex: 3,
    })
  })

  test('creates the sections that chunks name, with their fragments', () => {
    expect(record.page.sections).toMatchObject([
      {
        title: 'Trim the wick',
        level: 1,
        anchor: 'trim-the-wick',
        startLine: 5,
        endLine: 11,
        children: [{ title: 'by-hand', level: 2, anchor: 'by-hand', startLine: 9, endLine: 11 }],
      },
      { title: 'lens', level: 1, anchor: 'the-lens', startLine: 13, endLine: 13 },
    ])
  })

  test('uses the headings in the texts as sections if no chunk names one', () => {
    const { page } = pageOf(given('# Lamp\n\nLight.\n\n```\nleft open'), given('## Horn\n\nSound.'))
    expect(page.sections).toMatchObject([{ title: 'Lamp', children: [{ title: 'Horn', startLine: 8 }] }])
  })

  test('starts a section again for a chunk that returns to it or has its own fragment', () => {
    const at = (sectionPath: string, fragment = '') =>
      given(`${sectionPath} ${fragment}`, { sectionPath, sourceUrl: `https://docs.example/lamp${fragment}` })
    const { page, chunks } = pageOf(at('a', '#1'), at('a'), at('a/b'), at('a'), at('a', '#2'), at('/a//b/c/d/e/f/g/'))
    const seen = page.sections.map(({ title, anchor, startLine }) => [title, anchor, startLine])
    expect(seen).toEqual([
      ['a', '1', 1],
      ['a', 'a', 7],
      ['a', '2', 9],
    ])
    expect(chunks[5]?.headingPath).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  test('removes invisible characters and counts them', () => {
    const { page, chunks } = pageOf(given('\n\nLi\u200bght\0 it.\r\n\r\nAt dusk.\n\n'))
    expect([chunks[0]?.content, page.hiddenChars]).toEqual(['Light it.\n\nAt dusk.', 2])
  })

  test('fences code that has no fence', () => {
    const contents = pageOf(
      given('```js\nlight()\n```', { contentType: 'code' }),
      given('a = `b` + ```c```', { contentType: 'code' }),
    ).chunks.map(({ content }) => content)
    expect(contents).toEqual(['```js\nlight()\n```', '````\na = `b` + ```c```\n````'])
  })

  test('uses the given language, or detects it', () => {
    const german =
      'Die Lampe wird bei Einbruch der Dunkelheit angezündet, und der Docht ist alle vier Stunden zu kürzen.'
    expect(pageOf(given(german)).page.language).toBe('de')
    expect(pageOf(given('Light.'), given('Lamp.', { language: 'en-GB' })).page.language).toBe('en-GB')
  })
})
