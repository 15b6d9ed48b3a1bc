import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { splitLines } from '../text/lines.ts'
import { cutCode } from './code.ts'
import { type CodeParser, type Grammars, openGrammars } from './code-grammars.ts'
import { GRAMMAR_NAMES, type GrammarName } from './languages.ts'
import { type ChunkSizes, PARSER_FAILED } from './piece.ts'

const { resolve } = createRequire(import.meta.url)

let grammars: Grammars

beforeAll(async () => {
  grammars = await openGrammars({
    runtime: await readFile(resolve('web-tree-sitter/web-tree-sitter.wasm')),
    load: (name) => readFile(resolve(`tree-sitter-${name === 'tsx' ? 'typescript' : name}/tree-sitter-${name}.wasm`)),
  })
  await grammars.prepare(GRAMMAR_NAMES)
})

function parserOf(name: GrammarName): CodeParser {
  const parser = grammars.parser(name)
  if (parser === undefined) throw new Error(`${name} is not prepared`)
  return parser
}

/** Snippets that can be put in any order: whole definitions, parts of them, and code between them. */
const JS_SNIPPETS = [
  'function f(a) { return a }',
  'export class A {\n  x = 1\n\n  /** m */\n  m() {\n    return 1\n  }\n  n = () => { long(long, long, long, long, long, long) }\n}',
  'const g = async () => {}, h = function () {}',
  '/** doc */',
  '// line',
  'class B {',
  '}',
  '`unterminated ${',
  "import x from 'y'",
  `const list = [${'1234, '.repeat(40)}]`,
]
const C_SNIPPETS = [
  '#ifdef X',
  '#else',
  '#endif',
  '#include <a.h>',
  'int *f(int a) { return 0; }',
  'struct s { int a; };',
  'typedef struct { int a; } t;',
  '/* doc */',
  'extern "C" {',
  '}',
  `int table[] = { ${'0x1234, '.repeat(40)} };`,
]
const SNIPPETS: Readonly<Record<GrammarName, readonly string[]>> = {
  javascript: JS_SNIPPETS,
  typescript: [...JS_SNIPPETS, 'interface I { a(): void; b: string }', 'declare function f(): void', '@dec()'],
  tsx: [...JS_SNIPPETS, 'const C = () => <p>text</p>', '<div>'],
  python: [
    'def f(a):\n    return a',
    'class A:\n    x = 1\n\n    # doc\n    @property\n    def m(self):\n        return 1\n    def n(self): pass',
    '@dec',
    '# doc',
    '"""unterminated',
    'if x:',
    `table = [${'1234, '.repeat(40)}]`,
  ],
  go: [
    'package p',
    'func f() {}',
    'func (r *R) m() {}',
    'type (\n\tA int\n\t// doc\n\tB int\n)',
    '// doc',
    'type S struct {',
    '}',
  ],
  rust: [
    'fn f() {}',
    '#[derive(Debug)]',
    '/// doc',
    'impl A for B<T> { fn m(&self) {}\n\n    /// doc\n    fn n() { loop_over(and_over, and_over, and_over, again) } }',
    'mod m {',
    '}',
    'r#"unterminated',
    'use a::b;',
  ],
  java: [
    'package a;',
    '/** doc */',
    '@Ann class A { int x; A() {} /** m */ void m() { call(with, several, arguments, to, be, long); } }',
    'interface I { void m(); }',
    'enum E { X, Y; void m() {} }',
    'class B {',
    '}',
  ],
  c: C_SNIPPETS,
  cpp: [
    ...C_SNIPPETS,
    'namespace a::b {',
    'template <class T> class A { void m() {}\n\n private:\n  int x; T n() { return x; } };',
  ],
  ruby: [
    'module M',
    'class A\n  # doc\n  def m; end\n  private def n; end\n  attr_reader :one, :two, :three, :four, :five\nend',
    'def f\n  1\nend',
    'end',
    '# doc',
    'x = <<~TEXT',
    'describe A do',
  ],
  bash: [
    'f() { echo; }',
    'function g { echo; }',
    '# doc',
    'cat <<EOF',
    'EOF',
    'if x; then',
    'fi',
    '"unterminated',
    'main "$@"',
  ],
}

const isLong = process.env['TEST_LONG'] !== undefined

/** Random texts per test and language. */
const RUNS = isLong ? 400 : 40

const SIZES: readonly ChunkSizes[] = [
  { targetChars: 80, maxChars: 160 },
  { targetChars: 1, maxChars: 64 },
  { targetChars: 4000, maxChars: 8000 },
]

const separator = fc.constantFrom('\n', '\n\n', ' ', '\r\n', '\r', '\n\n\n  ', '')

function snippetText(name: GrammarName): fc.Arbitrary<string> {
  const part = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...SNIPPETS[name]) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
    { weight: 1, arbitrary: fc.constantFrom('é', '漢字', '😀', '\ud800', '\0', '\ufeff', '\u2028', '}', '(', '"') },
  )
  return fc.array(fc.tuple(part, separator), { maxLength: 16 }).map((parts) => parts.flat().join(''))
}

function garbage(name: GrammarName): fc.Arbitrary<string> {
  const alphabet = [...new Set(SNIPPETS[name].join(''))]
  return fc
    .array(fc.constantFrom(...alphabet, '\n', '\t', '\0', '\ud83d', '"', "'", '<', '#'), { maxLength: 300 })
    .map((units) => units.join(''))
}

/** Checks the invariants of the pieces of any text. */
function checkPieces(name: GrammarName, text: string, sizes: ChunkSizes): void {
  const pieces = cutCode(text, parserOf(name), sizes)
  if (pieces === undefined) return
  if (pieces === PARSER_FAILED) throw new Error(pieces)
  const lineCount = splitLines(text).length
  expect(
    pieces
      .map((piece) => piece.content)
      .join('')
      .replace(/\s+/g, ''),
  ).toBe(text.replace(/\s+/g, ''))
  let line = 1
  for (const [i, piece] of pieces.entries()) {
    expect(piece.content.length).toBeLessThanOrEqual(sizes.maxChars)
    expect(piece.content).toBe(piece.content.trimEnd())
    expect(piece.content).not.toMatch(/^\s*\n|\r/)
    expect(piece.startLine).toBeGreaterThanOrEqual(line)
    expect(piece.endLine).toBeGreaterThanOrEqual(piece.startLine)
    expect(piece.endLine).toBe(
      Math.max((pieces[i + 1]?.startLine ?? lineCount + 1) - 1, piece.startLine + lineEnds(piece.content)),
    )
    line = piece.endLine
  }
  expect(line).toBe(lineCount)
  expect(pieces.some((piece) => piece.symbol !== undefined)).toBe(true)
  expect(cutCode(text, parserOf(name), sizes)).toEqual(pieces)
}

function lineEnds(content: string): number {
  return content.split('\n').length - 1
}

describe.each(GRAMMAR_NAMES)('%s', (name) => {
  test('pieces hold all text except white space once, in order, within the size limit', () => {
    fc.assert(
      fc.property(snippetText(name), fc.constantFrom(...SIZES), (text, sizes) => checkPieces(name, text, sizes)),
      { numRuns: RUNS },
    )
  })

  test('pieces of random characters hold all text except white space once, in order, within the size limit', () => {
    fc.assert(
      fc.property(garbage(name), fc.constantFrom(...SIZES), (text, sizes) => checkPieces(name, text, sizes)),
      { numRuns: RUNS },
    )
  })

  test('hostile input does not block the parser or break it for the next file', () => {
    const good = SNIPPETS[name].find((snippet) => cutCode(snippet, parserOf(name), { targetChars: 80, maxChars: 160 }))
    const before = good && cutCode(good, parserOf(name), { targetChars: 80, maxChars: 160 })
    const inputs = [
      `${good}\n${'('.repeat(100_000)}${')'.repeat(100_000)}`,
      '{'.repeat(50_000),
      'a(b){'.repeat(4_000),
      `${good} `.repeat(300).replaceAll('\n', ' '),
      `"${'x'.repeat(1_000_000)}`,
      `/*${'x\n'.repeat(isLong ? 20_000 : 5000)}`,
      'a<'.repeat(20_000),
      '\0'.repeat(20_000),
      '\ud800'.repeat(20_000),
      '<<A\n'.repeat(4_000),
      `${' '.repeat(1_000_000)}x`,
    ]
    for (const text of inputs) checkPieces(name, text, { targetChars: 4000, maxChars: 8000 })
    expect(good && cutCode(good, parserOf(name), { targetChars: 80, maxChars: 160 })).toEqual(before)
    expect(before).toBeDefined()
  })
})
