import { beforeAll, describe, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { CodeParser } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import type { Declaration, ModuleText } from './declaration.ts'
import { adaptToGrammar, readTypeScript } from './read-typescript.ts'

let parser: CodeParser | undefined

beforeAll(async () => {
  parser = (await openNodeGrammars(['typescript'])).parser('typescript')
})

function read(text: string): ModuleText {
  const named = adaptToGrammar(text)
  const module = parser?.read(named, (root) => readTypeScript(root, named))
  if (module === undefined || module === PARSER_FAILED) throw new Error('the text cannot be parsed')
  return module
}

function readOne(text: string): Declaration {
  const [first] = read(text).declarations
  if (first === undefined) throw new Error('nothing is declared')
  return first
}

describe('a declaration', () => {
  test.each<[string, Partial<Declaration>]>([
    ['export declare function lit(): boolean', { kind: 'function', name: 'lit', type: 'boolean', parameters: [] }],
    [
      'declare const height: number',
      { kind: 'variable', name: 'height', type: 'number', signature: 'const height: number' },
    ],
    ['export type Colour = "red" | "white"', { kind: 'type', name: 'Colour', type: '"red" | "white"' }],
    ['export abstract class Lamp extends Base<A, B> implements C {}', { kind: 'class', heritage: ['Base<A, B>', 'C'] }],
    [
      'export interface Lamp extends Base, Other<{ a: 1 }> {}',
      { kind: 'interface', heritage: ['Base', 'Other<{ a: 1 }>'] },
    ],
    ['export const enum Side { Left, Right = 2 }', { kind: 'enum', name: 'Side' }],
    ['declare namespace Tower { const height: number }', { kind: 'namespace', name: 'Tower' }],
  ])('%s', (text, expected) => {
    expect(readOne(text)).toMatchObject(expected)
  })

  test('has the parameters of a function', () => {
    const { parameters } = readOne(
      'declare function set(this: Lamp, a: number, { b }: Options, c?: string, ...d: any[]): void',
    )
    expect(parameters).toEqual([
      { name: 'this', type: 'Lamp', isOptional: false, isRest: false },
      { name: 'a', type: 'number', isOptional: false, isRest: false },
      { name: '{ b }', type: 'Options', isOptional: false, isRest: false },
      { name: 'c', type: 'string', isOptional: true, isRest: false },
      { name: 'd', type: 'any[]', isOptional: false, isRest: true },
    ])
  })

  test('may use imported types with type arguments, and optional parameters that are destructured', () => {
    const { members } = readOne(
      'declare class Lamp { a: | import("./lens").Lens<import("@x/y").Z<string>> | null; b({ c }?: Options): void; d: typeof import("e") }',
    )
    expect(members.map(({ name, signature }) => [name, signature])).toEqual([
      ['a', 'a: | import("./lens").Lens<import("@x/y").Z<string>> | null'],
      ['b', 'b({ c }: Options): void'],
      ['d', 'd: typeof import("e")'],
    ])
  })

  test('has its public members with their doc comments', () => {
    const { members } = readOne(`export declare class Lamp {
      /** How bright it is. */
      readonly brightness: number
      private secret: string
      #hidden: number
      constructor(height: number)
      /** Lights it. */
      light(colour?: string): this
      static open(path: string): Lamp
      get isLit(): boolean
    }`)
    expect(members.map(({ kind, name, doc, isStatic }) => ({ kind, name, doc, isStatic }))).toEqual([
      { kind: 'property', name: 'brightness', doc: 'How bright it is.', isStatic: false },
      { kind: 'constructor', name: 'constructor', doc: '', isStatic: false },
      { kind: 'method', name: 'light', doc: 'Lights it.', isStatic: false },
      { kind: 'method', name: 'open', doc: '', isStatic: true },
      { kind: 'property', name: 'isLit', doc: '', isStatic: false },
    ])
  })

  test('has the members of an object type', () => {
    const { members } = readOne('export type Options = { a: number; b?: { c: string }; d(x: number): void }')
    expect(members.map(({ name, kind }) => `${kind} ${name}`)).toEqual(['property a', 'property b', 'method d'])
    expect(members[1]?.members.map(({ name }) => name)).toEqual(['c'])
  })

  test('has only the doc comment right before it', () => {
    const { declarations } = read(
      '/** About the file. */\nimport a from "a"\n\n/** One. */\nexport const one: 1\nexport const two: 2\n',
    )
    expect(declarations.map(({ doc }) => doc)).toEqual(['One.', ''])
  })

  test('is one for each overload', () => {
    const { declarations } = read('export function a(x: 1): 1\nexport function a(x: 2): 2')
    expect(declarations.map(({ name, type }) => `${name} ${type}`)).toEqual(['a 1', 'a 2'])
  })
})

describe('a module', () => {
  test('has its exports', () => {
    const { exports, exportsAllOf } = read(`
      export { a, b as c } from './other.js'
      export * from './all.js'
      export * as ns from './space.js'
      export default class Lamp {}
      export { local }
    `)
    expect(exports).toEqual([
      { name: 'a', local: 'a', from: './other.js' },
      { name: 'c', local: 'b', from: './other.js' },
      { name: 'ns', local: '*', from: './space.js' },
      { name: 'default', local: 'Lamp', from: null },
      { name: 'local', local: 'local', from: null },
    ])
    expect(exportsAllOf).toEqual(['./all.js'])
  })

  test('has its imports', () => {
    const { imports } = read(`
      import lamp, { type Wick, oil as fuel } from 'lamp'
      import * as tower from './tower.js'
      import type { Sea } from './sea.js'
    `)
    expect(imports).toEqual([
      { local: 'lamp', name: 'default', from: 'lamp' },
      { local: 'Wick', name: 'Wick', from: 'lamp' },
      { local: 'fuel', name: 'oil', from: 'lamp' },
      { local: 'tower', name: '*', from: './tower.js' },
      { local: 'Sea', name: 'Sea', from: './sea.js' },
    ])
  })

  test('can be one name as a whole, and declare modules by name', () => {
    const { exportEquals, ambientModules } = read(`
      declare module 'fs' { export function open(path: string): void }
      declare function lamp(): void
      export = lamp
    `)
    expect(exportEquals).toBe('lamp')
    expect(ambientModules.get('fs')?.declarations.map(({ name }) => name)).toEqual(['open'])
  })

  test('keeps what can be read of a broken text', () => {
    const { declarations } = read(
      'export declare const a: number\nexport declare function (((\nexport declare const b: string',
    )
    expect(declarations.map(({ name }) => name)).toContain('a')
  })
})

test.each([
  ['export default function(oil: number): void;', 'function _default(oil: number): void'],
  ['export default function <T>(lamp: T): Promise<T>', 'function _default<T>(lamp: T): Promise<T>'],
  ['export default function (oil: number): void {}', 'function _default(oil: number): void'],
])('a default function without a name is read: %s', (text, signature) => {
  const module = read(`/** Lights the lamp. */\n${text}\nexport declare const height: number\n`)
  expect(module.declarations).toMatchObject([
    { kind: 'function', name: '_default', signature, doc: 'Lights the lamp.' },
    { name: 'height' },
  ])
  expect(module.exports).toContainEqual({ name: 'default', local: '_default', from: null })
})
