import { describe, expect, test } from 'vitest'
import { checkImport, IMPORT_LIMITS, parseImport, parseImportText } from './parse-import.ts'

const CHUNK = {
  text: 'Light the lamp at dusk.',
  source_url: 'https://docs.example/lamp',
  section_path: 'lamp/dusk',
  content_type: 'prose',
  last_updated: '2026-02-20T10:30:00+01:00',
}

function importOf(...chunks: readonly unknown[]): unknown {
  return { source_url: 'https://docs.example/', chunks }
}

/** Returns the problem of an invalid import. */
function problemOf(given: unknown): string {
  try {
    parseImport(given)
  } catch (error) {
    expect(error).toMatchObject({ code: 'IMPORT_INVALID' })
    return String(error).replace(/^.*?it cannot be imported: /, '')
  }
  throw new Error('the import was accepted')
}

test('parseImport keeps chunks unchanged and normalizes language and date', () => {
  const text = JSON.stringify(importOf(CHUNK, { ...CHUNK, text: 'x = 1', content_type: 'code', language: 'PT-br' }))
  expect(parseImportText(new TextEncoder().encode(text))).toEqual({
    sourceUrl: 'https://docs.example/',
    chunks: [
      {
        text: CHUNK.text,
        sourceUrl: CHUNK.source_url,
        sectionPath: 'lamp/dusk',
        contentType: 'prose',
        lastUpdated: '2026-02-20T10:30:00+01:00',
        language: null,
      },
      expect.objectContaining({ text: 'x = 1', contentType: 'code', language: 'pt-BR' }),
    ],
  })
})

test.each([
  ['2026-02-20', '2026-02-20'],
  ['2026-02-20T10:30:00.123456+00:00', '2026-02-20T10:30:00+00:00'],
  ['2026-02-20 10:30:00Z', '2026-02-20T10:30:00Z'],
  // Without an offset only the date is certain.
  ['2026-02-20T10:30:00', '2026-02-20'],
])('parseImport stores the date %s as %s', (last_updated, kept) => {
  expect(parseImport(importOf({ ...CHUNK, last_updated })).chunks[0]?.lastUpdated).toBe(kept)
})

describe('parseImport', () => {
  test.each<[Readonly<Record<string, unknown>>, string]>([
    [{ last_updated: 'yesterday' }, 'chunks[1].last_updated: received "yesterday", give an ISO 8601 date such as'],
    [{ last_updated: '2026-02-30' }, 'chunks[1].last_updated: received "2026-02-30", give'],
    [{ last_updated: 1_771_583_400 }, 'chunks[1].last_updated: received 1771583400, give'],
    [{ text: '' }, 'chunks[1].text: received "", give a text of 1 to 32000 visible characters'],
    [{ text: ' \n\u200b' }, 'chunks[1].text: received '],
    [{ text: 'half \ud800' }, 'chunks[1].text: received '],
    [{ text: 'x'.repeat(32_001) }, 'chunks[1].text: received 32001 characters, give a text of 1 to 32000'],
    [{ text: undefined }, 'chunks[1].text: missing, give a text'],
    [{ source_url: '/lamp' }, 'chunks[1].source_url: received "/lamp", give an http or https address without'],
    [{ source_url: 'ftp://docs.example/' }, 'chunks[1].source_url: received "ftp://docs.example/", give an http'],
    [{ source_url: 'https://me:s3cret@docs.example/' }, 'chunks[1].source_url: received "https://…@docs.example/", '],
    [
      { source_url: `https://docs.example/${'ä'.repeat(400)}` },
      'chunks[1].source_url: received "https://docs.example/ää',
    ],
    [{ section_path: ['lamp'] }, 'chunks[1].section_path: received a list, give slugs of headings joined by /'],
    [{ content_type: 'mixed' }, 'chunks[1].content_type: received "mixed", give prose or code'],
    [{ language: 'english' }, 'chunks[1].language: received "english", give a BCP 47 tag such as en or pt-BR'],
    [{ language: 'e' }, 'chunks[1].language: received "e", give'],
    [{ author: 'me' }, 'chunks[1].author: unknown field, leave it out'],
  ])('names the field, the received value and advice for %j', (fields, problem) => {
    expect(problemOf(importOf({ ...CHUNK, text: 'Before.' }, { ...CHUNK, ...fields }))).toContain(problem)
  })

  test.each<[unknown, string]>([
    [null, 'the import: received null, give an object with source_url and chunks'],
    [[CHUNK], 'the import: received a list, give an object'],
    [{ chunks: [CHUNK] }, 'source_url: missing, give an http or https address'],
    [{ source_url: 'file:///etc/', chunks: [CHUNK] }, 'source_url: received "file:///etc/", give an http'],
    [{ source_url: 'https://docs.example/', chunks: [] }, 'chunks: received an empty list, give a list of chunks'],
    [importOf('text'), 'chunks[0]: received "text", give'],
    [{ ...(importOf(CHUNK) as object), version: 1 }, 'version: unknown field, leave it out'],
    [importOf(CHUNK, CHUNK), 'chunks[1]: the same as chunks[0], leave one of them out'],
    [
      importOf(...Array.from({ length: IMPORT_LIMITS.pageChunks + 1 }, (_, i) => ({ ...CHUNK, text: `${i}` }))),
      'chunks[25000]: more than 25000 chunks of one page, split it into several pages',
    ],
    [
      importOf(...Array(IMPORT_LIMITS.chunks + 1).fill(0)),
      '100001 chunks exceed the limit of 100000; split them into several sources',
    ],
  ])('reports a fault that is not in a field of a chunk (case %#)', (given, problem) => {
    expect(problemOf(given)).toContain(problem)
  })

  test('describes the first twenty faults and counts the rest', () => {
    const problem = problemOf(importOf(...Array.from({ length: 30 }, () => ({ ...CHUNK, text: '', language: 'e' }))))
    expect(problem.split('; ')).toHaveLength(21)
    expect(problem).toContain('chunks[9].language: received "e"')
    expect(problem).not.toContain('chunks[10]')
    expect(problem).toMatch(/; and 40 more faults$/)
  })

  test.each([
    ['{"source_url"', /^it is not valid JSON: /],
    ['\xff', /^it is not valid JSON: /],
  ])('reports invalid JSON: %j', (text, problem) => {
    expect(() => parseImportText(Uint8Array.from(text, (char) => char.charCodeAt(0)))).toThrow(
      expect.objectContaining({
        code: 'IMPORT_INVALID',
        details: { what: 'it', problem: expect.stringMatching(problem) },
      }),
    )
  })
})

test('checkImport yields after every 200 chunks', () => {
  const chunks = Array.from({ length: 1000 }, (_, i) => ({ ...CHUNK, text: `Text ${i}.` }))
  expect([...checkImport(importOf(...chunks))]).toHaveLength(5)
})
