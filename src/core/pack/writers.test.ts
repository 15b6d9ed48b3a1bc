import { describe, expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import type { Chunk } from '../model.ts'
import { writeCompactChunk, writeFullChunk } from './chunk-files.ts'
import { packEntries, packName } from './entries.ts'
import { writeCatalogMd, writeLlmMd, writeOutlineMd } from './guides.ts'
import { chunkLabel, oneLine } from './label.ts'
import { writeManifestTsv } from './manifests.ts'
import { createPack, type Pack } from './pack.ts'
import { splitPack } from './split.ts'
import { createTables } from './tables.ts'

function packOf(files: Readonly<Record<string, string>>): Pack {
  return createPack(
    Object.entries(files).map(([path, text]) => chunkFile({ path, bytes: new TextEncoder().encode(text) })),
  )
}

const CHUNK: Chunk = {
  id: 'f'.repeat(64),
  shortId: 'f'.repeat(12),
  slug: 'slug',
  path: 'a',
  kind: 'text',
  chunkIndex: 0,
  startLine: 1,
  endLine: 1,
  content: '',
  contentHash: '',
  tokenEstimate: 0,
  headingPath: [],
  symbol: null,
  address: null,
  assetPath: null,
}

describe('a label', () => {
  test.each<[Partial<Chunk>, string]>([
    [{ symbol: 'f', headingPath: ['A'], address: '$.a' }, 'f'],
    [{ headingPath: ['A', 'B', 'C'], address: '$.a' }, 'B > C'],
    [{ address: '$.a' }, '$.a'],
    [{}, 'slug'],
    [{ slug: 's'.repeat(70) }, 's'.repeat(60)],
    [{ slug: '' }, 'chunk'],
    [{ symbol: ' \t', headingPath: ['A\tB\u0085C\u2028D  E'] }, 'A B C D E'],
    [{ symbol: 'x'.repeat(100) }, 'x'.repeat(72)],
    [{ symbol: `${'x'.repeat(71)}😀` }, 'x'.repeat(71)],
  ])('of %j is %j', (chunk, label) => {
    expect(chunkLabel({ ...CHUNK, ...chunk })).toBe(label)
  })

  test('is one line without control characters', () => {
    expect(oneLine(' a\r\n\tb\u0000c\u007f ', 9)).toBe('a b c')
  })
})

describe('repeated lines', () => {
  const body = (path: string, text: string, repeats?: number) => {
    const pack = packOf({ [path]: text })
    return writeCompactChunk(pack, 0, createTables(pack), repeats === undefined ? {} : { repeats }).split('\n\n')[1]
  }

  test.each([
    ['a.txt', 'x\nx\nx\n', undefined, 'x\nx\nx\n'],
    ['a.txt', 'x\nx\nx\nx\n', undefined, 'x\n... (previous line repeated 3 more times)\n'],
    [
      'a.txt',
      'x\nx\ny\ny\nx\n',
      1,
      'x\n... (previous line repeated 1 more times)\ny\n... (previous line repeated 1 more times)\nx\n',
    ],
    ['a.txt', 'x\nx\nx\nx\n', 9, 'x\nx\nx\nx\n'],
    ['a.md', 'x\nx\nx\nx\n', undefined, 'x\nx\nx\nx\n'],
    ['Makefile', 'x\nx\nx\nx\n', undefined, 'x\nx\nx\nx\n'],
  ])('in %s with the text %j and the option `repeats` %s are written as %j', (path, text, repeats, expected) => {
    expect(body(path, text, repeats)).toBe(expected)
  })

  test('are marked in a chunk of a full pack, whose hash is that of the whole text', () => {
    const pack = packOf({ 'a.txt': 'x\nx\nx\nx\n', 'b.txt': 'x' })
    expect(writeFullChunk(pack, 0)).toContain('\ncompacted: true\n')
    expect(writeFullChunk(pack, 1)).toContain('\ncompacted: false\n')
    expect(writeFullChunk(pack, 0)).toContain(`\ncontent_sha256: "${pack.chunks[0]?.contentHash}"\n`)
  })
})

test('names with separators do not break a row or a list', () => {
  const pack = packOf({ 'a\tb\n/c\td.md': '# T\tU\n', '`x``y`.txt': 'token = "0123456789abcdef"' })
  for (const row of [...writeManifestTsv(pack)].join('').trimEnd().split('\n')) {
    expect(row.split('\t')).toHaveLength({ l: 3, D: 3, P: 4, K: 3, F: 7, C: 8 }[row[0] ?? ''] ?? 0)
  }
  const outline = [...writeOutlineMd(pack)].join('')
  expect(outline).toContain('\n- ``` `x``y`.txt ```: line 1 looks like a password or key\n')
  expect(outline).toContain('\n### a b /c d.md (md, 1 lines)\n')
})

describe('guides', () => {
  test('name images, warnings and the part only if there are any', () => {
    const plain = packOf({ 'a.md': 'x' })
    expect(writeLlmMd(plain)).not.toMatch(/images|warnings:|part:/)
    const pack = packOf({ 'a.png': '', 'b.txt': 'token = "0123456789abcdef"', 'c.md': 'abc '.repeat(10) })
    expect(writeLlmMd(pack)).toMatch(/^warnings: 1$/m)
    expect(writeLlmMd(pack)).toMatch(/^- images\/:/m)
    expect(splitPack(pack, 15).map((part) => /^part: .*/m.exec(writeLlmMd(part))?.[0])).toEqual([
      'part: 1 of 2',
      'part: 2 of 2',
    ])
  })

  test('the catalog names at most 20 folders and 60 files, the largest first', () => {
    const files = Array.from({ length: 70 }, (_, i) => [`d${i}/f.md`, 'abcd'.repeat(i + 1)])
    const rows = writeCatalogMd(packOf(Object.fromEntries(files))).split('\n')
    expect(rows.filter((row) => /^- d\d+\/ files=/.test(row))).toHaveLength(20)
    expect(rows.filter((row) => row.includes(' kind='))).toHaveLength(60)
    expect(rows).toContain('- d69/ files=1 tok=70')
    expect(rows.find((row) => row.includes(' kind='))).toBe(
      '- d69/f.md kind=markdown chunks=1 tok=70 label=f refs=c001v',
    )
  })
})

describe('entries', () => {
  const pack = packOf({ 'a.md': '# A\n# B\n', 'i/b.png': 'x' })
  const names = async (compact: boolean) => {
    const found: string[] = []
    for await (const { name } of packEntries(pack, { compact, readImage: () => new Uint8Array() })) found.push(name)
    return found
  }

  test('are the files of a full pack', async () => {
    expect(await names(false)).toEqual([
      'llm.md',
      'catalog.llm.md',
      'outline.md',
      'index.json',
      'manifest.json',
      'manifest.min.json',
      'manifest.llm.tsv',
      'chunks/c0001.md',
      'chunks/c0002.md',
      'chunks/c0003.md',
      'images/i/b.png',
    ])
  })

  test('are the files of a compact pack', async () => {
    expect(await names(true)).toEqual([
      'llm.md',
      'manifest.llm.tsv',
      'chunks/c0001.md',
      'chunks/c0002.md',
      'chunks/c0003.md',
      'images/i/b.png',
    ])
  })

  test('the name of a pack is made from the folder and the index id', () => {
    expect(packName('docs', pack)).toBe(`docs.llmx-${pack.indexId.slice(0, 8)}`)
  })
})

test('a chunk keeps its number in the whole pack when the pack is split', () => {
  const pack = packOf({ 'a.md': 'abc '.repeat(10), 'b.md': 'abc '.repeat(10) })
  const [, second] = splitPack(pack, 10)
  expect(second && writeFullChunk(second, 0).split('\n').slice(1, 3)).toEqual(['chunk_index: 2', 'ref: "c0002"'])
})
