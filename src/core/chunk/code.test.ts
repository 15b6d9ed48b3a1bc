import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { cutCode } from './code.ts'
import { type Grammars, openGrammars } from './code-grammars.ts'
import { GRAMMAR_NAMES, type GrammarName } from './languages.ts'
import { type ChunkSizes, PARSER_FAILED, type Piece } from './piece.ts'

const { resolve } = createRequire(import.meta.url)
const ROOMY = { targetChars: 4000, maxChars: 8000 }
const TIGHT = { targetChars: 60, maxChars: 400 }

let grammars: Grammars

beforeAll(async () => {
  grammars = await openGrammars({
    runtime: await readFile(resolve('web-tree-sitter/web-tree-sitter.wasm')),
    load: (name) => readFile(resolve(`tree-sitter-${name === 'tsx' ? 'typescript' : name}/tree-sitter-${name}.wasm`)),
  })
  await grammars.prepare(GRAMMAR_NAMES)
})

function cut(name: GrammarName, text: string, sizes: ChunkSizes = ROOMY): Piece[] | undefined {
  const parser = grammars.parser(name)
  if (parser === undefined) throw new Error(`${name} is not prepared`)
  const pieces = cutCode(text, parser, sizes)
  if (pieces === PARSER_FAILED) throw new Error(pieces)
  return pieces
}

/** One line per piece: lines, symbol, enclosing definitions. */
function summary(name: GrammarName, text: string, sizes: ChunkSizes = TIGHT): string[] | undefined {
  return cut(name, text, sizes)?.map(({ startLine, endLine, symbol, headingPath }) =>
    [`${startLine}-${endLine}`, symbol ?? '-', ...(headingPath ? [`in ${headingPath.join(' > ')}`] : [])].join(' '),
  )
}

describe('pieces', () => {
  test('are definitions with their comments, and the code between them, in file order', () => {
    const text = `import { readFile, writeFile, appendFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** Adds. */
export function add(a: number, b: number): number {
  return a + b
}

const LIMITS = { files: 10_000, bytes: 50_000_000, depth: 20, seconds: 120, links: 1_000, tries: 3 }

// Doubles.
// Not exact.
export const double = (n: number) => add(n, n)
`
    expect(cut('typescript', text)).toEqual([
      {
        startLine: 1,
        endLine: 3,
        content: `import { readFile, writeFile, appendFile, rename } from 'node:fs/promises'
import { join } from 'node:path'`,
      },
      {
        startLine: 4,
        endLine: 8,
        content: `/** Adds. */
export function add(a: number, b: number): number {
  return a + b
}`,
        symbol: 'add',
      },
      {
        startLine: 9,
        endLine: 10,
        content: 'const LIMITS = { files: 10_000, bytes: 50_000_000, depth: 20, seconds: 120, links: 1_000, tries: 3 }',
      },
      {
        startLine: 11,
        endLine: 13,
        content: `// Doubles.
// Not exact.
export const double = (n: number) => add(n, n)`,
        symbol: 'double',
      },
    ])
  })

  test('a class longer than the target is cut into its head and its members, with their indentation; a shorter one names them', () => {
    const text = `class Stack {
  items = []

  /** Adds on top. */
  push(item) {
    this.items.push(item)
  }

  pop() {
    return this.items.pop()
  }
}
`
    const members = [
      { name: 'Stack.push', line: 5 },
      { name: 'Stack.pop', line: 9 },
    ]
    expect(cut('javascript', text)).toEqual([
      { startLine: 1, endLine: 12, content: text.trim(), symbol: 'Stack', members },
    ])
    expect(cut('javascript', text, TIGHT)).toEqual([
      { startLine: 1, endLine: 3, content: 'class Stack {\n  items = []', symbol: 'Stack' },
      {
        startLine: 4,
        endLine: 8,
        content: '  /** Adds on top. */\n  push(item) {\n    this.items.push(item)\n  }',
        symbol: 'Stack.push',
        headingPath: ['Stack'],
      },
      {
        startLine: 9,
        endLine: 12,
        content: '  pop() {\n    return this.items.pop()\n  }\n}',
        symbol: 'Stack.pop',
        headingPath: ['Stack'],
      },
    ])
  })

  test('a definition longer than the cap is cut at lines, blank ones first, and each piece repeats its symbol', () => {
    const text = 'function f() {\n  one(1111)\n  two(2222)\n\n  three(3333)\n  four(4444)\n}\n'
    expect(cut('javascript', text, { targetChars: 30, maxChars: 50 })).toEqual([
      { startLine: 1, endLine: 4, content: 'function f() {\n  one(1111)\n  two(2222)', symbol: 'f' },
      { startLine: 5, endLine: 7, content: '  three(3333)\n  four(4444)\n}', symbol: 'f' },
    ])
  })

  test('a line longer than the cap is sliced without breaking a surrogate pair', () => {
    const text = `function f() { return '${'😀'.repeat(40)}' }`
    const pieces = cut('javascript', text, { targetChars: 20, maxChars: 30 })
    expect(
      pieces
        ?.map((piece) => piece.content)
        .join('')
        .replaceAll(' ', ''),
    ).toBe(text.replaceAll(' ', ''))
    expect(pieces?.every((piece) => piece.symbol === 'f' && piece.content.isWellFormed())).toBe(true)
  })

  test('share a line in minified code', () => {
    const text = 'function a(){return 1}function b(){return 2}var c=function(){},d=()=>4;'
    expect(cut('javascript', text)).toEqual([
      { startLine: 1, endLine: 1, content: 'function a(){return 1}', symbol: 'a' },
      { startLine: 1, endLine: 1, content: 'function b(){return 2}', symbol: 'b' },
      { startLine: 1, endLine: 1, content: 'var c=function(){},', symbol: 'c' },
      { startLine: 1, endLine: 1, content: 'd=()=>4;', symbol: 'd' },
    ])
  })

  test('count lines at LF, CRLF and a lone CR, and join them with LF', () => {
    const text = '// é\r\nfunction a() {\r\n}\r\r\nfunction 漢字() {}\n\n// 😀\rfunction c() {\r}'
    expect(cut('javascript', text)).toEqual([
      { startLine: 1, endLine: 4, content: '// é\nfunction a() {\n}', symbol: 'a' },
      { startLine: 5, endLine: 6, content: 'function 漢字() {}', symbol: '漢字' },
      { startLine: 7, endLine: 9, content: '// 😀\nfunction c() {\n}', symbol: 'c' },
    ])
  })

  test('have the right names and ranges after é, CJK and emoji', () => {
    const text = "const s = 'é漢😀👩‍👩‍👧'; function naïve() { return '😀' } function 名() {}"
    expect(cut('javascript', text)?.map(({ symbol, content }) => [symbol, content])).toEqual([
      ['naïve', "const s = 'é漢😀👩‍👩‍👧'; function naïve() { return '😀' }"],
      ['名', 'function 名() {}'],
    ])
  })

  test('include the nearest remainders that are too small to stand alone', () => {
    const text =
      "import a from 'a'\n\nfunction f() {}\nf.x = 1\n\nfunction g() {}\n\nlet y = 2\nfunction h() {}\n\nexport default h\n"
    expect(cut('javascript', text)?.map((piece) => piece.content)).toEqual([
      "import a from 'a'\n\nfunction f() {}\nf.x = 1",
      'function g() {}',
      'let y = 2\nfunction h() {}\n\nexport default h',
    ])
  })

  test('do not include a remainder that would make them exceed the cap', () => {
    const text = "import a from 'a'\n\nfunction f() { return aaaaaaaaaaaaa }\n"
    expect(summary('javascript', text, { targetChars: 40, maxChars: 40 })).toEqual(['1-2 -', '3-3 f'])
  })

  test('do not include a comment that is set apart or belongs to the code before it', () => {
    const text = `// ${'License. '.repeat(12)}

function a() {} // about a
const list = ['${'x'.repeat(80)}'] // about the list
function b() {}
`
    expect(cut('javascript', text)?.map((piece) => piece.content.split('\n').at(-1))).toEqual([
      `// ${'License. '.repeat(12)}`.trim(),
      'function a() {} // about a',
      `const list = ['${'x'.repeat(80)}'] // about the list`,
      'function b() {}',
    ])
  })

  test('are not returned for a text that defines nothing', () => {
    for (const text of [
      '',
      ' \n',
      "foo(function bar() {})\nconst x = 1\nconst y = call(() => 2)\nimport 'z'\n",
      '// only',
    ]) {
      expect(cut('javascript', text)).toBeUndefined()
    }
    expect(cut('c', 'struct node;\nint f(void);\nint x = g(1);\n')).toBeUndefined()
    expect(cut('rust', 'mod parse;\nuse a::b;\n')).toBeUndefined()
    expect(cut('python', 'print(f(1))\nx = lambda: 1\n')).toBeUndefined()
    expect(cut('ruby', "require 'x'\nputs 1\n")).toBeUndefined()
    expect(cut('bash', 'echo "$(date)"\n')).toBeUndefined()
  })

  test('are still found before and after a syntax error', () => {
    const text = 'function a() {}\n\nlet = = ;;; )\n\nfunction b() {}\n'
    expect(summary('javascript', text, ROOMY)).toEqual(['1-4 a', '5-5 b'])
  })
})

describe('languages', () => {
  test('JavaScript is cut at exports, assigned functions, CommonJS exports and functions in a module wrapper', () => {
    const text = `export default class { m() { return 'long enough to be split in two' } }
export async function* gen() {}
const arrow = async () => {}, other = 1
module.exports = function () {}
exports.named = class {}
Stack.prototype.push = function () {}
table['x'] = function () {}
;(function () {
  function inner() { return 'something' }
  var late = function () {}
})()
`
    expect(summary('javascript', text)).toEqual([
      '1-1 default',
      '1-1 default.m in default',
      '2-2 gen',
      '3-3 arrow',
      '4-4 module.exports',
      '5-5 named',
      '6-6 Stack.push',
      '7-9 inner',
      '10-11 late',
    ])
  })

  test('TypeScript is also cut at types, namespaces, decorated members and ambient declarations', () => {
    const text = `@Component({ selector: 'x' })
export abstract class View<T> {
  private readonly value = 1
  @Input() handler = () => {}
  abstract draw(): void
  [Symbol.iterator]() {}
}
export interface Options { a: string }
type Id = string
export const enum Level { Low }
namespace Deep.Down { export const f = () => 1; export class Inner { x = 1 } }
declare module 'pkg' { function f(): void }
declare global { interface Window {} }
`
    expect(summary('typescript', text)).toEqual([
      '1-3 View',
      '4-4 View.handler in View',
      '5-5 View.draw in View',
      '6-7 View.[Symbol.iterator] in View',
      '8-8 Options',
      '9-9 Id',
      '10-10 Level',
      '11-11 Deep.Down',
      '11-11 Deep.Down.f in Deep.Down',
      '11-11 Deep.Down.Inner in Deep.Down',
      '12-12 pkg',
      '13-13 global',
    ])
  })

  test('short overloads in TypeScript stay together', () => {
    const text = `function pick(a: string): string
function pick(a: number): number
function pick(a: unknown) { return a }
function other(): void {}
`
    expect(summary('typescript', text, ROOMY)).toEqual(['1-3 pick', '4-4 other'])
  })

  test('TSX is cut at components', () => {
    const text =
      'export const Box = (p: Props) => <div className="box">{p.children}</div>\nfunction App() { return <Box /> }\n'
    expect(summary('tsx', text)).toEqual(['1-1 Box', '2-2 App'])
  })

  test('Python is cut at decorated and async functions, nested classes and definitions in a long branch', () => {
    const text = `"""Module."""
import os

# Before.
@cache
async def fetch(url):
    pass

class Shape(Base):
    sides = 0

    # About area.
    @property
    def area(self):
        return 0

    class Meta:
        pass

if os.name == 'nt':
    def home():
        return os.environ['USERPROFILE'] or os.environ['HOMEPATH']
`
    expect(summary('python', text)).toEqual([
      '1-8 fetch',
      '9-11 Shape',
      '12-16 Shape.area in Shape',
      '17-19 Shape.Meta in Shape',
      '20-22 home',
    ])
  })

  test('Go is cut at functions, methods named by their receiver, and types, alone or in groups', () => {
    const text = `package stack

// Stack holds items.
type Stack[T any] struct{ items []T }

type (
	Key int
	// Name is a string.
	Name = string
)

func (s *Stack[T]) Push(item T) {}
func (Key) Less() bool { return true }
func New() {}
`
    expect(summary('go', text)).toEqual([
      '1-5 Stack',
      '6-7 Key',
      '8-11 Name',
      '12-12 Stack.Push',
      '13-13 Key.Less',
      '14-14 New',
    ])
  })

  test('Rust is cut at items with their attributes, impl blocks named by their type, macros and extern blocks', () => {
    const text = `//! Crate.

/// A stack.
#[derive(Debug)]
pub struct Stack<T> { items: Vec<T> }
enum Op { Push }
union Bits { a: u32 }

impl<T> fmt::Display for Stack<T> {
    const N: usize = 1;

    /// Formats.
    #[inline]
    fn fmt(&self) {}
}
pub trait Visit { fn enter(&self); fn leave(&self) {} type Out; }
mod inner { pub fn f() {} }
macro_rules! list { () => {} }
extern "C" { fn puts(s: *const u8); }
`
    expect(summary('rust', text)).toEqual([
      '1-5 Stack',
      '6-6 Op',
      '7-8 Bits',
      '9-11 Stack',
      '12-15 Stack.fmt in Stack',
      '16-16 Visit',
      '16-16 Visit.enter in Visit',
      '16-16 Visit.leave in Visit',
      '17-17 inner',
      '18-18 list',
      '19-19 puts',
    ])
  })

  test('Java is cut at nested types, constructors, records and annotation types', () => {
    const text = `package a.b;

/** A stack. */
@Fast
public class Stack<T> {
  private int size;
  Stack() {}
  /** Pushes. */
  @Override void push(T item) {}
  enum Op { PUSH; boolean changes() { return true; } int x() { return 1; } }
  record Pair(int a, int b) {}
}
interface Visitor { void visit(); }
@interface Fast { int level() default 1; }
`
    expect(summary('java', text)).toEqual([
      '1-6 Stack',
      '7-7 Stack.Stack in Stack',
      '8-9 Stack.push in Stack',
      '10-10 Stack.Op in Stack',
      '10-10 Stack.Op.changes in Stack > Op',
      '10-10 Stack.Op.x in Stack > Op',
      '11-12 Stack.Pair in Stack',
      '13-13 Visitor',
      '14-14 Fast',
    ])
  })

  test('C is cut at functions behind declarators, tags, typedefs and branches of conditional compilation', () => {
    const text = `#include <stdio.h>

/* A point. */
typedef struct point { int x; } point_t;
struct list { int n; };
enum color { RED };
static const char *(*handler(int n))(void) { return 0; }
#ifdef FAST
int run(void) { return 1; }
#else
int run(void) { return 2; }
#endif
`
    expect(summary('c', text)).toEqual(['1-4 point_t', '5-5 list', '6-6 color', '7-7 handler', '8-9 run', '10-12 run'])
  })

  test('C++ is cut at classes, templates, namespaces, operators and methods defined out of line', () => {
    const text = `// A stack.
template <typename T>
class Stack : Base {
 public:
  int size;
  ~Stack() {}

 private:
  T operator+(T o) { return o; }
  template <class U> void each(U f) {}
};
namespace a::b {
int *find(int x) { return 0; }
struct Pair { int first() { return 1; } };
}
extern "C" { void plain() {} }
int Stack<int>::top(int x) { return 1; }
`
    expect(summary('cpp', text)).toEqual([
      '1-5 Stack',
      '6-7 Stack.~Stack in Stack',
      '8-9 Stack.operator+ in Stack',
      '10-11 Stack.each in Stack',
      '12-12 a.b',
      '13-13 a.b.find in a.b',
      '14-15 a.b.Pair in a.b',
      '16-16 plain',
      '17-17 Stack.top',
    ])
  })

  test('Ruby is cut at modules, singleton methods, operators and methods with a visibility', () => {
    const text = `module Tools
  # A stack.
  class Stack < Base
    attr_reader :size
    # Starts empty.
    def initialize; end
    def self.build; end
    private def grow; end
    def <=>(other) 0 end
    class << self
      def default; end
    end
  end
end
`
    expect(summary('ruby', text)).toEqual([
      '1-1 Tools',
      '2-4 Tools.Stack in Tools',
      '5-6 Tools.Stack.initialize in Tools > Stack',
      '7-7 Tools.Stack.build in Tools > Stack',
      '8-8 Tools.Stack.grow in Tools > Stack',
      '9-10 Tools.Stack.<=> in Tools > Stack',
      '11-14 Tools.Stack.default in Tools > Stack',
    ])
  })

  test('Bash is cut at both kinds of functions', () => {
    const text = '#!/bin/bash\nset -e\n\n# Greets.\ngreet() { echo hi; }\nfunction main { greet; }\nmain "$@"\n'
    expect(summary('bash', text)).toEqual(['1-5 greet', '6-7 main'])
  })
})

describe('grammars', () => {
  test('are found by extension, and only after they were prepared', async () => {
    const unloadable = await openGrammars({ load: () => Promise.reject(new Error('no bytes')) })
    expect(grammars.cut('a/B.TSX', 'function f() {}', ROOMY)).toHaveLength(1)
    expect(grammars.cut('a/b.txt', 'function f() {}', ROOMY)).toBeUndefined()
    expect(unloadable.cut('a.js', 'function f() {}', ROOMY)).toBeUndefined()
    await expect(unloadable.prepare(['go'])).rejects.toThrow('no bytes')
  })

  test('are loaded once, and again after a failure', async () => {
    const requestedNames: string[] = []
    const reloadable = await openGrammars({
      load: (name) => {
        requestedNames.push(name)
        if (requestedNames.length === 1) return Promise.reject(new Error('offline'))
        return readFile(resolve(`tree-sitter-${name}/tree-sitter-${name}.wasm`))
      },
    })
    await expect(reloadable.prepare(['go', 'go'])).rejects.toThrow('offline')
    await Promise.all([reloadable.prepare(['go']), reloadable.prepare(['go'])])
    expect(requestedNames).toEqual(['go', 'go'])
    expect(reloadable.cut('a.go', 'package p\nfunc f() {}\n', ROOMY)).toHaveLength(1)
    reloadable.close()
    expect(reloadable.parser('go')).toBeUndefined()
  })
})

describe('a text that would keep the parser busy', () => {
  test.each<[string, GrammarName, string]>([
    ['labels behind a syntax error', 'javascript', 'case a:\n'.repeat(20_000)],
    ['conditions without a body', 'rust', 'if(a)\n'.repeat(50_000)],
    ['conditional expressions', 'ruby', 'a?b:\n'.repeat(50_000)],
    ['else and if in turn', 'c', 'if (a)\n  b();\n'.repeat(10) + 'else\nif (a)\n\n'.repeat(600)],
    ['prefix operators', 'javascript', `function f() {}\n${'-+!~ '.repeat(200)}a`],
    ['a long line', 'javascript', `function f() {}\nx = '${'a'.repeat(20_000)}'\n`],
  ])('is cut as text: %s', (_, name, text) => {
    expect(cut(name, text)).toBeUndefined()
  })

  test.each<[string, GrammarName, string]>([
    ['a line just short enough', 'javascript', `function f() {}\nx = '${'a'.repeat(19_990)}'\n`],
    ['a few prefix operators', 'javascript', `function f() {}\n${'-+!~ '.repeat(20)}a`],
    ['many conditions that each have an end', 'javascript', `${'if (a) b\n'.repeat(2_000)}function f() {}\n`],
    ['many keys', 'typescript', `interface A {\n${'  a?: b\n'.repeat(2_000)}}\n`],
    ['many constants', 'c', `${'#define A 1 /* for a: b */\n'.repeat(2_000)}int f() {}\n`],
  ])('a text with %s does not count and is parsed', (_, name, text) => {
    expect(cut(name, text)).toBeDefined()
  })
})

test('the gap after a comment is scanned once for all definitions that follow', () => {
  const blanks = '\u00a0'.repeat(19_900)
  const text = `/*c*/${blanks}\n${blanks}${'function a(){}\n'.repeat(17_000)}`
  expect(cut('javascript', text)?.length).toBe(17_001)
})

test('an error thrown by the callback is not mistaken for a parser failure', () => {
  const parser = grammars.parser('javascript')
  const fail = () => {
    throw new RangeError('ours')
  }
  expect(() => parser?.read('a', fail)).toThrow('ours')
  expect(grammars.hasFailed).toBe(false)
  expect(cut('javascript', 'function f() {}')).toHaveLength(1)
})
