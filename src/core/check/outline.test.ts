import { beforeAll, describe, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { Grammars } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import { outlineModule } from './outline.ts'
import { readScope } from './read-scope.ts'
import { splitStatements } from './split-statements.ts'
import { copyTree, type ParseText, type SyntaxNode } from './syntax-tree.ts'
import type { Scope } from './types.ts'

let grammars: Grammars

beforeAll(async () => {
  grammars = await openNodeGrammars(['typescript'])
})

const parse: ParseText = (text, row = 0) => {
  const tree = grammars.parser('typescript')?.read(text, (root) => copyTree(root, text, row))
  return tree === PARSER_FAILED ? undefined : tree
}

/** What a scope declares and exports, with kinds, lines and the text of each declaration. */
function describeScope(scope: Scope): unknown {
  return {
    declared: [...scope.declarations].map(([name, all]) => [
      name,
      ...all.map(({ kind, isExported, from, body, node }) => [
        ...[kind, isExported, from, node.row, body === undefined ? node.children.map(({ type }) => type) : null],
        body === undefined ? null : describeScope(body),
      ]),
    ]),
    exports: scope.exports.map(({ name, local, from }) => [name, local, from]),
    all: scope.exportsAllOf,
    flags: [scope.isExplicit, scope.isModule, scope.whole !== undefined],
    ambient: [...scope.ambient].map(([name, one]) => [name, describeScope(one)]),
    globals: scope.globals.map(describeScope),
  }
}

function read(root: SyntaxNode | undefined, path: string): unknown {
  if (root === undefined) throw new Error('the declarations cannot be parsed')
  const info = { name: 'p', version: '1', folder: '', isEsm: true, hasEsm: true, isEsmOnly: true }
  return describeScope(readScope(root, { path, root, package: info, inlineImports: new Map(), isCode: false }))
}

const DECLARATIONS = `
/** A lamp; with { brackets } in its comment. */
import type { A } from 'a'
import b, { c as d } from "b"; export * from './all'
export { d as e, type A }
export type { F } from './f'
export interface Lamp<T extends { x: 1 } = { x: 1 }> extends A<{ y: 2 }> { color: 'a;b' | \`\${T}}\`; on(): void }
export declare abstract class Base extends C<{ z: 1 }> { private x }
export declare class Inner implements Lamp { static a: number }
export type Alias =
  | { type: 'a' }
  | typeof b
  // interface Comment {}
  | (() => void)
type Next = import('x').default
declare const one: typeof b.default
declare const two: number, three: string
export declare const enum Level { Low = 1 << 2, High }
declare enum Plain { A }
export declare function over<const T>(a: T): { a: 1 }
export declare function over(a: string): void;
declare namespace Space { interface In {} namespace Deep { const x: 1 } export {} }
declare module 'other' { global { interface Window { a: 1 } } export default function f(): void }
declare global {
  namespace Express { interface Request { user: 1 } }
}
export default Lamp
export as namespace lampUmd
`

describe('outline of declarations', () => {
  test('has the same names, kinds, lines and children as the whole tree', () => {
    expect(read(outlineModule(DECLARATIONS, parse), 'a')).toEqual(read(parse(DECLARATIONS), 'a'))
  })

  test('parses a declaration only when it is looked into', () => {
    const parsed: string[] = []
    const root = outlineModule('export interface A { a: 1 }\nexport declare const b: A', (text, row) => {
      parsed.push(text)
      return parse(text, row)
    })
    read({ ...root, children: [] }, 'a')
    const scope = root.children.map(({ children }) => children[0]?.declaredName ?? children[0]?.type)
    expect([scope, parsed]).toEqual([['A', 'ambient_declaration'], []])
    expect(root.children[0]?.children[0]?.children.map(({ type }) => type)).toContain('interface_body')
    expect(parsed).toEqual(['export interface A { a: 1 }'])
  })

  test('members of a large type are parsed when they are looked into', () => {
    const methods = Array.from(
      { length: 600 },
      (_, i) => `  /** Number ${i}. */\n  call${i}(a: string,\n    b: { c: 1 }): Promise<void>;`,
    )
    const body = `{\n${methods.join('\n')}\n  readonly size?: number;\n  (): void;\n}`
    const texts = [
      `export interface Big<T = { a: 1 }> extends A<T> ${body}`,
      `interface Big<T = {\n  a: 1;\n}> extends A<T> ${body}`,
      `declare const big: ${body};`,
      `type Big = ${body} & B`,
    ]
    const unclear = `interface Big<T = { a: { b: 1 } }> ${body}`
    for (const text of [...texts, unclear]) {
      const parsed: string[] = []
      const root = outlineModule(text, (one, row) => {
        parsed.push(one)
        return parse(one, row)
      })
      const list = (node: SyntaxNode | undefined): unknown[] => [
        node?.type,
        node?.row,
        ...(node?.children ?? []).map(list),
      ]
      const find = (node: SyntaxNode): SyntaxNode[] =>
        /^(?:interface_body|object_type)$/.test(node.type) && node.children.length > 99
          ? [node]
          : node.children.flatMap(find)
      const [whole] = find(parse(text) ?? root).map(({ children }) => children.filter(({ type }) => type.length > 1))
      const [later] = find(root).map(({ children }) => children.filter(({ type }) => type.length > 1))
      if (text !== unclear) expect(parsed.length).toBeLessThan(4)
      expect(later?.map(({ type, row }) => [type, row])).toEqual(whole?.map(({ type, row }) => [type, row]))
      expect(later?.slice(-9).map(list)).toEqual(whole?.slice(-9).map(list))
    }
  })

  test('namespaces that are nested deeply are read, and do not end the check with a stack overflow', () => {
    const nest = (depth: number) => `${'declare namespace a {\n'.repeat(depth)}const b: 1${'}'.repeat(depth)}`
    const depthOf = (node: SyntaxNode): number =>
      Number(node.type === 'internal_module') + Math.max(0, ...node.children.map(depthOf))
    expect([10, 20, 30].map((depth) => depthOf(outlineModule(nest(depth), parse)))).toEqual([10, 20, 30])
    expect(depthOf(outlineModule(nest(2000), parse))).toBeGreaterThanOrEqual(20)
  })

  test('brackets that were never closed do not slow down those that were never opened', () => {
    const text = `type A = ${'<'.repeat(400_000)}${'}'.repeat(400_000)}\nconst b: 1`
    expect(splitStatements(text, 0, text.length, 0).map(({ row }) => row)).toEqual([0])
    const nested = `type A = { a: (1 < 2 }; type B = [\`\${ { a: '}' } } <\`]; const c: 1`
    expect(splitStatements(nested, 0, nested.length, 0).map(({ start }) => nested.slice(start, start + 6))).toEqual([
      ...['type A', 'type B', 'const '],
    ])
  })

  test('text that is not closed ends with the file', () => {
    for (const text of ["const a: 'x", 'interface A { /* b', 'type A = `${', 'declare module "a" {', '}}}', ';;', '']) {
      expect(splitStatements(text, 0, text.length, 0).length).toBeLessThan(5)
      expect(() => read(outlineModule(text, parse), 'a')).not.toThrow()
    }
  })
})
