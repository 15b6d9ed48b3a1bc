import { describe, expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import { sha256 } from '../hash.ts'
import type { ChunkedFile, WarningCode } from '../model.ts'
import { compareUtf8 } from '../text/order.ts'
import { createPack, type Pack } from './pack.ts'
import { PackSearch } from './search-pack.ts'
import { splitPack } from './split.ts'

function chunk(path: string, text: string): ChunkedFile {
  return chunkFile({ path, bytes: new TextEncoder().encode(text) }, { targetChars: 40, maxChars: 80 })
}

function skippedFile(path: string, code: WarningCode): ChunkedFile {
  const file = { path, kind: 'unknown', bytes: 9, sha256: sha256(path), lineCount: 1 } as const
  return { file, chunks: [], warnings: [{ path, code, message: 'why' }] }
}

describe('a pack', () => {
  test('sorts files by the UTF-8 bytes of their paths', () => {
    const pack = createPack(['b', 'a/z', 'a.txt', '😀', '！', 'B'].map((path) => chunk(path, path)))
    expect(pack.files.map((file) => file.path)).toEqual(['B', 'a.txt', 'a/z', 'b', '！', '😀'])
    expect(pack.chunks.map((one) => one.path)).toEqual(pack.files.map((file) => file.path))
  })

  test('has an id made of paths and hashes', () => {
    const pack = createPack([chunk('b', '2'), chunk('a', '1')])
    expect(pack.indexId).toBe(sha256(`a\n${sha256('1')}\nb\n${sha256('2')}\n`))
  })

  test('orders chunks of one line by their ids', () => {
    const { chunks } = createPack([chunk('a.json', '{"a":1,"b":2,"c":3,"d":4}')])
    expect(chunks.map((one) => one.id)).toEqual(chunks.map((one) => one.id).sort())
  })

  test('numbers chunks in base 36 with four digits, or with more if the last chunk needs them', () => {
    const refs = (count: number) => {
      const file = chunk('a', 'x')
      return createPack([{ ...file, chunks: Array.from({ length: count }, () => file.chunks).flat() }]).refs
    }
    expect(refs(37).filter((_, i) => i === 0 || i >= 34)).toEqual(['c0001', 'c000z', 'c0010', 'c0011'])
    const long = refs(36 ** 4)
    expect([long.at(0), long.at(-1)]).toEqual(['c00001', 'c10000'])
  })

  test('leaves out files that were skipped, keeps empty files, and has the warnings of all files', () => {
    const pack = createPack([skippedFile('z', 'binary'), chunk('empty.txt', ''), skippedFile('a', 'max_file_bytes')])
    expect(pack.files.map((file) => file.path)).toEqual(['empty.txt'])
    expect(pack.warnings.map((warning) => warning.path)).toEqual(['a', 'z'])
  })

  test('gives images whose cleaned paths are equal separate asset paths', () => {
    const { chunks } = createPack([chunk('a/b.png', ''), chunk('a\\b.png', ''), chunk('./a/b.png', '')])
    expect(chunks.map((one) => one.assetPath)).toEqual([
      'images/a/b.png',
      `images/${chunks[1]?.shortId}/a/b.png`,
      `images/${chunks[2]?.shortId}/a/b.png`,
    ])
  })
})

describe('splitting', () => {
  const words = (count: number) => 'abc '.repeat(count).trim()
  const summary = (parts: readonly Pack[]) =>
    parts.map(({ refs, files }) => `${refs.join()} ${files.map((file) => file.path)}`)

  test('keeps files together', () => {
    const pack = createPack([chunk('a.md', words(10)), chunk('b.md', words(10)), chunk('c.md', words(10))])
    expect(summary(splitPack(pack, 20))).toEqual(['c0001,c0002 a.md,b.md', 'c0003 c.md'])
  })

  test('keeps the sections of an oversized file together', () => {
    const section = (name: string) => `## ${name}\n\n${words(9)}\n\n### ${name} 1\n\n${words(3)}\n`
    const pack = createPack([chunk('a.md', `# A\n${section('B')}${section('C')}`)])
    expect(splitPack(pack, 24).map((part) => part.chunks.map((one) => one.headingPath.at(-1)))).toEqual([
      ['A', 'B', 'B 1'],
      ['C', 'C 1'],
    ])
  })

  test('cuts between the chunks of an oversized section, and never inside one', () => {
    const pack = createPack([chunk('a.md', `# A\n\n${words(12)}\n\n${words(12)}\n\n${words(12)}\n`)])
    expect(splitPack(pack, 20).map((part) => part.refs)).toEqual([['c0001'], ['c0002'], ['c0003']])
  })

  test('returns the pack itself when it fits', () => {
    const pack = createPack([chunk('a.md', 'x')])
    expect(splitPack(pack, 10)).toEqual([pack])
    expect(splitPack(createPack([]), 10)).toEqual([createPack([])])
  })

  test('numbers the parts, and keeps warnings with their files; the first part has the warnings of files in no part', () => {
    const leaky = { ...chunk('b.md', words(10)), warnings: [{ path: 'b.md', code: 'secret', message: 'x' }] } as const
    const pack = createPack([chunk('a.md', words(10)), leaky, skippedFile('c', 'binary'), chunk('d.md', '')])
    expect(splitPack(pack, 10).map(({ part, files, warnings }) => ({ part, files: files.length, warnings }))).toEqual([
      { part: { number: 1, of: 2 }, files: 2, warnings: [{ path: 'c', code: 'binary', message: 'why' }] },
      { part: { number: 2, of: 2 }, files: 1, warnings: [{ path: 'b.md', code: 'secret', message: 'x' }] },
    ])
  })

  test.each([9, 10.5, Number.NaN])('refuses a budget of %d tokens for a chunk of 10', (tokens) => {
    expect(() => splitPack(createPack([chunk('a.md', words(10))]), tokens)).toThrow(TypeError)
  })
})

describe('searching a pack', () => {
  const search = new PackSearch(
    createPack([
      chunk('docs/guide.md', '# Guide\n\nInstall the lantern.\n\n## Lantern oil\n\nFill it.\n'),
      chunk('docs/log.txt', 'lantern lit'),
      chunk('conf.json', '{"lantern": "on", "oil": {"level": 3}}'),
    ]),
  )

  test('returns hits that can be cited', () => {
    const [hit] = search.search('lantern oil', { kind: 'markdown' })
    expect(hit).toMatchObject({
      path: 'docs/guide.md',
      startLine: 5,
      endLine: 7,
      headingPath: ['Guide', 'Lantern oil'],
      chunkRef: 'c0004',
    })
    expect(hit?.score).toBeGreaterThan(0)
  })

  test.each([
    [{ path: 'docs/log.txt' }, ['docs/log.txt']],
    [{ pathPrefix: 'docs/' }, ['docs/guide.md', 'docs/log.txt']],
    [{ kind: 'json' as const }, ['conf.json']],
    [{ headingPrefix: 'Guide/Lan' }, ['docs/guide.md']],
    [{ symbolPrefix: 'lan' }, ['conf.json']],
    [{ pathPrefix: 'docs/', kind: 'json' as const }, []],
    [{ limit: 0 }, []],
  ])('applies the filter %j', (filters, paths) => {
    const found = search.search('lantern', filters).map((hit) => hit.path)
    expect([...new Set(found)].sort(compareUtf8)).toEqual(paths)
  })

  test('finds a chunk by ref, id, or the beginning of its id', () => {
    const found = search.find('c0001')
    expect(found?.ref).toBe('c0001')
    expect(search.find(found?.chunk.id ?? '')).toEqual(found)
    expect(search.find(found?.chunk.id.slice(0, 6) ?? '')).toEqual(found)
    expect(search.find(found?.chunk.id.slice(0, 5) ?? '')).toBeUndefined()
    expect([search.find('c9999'), search.find('ffffffffffff'), search.find('')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('lists headings, sorted and each once', () => {
    expect(search.listOutline('docs/guide.md')).toEqual(['Guide', 'Guide/Lantern oil'])
    // Keys of JSON are no symbols.
    expect(search.listSymbols()).toEqual([])
  })
})

test('a pack gives an image a separate asset path if its folder would have the path of another image', () => {
  const pack = createPack(['a.png', 'a.png\\b.png'].map((path) => chunkFile({ path, bytes: Uint8Array.of(1) })))
  const [first, second] = pack.chunks.map((chunk) => chunk.assetPath)
  expect(first).toBe('images/a.png')
  expect(second).toBe(`images/${pack.chunks[1]?.shortId}/a.png/b.png`)
})
