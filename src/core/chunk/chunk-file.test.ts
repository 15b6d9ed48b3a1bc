import { describe, expect, test } from 'vitest'
import { type ChunkOptions, chunkFile } from './chunk-file.ts'

const sha = (letter: string) => (data: string | Uint8Array) => `${letter}${data.length}`.padEnd(64, '0')

function chunk(path: string, text: string | Uint8Array, options: ChunkOptions = {}) {
  return chunkFile({ path, bytes: typeof text === 'string' ? new TextEncoder().encode(text) : text }, options)
}

test('returns the metadata of a file and its chunks', () => {
  expect(chunk('docs/a.md', '# Title\n\nText.\n')).toEqual({
    file: {
      path: 'docs/a.md',
      kind: 'markdown',
      bytes: 15,
      sha256: 'fd9dba9bf7af6077d2a76db6f901038ae6ca160e30d3e7396a07a0dda07b139b',
      lineCount: 3,
    },
    chunks: [
      {
        id: 'f74799e1895abfe935e65292d06234f18343259dfed7113fc0b28c5efc6fa0e8',
        shortId: 'f74799e1895a',
        slug: 'a--title',
        path: 'docs/a.md',
        kind: 'markdown',
        startLine: 1,
        endLine: 3,
        headingPath: ['Title'],
        symbol: null,
        address: null,
        chunkIndex: 0,
        content: '# Title\n\nText.',
        contentHash: '264a09b2def1b16fc9c8d12264885f391650772484564214a5f5f7b4e71d3f4c',
        tokenEstimate: 4,
        assetPath: null,
      },
    ],
    warnings: [],
  })
})

describe('ids', () => {
  test('tell equal texts of one file apart by their occurrence', () => {
    const { chunks } = chunk('a.txt', 'same\n\nsame\n\nsame\n', { targetChars: 1, maxChars: 64 })
    expect(new Set(chunks.map(({ contentHash }) => contentHash)).size).toBe(1)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(3)
    expect(chunks.map(({ id }) => id.slice(0, 12))).toEqual(chunks.map(({ shortId }) => shortId))
  })

  test('stay the same for a text that moves within its file', () => {
    const ids = (text: string) => chunk('a.md', text).chunks.map(({ id }) => id)
    const [moved] = ids('# A\n\ntext\n')
    expect(ids('# New\n\n# A\n\ntext\n')).toContain(moved)
    expect(chunk('b.md', '# A\n\ntext\n').chunks[0]?.id).not.toBe(moved)
  })

  test('use the hash that is passed in', () => {
    expect(chunk('a.txt', 'abc', { sha256: sha('f') }).file.sha256).toBe('f3'.padEnd(64, '0'))
  })
})

describe('a file that cannot be decoded', () => {
  test.each([
    ['a.txt', Uint8Array.of(0x61, 0xff), 'utf8', 'skipped: not valid UTF-8'],
    ['a.json', Uint8Array.of(0xc3), 'utf8', 'skipped: not valid UTF-8'],
    ['program', Uint8Array.of(0x7f, 0x45, 0, 1), 'binary', 'skipped: not a text file'],
  ])('%s is left out with a warning', (path, bytes, code, message) => {
    expect(chunk(path, bytes)).toMatchObject({
      file: { lineCount: 1, bytes: bytes.length },
      chunks: [],
      warnings: [{ path, code, message }],
    })
  })
})

test('a file in UTF-16 is decoded by its byte order mark, and its size is counted in bytes', () => {
  const bytes = Uint8Array.of(0xff, 0xfe, 0x68, 0, 0x69, 0)
  expect(chunk('notes', bytes)).toMatchObject({ file: { bytes: 6, kind: 'unknown' }, chunks: [{ content: 'hi' }] })
})

test('JSON that does not parse is cut as text but keeps the kind `json`', () => {
  expect(chunk('a.json', '{"a": 1,}\n').chunks).toMatchObject([
    { kind: 'json', content: '{"a": 1,}', address: null, headingPath: [], slug: 'a' },
  ])
})

test('code without grammars is cut as text', () => {
  expect(chunk('a.py', 'def f(): pass\n').chunks).toMatchObject([
    { kind: 'python', content: 'def f(): pass', symbol: null, slug: 'a' },
  ])
})

test('an image is not read as text', () => {
  expect(chunk('img/a.png', Uint8Array.of(0xff, 0))).toMatchObject({
    file: { kind: 'image', lineCount: 1 },
    chunks: [{ content: 'Image: a.png\nSource: img/a.png', assetPath: 'images/img/a.png' }],
    warnings: [],
  })
})

test('chunks beyond the limit are dropped with a warning', () => {
  const { chunks, warnings } = chunk('a.md', '# A\n# B\n# C\n', { maxChunksPerFile: 2 })
  expect(chunks.map(({ content }) => content)).toEqual(['# A', '# B'])
  expect(warnings).toEqual([
    { path: 'a.md', code: 'max_chunks_per_file', message: 'cut off after 2 chunks (max_chunks_per_file)' },
  ])
})

test('a credential causes a warning that does not repeat the credential', () => {
  const { chunks, warnings } = chunk('a.env', 'x=1\nAWS=AKIAABCDEFGHIJKLMNOP\n')
  expect(warnings).toEqual([{ path: 'a.env', code: 'secret', message: 'line 2 looks like an AWS access key' }])
  expect(chunks).toHaveLength(1)
})

test.each(['', '\n\n', '   '])('a blank file %j has at least one line and no chunk', (text) => {
  expect(chunk('a.txt', text)).toMatchObject({ chunks: [], warnings: [] })
  expect(chunk('a.txt', text).file.lineCount).toBe(Math.max(1, text.length === 2 ? 2 : 1))
})

test.each([
  [{ maxChars: 63 }, 'Expected `maxChars` to be a whole number from 64 up, got 63'],
  [{ maxChars: 100.5 }, 'Expected `maxChars` to be a whole number from 64 up, got 100.5'],
  [{ maxChars: 64 }, 'Expected `targetChars` to be a whole number from 1 to `maxChars` (64), got 4000'],
  [{ targetChars: 0 }, 'Expected `targetChars` to be a whole number from 1 to `maxChars` (8000), got 0'],
])('refuses the sizes %j', (options, message) => {
  expect(() => chunk('a.txt', 'x', options)).toThrow(new TypeError(message))
})
