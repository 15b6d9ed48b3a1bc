import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { extname } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { readPack } from '../../src/ingest/pack-input.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { BoundedProgram, extendTestTimeout, isLong } from './bounded.ts'

/*
 * Malicious files, packed by the built program in a separate process, beside two good files. Each malicious file must give chunks or a
 * warning, in time and in bounded memory, and the good files must be in the pack. With TEST_LONG each file runs alone in a process of its
 * own, at the full size of the limits and of raised limits. Otherwise files of a kind are packed together at a small part of that size.
 * TEST_REPORT names a file for the figures.
 */

const MB = 2 ** 20
/** Limit of the peak resident memory of the program. */
const MAX_RSS_MB = isLong ? 4000 : 900

extendTestTimeout()

const GOOD = '# Good\n\nThe neighbour that must not be lost.\n'

const sandbox = new ProgramSandbox()
const program = new BoundedProgram(sandbox, MAX_RSS_MB)

beforeEach(() => {
  fs.rmSync(sandbox.path('source'), { recursive: true, force: true })
  sandbox.write({
    'source/good.md': GOOD,
    'source/zz-last.py': 'def last():\n    return 1\n',
  })
})

afterAll(async () => {
  await program.end()
  sandbox.remove()
})

interface Packed {
  /** The codes of warnings, each once. */
  readonly warnings: readonly string[]
  /** Paths of files that have warnings. */
  readonly warned: readonly string[]
  /** Paths of other files that have chunks. */
  readonly files: readonly string[]
  readonly longestChunk: number
}

/** Packs the folder, checks the limits of the program, and reads the pack. */
async function pack(flags: readonly string[] = []): Promise<Packed> {
  const args = ['pack', 'source', '--out', 'out.zip', '--full', '--no-cache', '--json', ...flags]
  const stdout = await program.run(args)
  const { warnings } = JSON.parse(stdout) as { warnings: { path: string; code: string }[] }
  const { chunks } = readPack(sandbox.path('out.zip'))
  expect(chunks.find((chunk) => chunk.path === 'good.md')?.content).toBe(GOOD.trim())
  expect(chunks.find((chunk) => chunk.path === 'zz-last.py')?.symbol).toBe('last')
  const paths = new Set(chunks.map((chunk) => chunk.path))
  return {
    warnings: [...new Set(warnings.map((warning) => warning.code))],
    warned: warnings.map((warning) => warning.path),
    files: [...paths].filter((path) => path !== 'good.md' && path !== 'zz-last.py'),
    longestChunk: chunks.reduce((longest, chunk) => Math.max(longest, chunk.content.length), 0),
  }
}

function isCode(name: string): boolean {
  return CODE_EXTENSIONS.includes(extname(name).slice(1))
}

/** Repeats a text up to a size in bytes, in whole copies. */
function fill(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / Buffer.byteLength(text)))
}

/** Bytes that look random and are the same in every run. */
function noise(bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, i) => createHash('sha256').update(`${i}`).digest())
  return Buffer.concat(blocks).subarray(0, bytes)
}

/** Functions that create the content of a file of a given size, by file name. */
type Cases = Readonly<Record<string, (bytes: number) => string | Uint8Array>>

const DEPTH = 100_000
/** Parsing time grows faster than the nesting depth. */
const CODE_DEPTH = isLong ? DEPTH : 10_000
/** Nesting depth on separate lines, which are parsed until that takes too much work. */
const FOLDED_DEPTH = isLong ? DEPTH : 5000
const CODE_EXTENSIONS = ['js', 'ts', 'tsx', 'py', 'c', 'cpp', 'go', 'rs', 'java', 'rb', 'sh']

/** Files that a short run also tries at the full size of the limit. */
const FULL_SIZE_FILES = ['array.json']

/** Files without any text, which need neither a chunk nor a warning. */
const FILES_WITHOUT_TEXT = ['empty-lines.txt', 'comments.html']

/** Files whose size grows with the limits. */
const LARGE: Cases = {
  'one-line.txt': (bytes) => fill('word ', bytes),
  'one-word.txt': (bytes) => fill('x', bytes),
  'one-line.md': (bytes) => fill('word *x* [a](b) ', bytes),
  'one-line.js': (bytes) => fill('var a=1;', bytes),
  'one-line.html': (bytes) => fill('<p>word ', bytes),
  'one-line.json': (bytes) => `"${fill('word ', bytes - 2)}"`,
  'array.json': (bytes) => `[${fill('{"a":1,"b":"x"},', bytes - 3)}0]`,
  'numbers.json': (bytes) => `[${fill('1,', bytes - 3)}0]`,
  'broken.json': (bytes) => fill('{"a":1,"b":"x"},', bytes),
  'long-key.json': (bytes) => `{"${fill('k', bytes - 6)}":1}`,
  'open-fence.md': (bytes) => `\`\`\`\n${fill('code line\n', bytes - 4)}`,
  'fences.md': (bytes) => fill('```\nx\n', bytes),
  'table.md': (bytes) => `|a|b|\n|-|-|\n${fill('|cell one|cell two|\n', bytes - 12)}`,
  'headings.md': (bytes) => fill('# a\n', bytes),
  'underlined.md': (bytes) => fill('a\n=\n', bytes),
  'hashes.md': (bytes) => fill('#', bytes),
  'bullets.md': (bytes) => fill('* * * *a\n', bytes),
  'numbered.md': (bytes) => fill('1) a\n', bytes),
  'front-matter.md': (bytes) => `---\n${fill('a: b\n', bytes - 4)}`,
  'link-targets.md': (bytes) => fill('[a]:\n', bytes),
  'pre.html': (bytes) => `<pre>${fill('a\n', bytes - 5)}`,
  'attributes.html': (bytes) => `<a ${fill('b=c ', bytes - 10)}>x</a>`,
  'comments.html': (bytes) => fill('<!--', bytes),
  'entities.html': (bytes) => fill('&amp;lt', bytes),
  'functions.js': (bytes) => fill('function a(){}\n', bytes),
  'strings.py': (bytes) => fill('"""\n', bytes),
  'macros.c': (bytes) => fill('#if A\n', bytes),
  'heredocs.sh': (bytes) => fill('cat <<EOF\n', bytes),
  'empty-lines.txt': (bytes) => fill('\n', Math.min(bytes, MB)),
  'utf16.txt': (bytes) => Buffer.from(`\ufeff${'wort ü\n'.repeat(bytes / 14 - 1)}`, 'utf16le'),
  'ideographs.txt': (bytes) => fill('漢字', bytes),
  'line-separators.txt': (bytes) => fill('a\u2028', bytes),
  'bad-utf8.md': (bytes) => Buffer.concat([Buffer.from(fill('word ', bytes - 3)), Buffer.from([0xc3, 0x28, 0xff])]),
  ...Object.fromEntries(['md', 'js', 'json', 'html'].map((kind) => [`noise.${kind}`, noise])),
}

/** Texts that code parsers parse as deep nesting. */
const SHAPES: Readonly<Record<string, string>> = {
  round: '('.repeat(CODE_DEPTH) + ')'.repeat(CODE_DEPTH),
  square: '['.repeat(CODE_DEPTH) + ']'.repeat(CODE_DEPTH),
  curly: '{'.repeat(CODE_DEPTH) + '}'.repeat(CODE_DEPTH),
  mixed: '({['.repeat(CODE_DEPTH / 3),
  angles: '<a>'.repeat(CODE_DEPTH),
  quotes: '"\'`'.repeat(CODE_DEPTH),
  operators: '-+!~&*'.repeat(CODE_DEPTH / 10),
  arrows: 'a=>'.repeat(CODE_DEPTH),
  questions: 'a?b:'.repeat(CODE_DEPTH),
  conditions: 'if(a)'.repeat(CODE_DEPTH),
  folded: '({[\n'.repeat(CODE_DEPTH),
  'folded-angles': 'a<b>\n'.repeat(FOLDED_DEPTH),
  'folded-arrows': 'a=>\n'.repeat(FOLDED_DEPTH),
  'folded-conditions': 'if(a)\n'.repeat(CODE_DEPTH),
}

/** Deeply nested files of a fixed size. */
const DEEP: Cases = {
  'elements.html': () => `${'<div>'.repeat(DEPTH)}x${'</div>'.repeat(DEPTH)}`,
  'open-elements.html': () => `${'<b>'.repeat(DEPTH)}x`,
  'lists.html': () => `${'<ul><li>'.repeat(DEPTH)}x`,
  'tables.html': () => `${'<table><tr><td>'.repeat(DEPTH / 2)}x`,
  'headings.html': () => `${'<h1>'.repeat(DEPTH)}x`,
  'lists.md': () => `${'- '.repeat(DEPTH)}x\n`,
  'indented-lists.md': () => Array.from({ length: 2000 }, (_, i) => `${' '.repeat(2 * i)}- x`).join('\n'),
  'quotes.md': () => `${'> '.repeat(DEPTH)}x\n${'> '.repeat(DEPTH)}y\n`,
  'quoted-lists.md': () => `${'> - '.repeat(DEPTH / 2)}x\n`,
  'wide-table.md': () => `|${'a|'.repeat(500_000)}\n|${'-|'.repeat(500_000)}\n`,
  'arrays.json': () => '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  'objects.json': () => `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`,
  ...Object.fromEntries(
    Object.entries(SHAPES).flatMap(([shape, text], i) => {
      // A short run tries each shape with every fourth language, and each language with every fourth shape.
      const kinds = CODE_EXTENSIONS.filter((_, k) => isLong || (i + k) % 4 === 0)
      return kinds.map((kind) => [`${shape}.${kind}`, () => text] as const)
    }),
  ),
}

/** Files that are hard for the regular expressions of the program. */
const PATTERNS: Cases = {
  'url.txt': (bytes) => fill('a://', bytes),
  'scheme.txt': (bytes) => fill('abcdefghijklmnopqrst.', bytes),
  'user.txt': (bytes) => fill('http://user:', bytes),
  'key.txt': (bytes) => fill('password', bytes),
  'dashes.txt': (bytes) => fill('a-b_secret=', bytes),
  'open-value.txt': (bytes) => fill('token="aaaaaaa ', bytes),
  'bearer.txt': (bytes) => `bearer ${fill('a', bytes - 7)}`,
  'bearers.txt': (bytes) => fill('bearer ', bytes),
  'begin.txt': (bytes) => fill('-----BEGIN A A A ', bytes),
  'authorization.txt': (bytes) => fill('authorization: basic ', bytes),
  'slack.txt': (bytes) => fill('xoxb-', bytes),
  'passwords.txt': (bytes) => fill('password="abcdefghij"\n', bytes),
}

/** Groups of cases that are packed together, each with a title: one case in a long run, otherwise up to four with the same extension. */
function group(cases: Cases): [string, string[]][] {
  const maxGroupSize = isLong ? 1 : 4
  const kinds = Object.values(Object.groupBy(Object.keys(cases), (name) => extname(name)))
  const groups = kinds.flatMap((names = []) => {
    const count = Math.ceil(names.length / maxGroupSize)
    return Array.from({ length: count }, (_, i) => names.slice(i * maxGroupSize, (i + 1) * maxGroupSize))
  })
  return groups.map((names) => [names.join(' '), names])
}

/** Packs files, and expects chunks or a warning for each. */
async function expectNoneLost(contents: Readonly<Record<string, string | Uint8Array>>, flags: readonly string[] = []) {
  sandbox.write(Object.fromEntries(Object.entries(contents).map(([name, content]) => [`source/${name}`, content])))
  const { files, warned, longestChunk } = await pack(flags)
  const accountedFor = new Set([...files, ...warned, ...FILES_WITHOUT_TEXT])
  expect(Object.keys(contents).filter((name) => !accountedFor.has(name))).toEqual([])
  expect(longestChunk).toBeLessThanOrEqual(8000)
}

function createContents(cases: Cases, names: readonly string[], bytes: number): Record<string, string | Uint8Array> {
  return Object.fromEntries(names.map((name) => [name, cases[name]?.(bytes) ?? '']))
}

describe('at the default limits', () => {
  test.each(group(LARGE))('%s give chunks or a warning', (_, names) => {
    return expectNoneLost(createContents(LARGE, names, (isLong ? 10 : 0.15) * MB - 100))
  })

  test.each(group(PATTERNS))('%s give chunks or a warning', (_, names) => {
    return expectNoneLost(createContents(PATTERNS, names, (isLong ? 10 : 0.3) * MB - 100))
  })

  test.each(isLong ? [] : FULL_SIZE_FILES)('%s gives chunks or a warning at its full size', (name) =>
    expectNoneLost(createContents(LARGE, [name], 10 * MB - 100)),
  )

  test.each(
    Object.entries(Object.groupBy(Object.keys(DEEP), (name) => (isLong || !isCode(name) ? extname(name) : 'code'))),
  )('every deep file of the kind %s gives chunks', async (kind, names = []) => {
    // Code parsers need most of the memory limit, so the process starts fresh.
    if (kind === 'code') await program.end()
    sandbox.write(Object.fromEntries(names.map((name) => [`source/${name}`, DEEP[name]?.(0) ?? ''])))
    const { files, longestChunk } = await pack()
    expect(files).toEqual(names.toSorted(compareUtf8))
    expect(longestChunk).toBeLessThanOrEqual(8000)
  })

  test('fifty megabytes on one line are left out with a warning', async () => {
    sandbox.write({ 'source/one-line.txt': fill('word ', 50 * MB) })
    expect(await pack()).toMatchObject({ warnings: ['max_file_bytes'], files: [] })
  })

  test('a file with NUL bytes is packed if its extension means text, or else left out with a warning', async () => {
    sandbox.write({ 'source/a.md': '# A\n\nx\0y\n', 'source/b': 'x\0y\n' })
    expect(await pack()).toMatchObject({ warnings: ['binary'], files: ['a.md'] })
  })

  test('UTF-16 is detected by its byte order mark, and half a character makes the file unreadable', async () => {
    const text = Buffer.from('\ufeff# Titel\n\nWörter\n', 'utf16le')
    sandbox.write({
      'source/le.md': text,
      'source/odd.md': text.subarray(0, -1),
      'source/be.md': Buffer.from(text).swap16(),
    })
    expect(await pack()).toMatchObject({ warnings: ['utf8'], files: ['be.md', 'le.md'] })
  })

  test('circular links are skipped', async () => {
    fs.mkdirSync(sandbox.path('source/sub'))
    fs.symlinkSync('..', sandbox.path('source/sub/up'))
    fs.symlinkSync('b', sandbox.path('source/a'))
    fs.symlinkSync('a', sandbox.path('source/b'))
    expect(await pack()).toMatchObject({ warnings: [], files: [] })
  })

  test('thousands of small files are all packed', async () => {
    const count = isLong ? 20_000 : 1000
    const files = Array.from({ length: count }, (_, i) => [`source/${i % 100}/${i}.md`, `# ${i}\n`] as const)
    sandbox.write(Object.fromEntries(files))
    expect((await pack()).files).toHaveLength(count)
  })

  test('an ignore file of hostile rules is obeyed', async () => {
    const rules = [
      '*a'.repeat(2000),
      `${'**/a*/'.repeat(2000)}b`,
      `${'[!'.repeat(5000)}`,
      '!'.repeat(5000),
      '\\'.repeat(999),
    ]
    const name = `${'a'.repeat(200)}b`
    sandbox.write({
      'source/.gitignore': `${rules.join('\n')}\n${fill('never*there*\n', 2 ** 16)}*.log\n`,
      [`source/${`${name}/`.repeat(10)}x.txt`]: 'kept',
      'source/x.log': 'ignored',
    })
    expect((await pack()).files).toEqual(['.gitignore', `${`${name}/`.repeat(10)}x.txt`])
  })
})

describe(`with raised limits and a file of ${isLong ? 50 : 12} megabytes`, () => {
  const flags = ['--max-file-bytes', '60MB', '--max-total-bytes', '200MB', '--max-chunks-per-file', '200000']
  const names = isLong ? Object.keys(LARGE) : ['one-line.txt']

  test.each(names)('%s gives chunks or a warning', (name) =>
    expectNoneLost(createContents(LARGE, [name], (isLong ? 50 : 12) * MB), flags),
  )
})
