import { beforeAll, describe, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { Grammars } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import { checkTypeScript } from './check-typescript.ts'
import { ModuleGraph } from './module-graph.ts'
import { TypeResolver } from './resolver.ts'
import { copyTree, type SyntaxNode } from './syntax-tree.ts'

let grammars: Grammars

beforeAll(async () => {
  grammars = await openNodeGrammars(['typescript'])
})

function parse(text: string, row = 0): SyntaxNode | undefined {
  const tree = grammars.parser('typescript')?.read(text, (root) => copyTree(root, text, row))
  return tree === PARSER_FAILED ? undefined : tree
}

/** Packages by name, each with the declarations of its module, or with all its files. */
type Packages = Readonly<Record<string, string | Readonly<Record<string, string>>>>

function createFiles(packages: Packages): Map<string, string> {
  const files = new Map<string, string>()
  for (const [name, given] of Object.entries(packages)) {
    const folder = `/app/node_modules/${name}`
    const own = typeof given === 'string' ? { 'index.d.ts': given } : given
    files.set(`${folder}/package.json`, JSON.stringify({ name, version: '1.0.0', type: 'module', types: 'index.d.ts' }))
    for (const [path, text] of Object.entries(own)) files.set(`${folder}/${path}`, text)
  }
  return files
}

/** What is found in code, as `line name: verdict`; places that exist only on request. */
function check(packages: Packages, code: string, isAll = false): string[] {
  const files = createFiles(packages)
  const graph = new ModuleGraph(
    {
      read: (path) => files.get(path),
      hasFile: (path) => files.has(path),
      findPackage: (name) =>
        files.has(`/app/node_modules/${name}/package.json`) ? `/app/node_modules/${name}` : undefined,
      findAdditions: () => [],
    },
    parse,
  )
  const root = parse(code)
  if (root === undefined) throw new Error('the code cannot be parsed')
  const findings = checkTypeScript(new TypeResolver(graph), { root, path: '/app/code.ts', problemOf: () => undefined })
  return findings
    .filter(({ verdict }) => isAll || verdict !== 'exists')
    .map(
      ({ line, name, verdict, nearest }) => `${line} ${name}: ${verdict}${nearest === undefined ? '' : `, ${nearest}`}`,
    )
}

const LAMP = `
export interface LampOptions { watts?: number; color?: string }
export declare class Lamp {
  constructor(options?: LampOptions);
  static create(name: string, options?: LampOptions): Promise<Lamp>;
  light(): this;
  dim(level: number, ms?: number): this;
  on(event: string, listener: (event: LampEvent) => void): void;
  readonly socket: { readonly kind: string };
}
export interface LampEvent { at: number }
export declare function count(...lamps: Lamp[]): number;
export default function createLamp(options: LampOptions): Lamp;
`

describe('imports', () => {
  test('a name that a module does not export is missing, with the nearest one', () => {
    expect(check({ lamp: LAMP }, "import { Lamp, Lampe } from 'lamp'")).toEqual(['1 Lampe: missing, Lamp'])
  })

  test('require, dynamic import, namespace import and re-export are looked up too', () => {
    const code = `
      const { count, counts } = require('lamp')
      import * as all from 'lamp'
      all.Lampp
      const later = await import('lamp')
      later.cuont
      export { Lamb } from 'lamp'`
    expect(check({ lamp: LAMP }, code)).toEqual([
      ...['2 counts: missing, count', '4 all.Lampp: missing, Lamp', '6 later.cuont: missing, count'],
      '7 Lamb: missing, Lamp',
    ])
  })

  test('a package that is not installed is unknown; modules of Node and files of the project are not looked up', () => {
    const code = "import a from 'other'\nimport fs from 'node:fs'\nimport b from './b.js'\na.b.c()\nfs.x()\nb.y()"
    expect(check({}, code)).toEqual(['1 other: unknown', '4 a.b: unknown', '4 a.b.c: unknown'])
  })

  test('names are followed through other files and packages, and a cycle ends', () => {
    const packages = {
      tower: {
        'index.d.ts': "export * from './a.js'\nexport * from 'lamp'\nexport { x as y } from './b.js'",
        'a.d.ts': "export * from './b.js'\nexport declare const a: string",
        'b.d.ts': "export * from './a.js'\nexport declare const x: { deep: 1 }",
      },
      lamp: LAMP,
    }
    const code = "import { a, x, y, Lamp, none } from 'tower'\ny.deep\ny.depp"
    expect(check(packages, code)).toEqual(['1 none: missing', '3 y.depp: missing, deep'])
  })

  test('a module that is one value has the names of its namespace', () => {
    const types =
      'declare function e(): e.App\ndeclare namespace e { interface App { use(): void } function Router(): App }\nexport = e'
    const code = "import e, { Router } from 'e'\ne().use()\ne.Router().user()\ne.Ruter()"
    expect(check({ e: types }, code)).toEqual(['3 e.Router().user: missing, use', '4 e.Ruter: missing, Router'])
  })
})

describe('members', () => {
  test('are looked up on instances, results, awaited values and chains', () => {
    const code = `import createLamp, { Lamp } from 'lamp'
      new Lamp().ligth()
      createLamp({}).light().dimm(1)
      const lamp = await Lamp.create('a')
      lamp.socket.kinds
      Lamp.crate('a')
      lamp.on('x', (event) => event.att)`
    expect(check({ lamp: LAMP }, code)).toEqual([
      ...['2 new Lamp().ligth: missing, light', '3 createLamp({}).light().dimm: missing, dim'],
      ...['5 lamp.socket.kinds: missing, kind', '6 Lamp.crate: missing, create', '7 event.att: missing, at'],
    ])
  })

  test('inherited members and those of merged interfaces exist', () => {
    const types = `
      export interface A<T> { a: T } export interface A<T> { b: T[] }
      export interface B extends A<C> { (): void } interface C { c: string }
      export declare const b: B; export declare class D extends Error { code: number } export declare const d: D`
    const code = "import { b, d } from 'p'\nb.a.c; b.b[0].c; b.call; d.message; d.code; b.toString\nb.a.d; b.x; d.z"
    expect(check({ p: types }, code)).toEqual(['3 b.a.d: missing, c', '3 b.x: missing, a', '3 d.z: missing'])
  })

  test('a class has the members of an interface of its name, and a module those of all its blocks', () => {
    const types = `
      export declare class A { a: 1 } export interface A { b: 1 }
      declare module 'q' { export function f(): void } declare module 'q' { export function g(): void }`
    const code = "import { A } from 'p'\nnew A().a; new A().b; new A().d\nimport q from 'q'\nq.f(); q.g(); q.h()"
    const packages = {
      p: types,
      q: {
        'index.d.ts':
          "/// <reference path='b.d.ts' />\ndeclare module 'q' { export function f(): void; export default q; const q: typeof import('q') }",
        'b.d.ts': "declare module 'q' { export function g(): void }",
      },
    }
    expect(check(packages, code)).toEqual(['2 new A().d: missing, a', '4 q.h: missing, f'])
  })

  test('anything that is not certain is never missing', () => {
    const types = `
      export declare const any: any; export declare const map: { [key: string]: number }
      export declare function same<T>(value: T): T; export declare function make<T extends { a: 1 }>(from: (x: T) => void): T
      export declare const mapped: { [K in 'a' | 'b' as \`x\${K}\`]: number }
      export declare class Odd extends Unknown { a: 1 }
      declare global { namespace Shared { interface Request {} } } export declare const request: Shared.Request`
    const code = `import { any, map, same, make, mapped, Odd, request } from 'p'
      any.x; map.x; same({ y: 1 }).y; make(() => {}).zzz; mapped.xa; new Odd().x; request.user = 1; request.user
      let z = new Odd(); z = 1; z.foo`
    expect(check({ p: types }, code).filter((line) => line.includes('missing'))).toEqual([])
  })

  test('members that the code or an imported package adds to a package exist', () => {
    const packages = {
      lamp: LAMP,
      plug: "import 'lamp'\ndeclare module 'lamp' { interface LampEvent { plug: string } }",
    }
    const code = `import 'plug'
      import type { LampEvent } from 'lamp'
      declare module 'lamp' { interface LampEvent { own: string } }
      function f(event: LampEvent) { event.plug; event.own; event.none }`
    expect(check(packages, code)).toEqual(['4 event.none: missing'])
  })
})

describe('options and arguments', () => {
  test('an option that the parameter does not have is missing', () => {
    const code =
      "import createLamp, { Lamp } from 'lamp'\ncreateLamp({ wats: 1, color: 'red' })\nLamp.create('a', { colour: 'red' })"
    expect(check({ lamp: LAMP }, code)).toEqual(['2 wats: missing, watts', '3 colour: missing, color'])
  })

  test('one overload is enough, and a parameter without closed type takes everything', () => {
    const types = `
      export declare function f(text: string, options: { a: 1 }): void; export declare function f(options: { b: 1 } & { c: 1 }): void
      export declare function g<T>(value: T): void; export declare function h(options: Omit<{ d: 1; e: 1 }, 'd'> & Record<string, 1>): void`
    const code =
      "import { f, g, h } from 'p'\nf('x', { a: 1 }); f({ b: 1, c: 1 }); g({ any: 1 }); h({ d: 1 })\nf({ a: 1 })"
    expect(check({ p: types }, code)).toEqual(['3 a: missing, b'])
  })

  test('a callback has the parameters of the form that fits it best', () => {
    const types = `
      interface Request { url: string } interface Handler { (request: Request, next: () => void): void }
      type Any = Handler | ((error: any, request: Request, next: () => void) => void) | Any[]
      export declare function use(path: string, ...handlers: Any[]): void
      interface Sent { body: 1 } interface SentConstructor { new (): Sent } declare const Sent: SentConstructor
      export declare class Test extends Sent { expect(): this }`
    const code = `import { use, Test } from 'p'
      use('/', (request) => request.ulr); use('/', (error, request, next) => { error.any; request.ulr })
      new Test().expect().bodi`
    const expected = [
      '2 request.ulr: missing, url',
      '2 request.ulr: missing, url',
      '3 new Test().expect().bodi: missing, body',
    ]
    expect(check({ p: types }, code)).toEqual(expected)
  })

  test('members that the code adds to what a callback receives are unknown', () => {
    const types = 'export declare function use(f: (request: { session: { id: string } }) => void): void'
    const code =
      "import { use } from 'p'\nuse((request) => { request.session.views = 1; request.session.views; request.session.vews })"
    const unknown = '2 request.session.views: unknown'
    expect(check({ p: types }, code)).toEqual([unknown, unknown, '2 request.session.vews: missing'])
  })

  test('too many and too few arguments are reported, optional and rest parameters counted', () => {
    const code =
      "import { Lamp, count } from 'lamp'\ncount(); count(1, 2, 3)\nnew Lamp().dim(1, 2, 3)\nLamp.create()\nLamp.create(...list)"
    expect(check({ lamp: LAMP }, code)).toEqual(['3 new Lamp().dim(): missing', '4 Lamp.create(): missing'])
  })
})

describe('calls that are not known', () => {
  test('their options are unknown', () => {
    const code = "import { none } from 'lamp'\nnone.start({ watts: 1, on: { color: 1 } }, (lamp) => lamp.light())"
    expect(check({ lamp: LAMP }, code)).toEqual([
      ...['1 none: missing', '2 none.start: unknown', '2 watts: unknown', '2 on: unknown', '2 color: unknown'],
      '2 lamp.light: unknown',
    ])
  })

  test('a parameter is required if only a part of its type can be undefined', () => {
    const types = `
      interface Text<T> { t: T } export declare function f(a: number): { x: 1 }
      export declare function f(a: number, text: Text<{ any: any }>): any`
    expect(check({ p: types }, "import { f } from 'p'\nf(1).y")).toEqual(['2 f(1).y: missing, x'])
  })
})

describe('modules', () => {
  const MANIFEST = JSON.stringify({
    ...{ name: 'p', version: '1.0.0', types: 'index.d.ts' },
    exports: { '.': './index.js', './a': './a.js', './in/*': './in/*.js', './in/no/*': null },
  })

  test('a module that `exports` does not name, or for which there is no file, is missing; one without declarations is unknown', () => {
    const code = "import 'p/a'; import 'p/in/x'\nimport { b } from 'p/b'\nimport 'p/b.css?raw'\nb.c()"
    expect(check({ p: { 'package.json': MANIFEST, 'index.d.ts': 'export {}' } }, code)).toEqual([
      ...['1 p/a: unknown', '1 p/in/x: missing', '2 b: missing', '3 p/b.css?raw: unknown', '4 b.c: unknown'],
    ])
  })

  test('without `exports`, a module is missing if there is no file for it', () => {
    const code = "import 'lamp/lib/a'; import 'lamp/lib'\nimport 'lamp/lib/b'"
    const files = { 'index.d.ts': LAMP, 'lib/a.js': '', 'lib/index.js': '' }
    expect(check({ lamp: files }, code).at(-1)).toBe('2 lamp/lib/b: missing')
  })

  test('a package with ECMAScript modules has no default export unless it is declared', () => {
    const types = 'export declare const a: 1'
    const exports = { import: { types: './index.d.ts', default: './index.mjs' }, default: './index.js' }
    const dual = { 'package.json': JSON.stringify({ name: 'dual', version: '1.0.0', exports }), 'index.d.ts': types }
    const plain = { 'package.json': JSON.stringify({ name: 'plain', version: '1.0.0' }), 'index.d.ts': types }
    const code = "import dual from 'dual'\nimport plain from 'plain'\nplain.a; plain.b"
    expect(check({ dual, plain }, code)).toEqual(['1 dual: missing', '3 plain.b: missing, a'])
  })

  test('a module cannot be called, unless it is a CommonJS module', () => {
    const types = { p: 'export declare const a: 1', q: 'declare function q(): void; export default q' }
    const code = "import * as p from 'p'\nconst q = require('q')\np(); new p()\nq(); q.default()"
    expect(check(types, code)).toEqual(['3 p(): missing', '3 new p(): missing', '4 q(): missing'])
    const manifest = JSON.stringify({ name: 'q', version: '1.0.0', types: 'index.d.ts' })
    expect(check({ q: { 'package.json': manifest, 'index.d.ts': types.q } }, "const q = require('q'); q()")).toEqual([])
  })
})

describe('CommonJS modules', () => {
  test('require has the names of the CommonJS module, import those of the ECMAScript module', () => {
    const exports = { import: './index.mjs', require: './index.cjs' }
    const q = {
      'package.json': JSON.stringify({ name: 'q', version: '1.0.0', exports }),
      'index.d.mts': 'export declare const both: 1; export declare const here: 1; export default class Q {}',
      'index.d.cts':
        'export declare const both: 1; export declare const there: 1; export default class Q { static make(): void }',
    }
    const code = "const { both, there, here } = require('q')\nconst Q = require('q'); new Q(); Q.make(); Q.mak()"
    expect(check({ q }, code)).toEqual(['1 here: missing, there', '2 Q.mak: missing, make'])
    expect(check({ q }, "import { both, here, there } from 'q'")).toEqual(['1 there: missing, here'])
  })
})

describe('objects', () => {
  test('an object is no function; types with a signature or an unknown base can be called', () => {
    const types = `
      interface Gone<T> { readonly moved: T } export declare const Lamp: Gone<'to lamp/all'>
      interface Made { new (): Gone<1> } interface Called { (): void } export declare const a: Made; export declare const b: Called
      interface Any extends Function {} export declare const c: Any`
    const code = "import { Lamp, a, b, c } from 'p'\nnew Lamp({}); Lamp()\nnew a().moved; a(); new b(); c(); new c()"
    expect(check({ p: types }, code)).toEqual(['2 new Lamp(): missing', '2 Lamp(): missing'])
  })
})

describe('generics', () => {
  test('a chain of calls with several overloads does not multiply its types', () => {
    const types = `
      export interface Chain<I, O> {
        add<T>(value: T): Chain<I | T, O>; add<T>(value: T, text?: string): Chain<[I, T], O>
        add<T>(value: T, more?: number): Chain<I, [O, T]>; end(): { done: I; rest: O } }
      export declare const chain: Chain<{ first: 1 }, 2>`
    const calls = '.add(1)'.repeat(40)
    expect(check({ p: types }, `import { chain } from 'p'\nchain${calls}.end().done\nchain${calls}.emd`)).toEqual([
      `3 …${`chain${calls}.emd`.slice(-60)}: missing, end`,
    ])
  })

  test('what deeply nested conditions decide is unknown; the other branches have their names', () => {
    const types = `
      type A<T> = T extends 1 ? { one: 1 } : T extends 2 ? { two: 1 } : B<T>; type B<T> = T extends { b: 1 } ? { three: 1 } : C<T>
      type C<T> = T extends { c: 1 } ? { four: 1 } : D<T>; type D<T> = T extends { d: 1 } ? { five: 1 } : { six: 1 }
      type E<T> = T extends 1 ? { one: 1 } : T extends { e: 1 } ? { two: 1 } : { three: 1 }
      export declare function a<T>(value: T): A<T>; export declare function e<T>(value: T): E<T>`
    const code =
      "import { a, e } from 'p'\nconst v = a({}); v.one; v.two; v.three; v.four\nv.five; v.seven\ne({}).two; e({}).four"
    expect(check({ p: types }, code)).toEqual([...['3 v.five: unknown', '3 v.seven: unknown', '4 e({}).four: missing']])
  })

  test('a rest parameter that is a tuple has as many arguments as items', () => {
    const types = `
      export declare function f(name: string, ...rest: [a: { x: 1 }, b?: { y: 1 }]): void
      export declare function g(...rest: [1, ...2[]]): void
      export declare function h(...rest: [one: { x: 1 }, ...more: { y: 1 }[], last: { z: 1 }]): void`
    const code =
      "import { f, g, h } from 'p'\nf('n', { x: 1 }, { y: 1 }); g(1, 2, 3); h({ x: 1 }, { z: 1 }); h({ x: 1 }, { y: 1 }, { y: 1 }, { z: 1 })\nf('n')\nf('n', { y: 1 }, 2)\ng(); h({ x: 1 }); h({ z: 1 }, {})"
    expect(check({ p: types }, code)).toEqual([
      ...['3 f(): missing', '4 y: missing, x', '5 g(): missing', '5 h(): missing', '5 z: missing, x'],
    ])
  })

  test('a type parameter that no argument can decide has its default', () => {
    const types = `
      export interface Options<M> { url?: string; near?: { port: number }; modules?: M; of?: () => M }
      export type Client<M> = { get(): void } & { [K in keyof M]: M[K] }
      export declare function create<M extends Record<string, unknown> = {}>(options?: Options<M>): Client<M>
      export declare function store<T, M extends unknown[] = []>(make: ((n: number) => T) & { marks?: M }): Chain<M>
      export type Chain<M> = number extends M['length' & keyof M] ? {} : M extends [] ? { end: 1 } : M extends [1, ...infer R] ? Chain<R> : never`
    const code = `import { create, store } from 'p'
      create().gett; create({ url: 'a', near: { port: 1 } }).gett
      create({ modules: { a: 1 } }).a; create({ of: () => ({ b: 1 }) }).b; const more = {}; create(more).c
      store((n) => n).end; store((n) => n).emd`
    const expected = ['2 create().gett: missing, get', "2 create({ url: 'a', near: { port: 1 } }).gett: missing, get"]
    expect(check({ p: types }, code)).toEqual([...expected, '4 store((n) => n).emd: missing, end'])
  })

  test('a type that is named through a value has the members of its objects', () => {
    const types = {
      'index.d.ts':
        "import { Core } from './core.js'\ndeclare const p: typeof Core & { new (): Core }\nexport default p",
      'core.d.ts': `export declare class Core {} interface Plug { watts: number } declare namespace Plug { interface Pin {} }
        declare class Lamp { light(): void } export declare namespace Core { export { Plug, Lamp } }`,
    }
    const code =
      "import p from 'p'\nconst plug: p.Plug = load(); plug.watts; plug.wats\nconst lamp: p.Lamp = load(); lamp.light; lamp.ligth"
    expect(check({ p: types }, code)).toEqual(['2 plug.wats: missing, watts', '3 lamp.ligth: missing, light'])
  })

  test('what a condition infers can be anything', () => {
    const types = `
      export type State<S> = S extends { get(): infer T } ? T : never
      export declare function use<U>(select: (state: State<{ get(): { a: 1 } }>) => U): U`
    expect(check({ p: types }, "import { use } from 'p'\nuse((state) => state.any)")).toEqual([])
  })

  test('a type that needs too many steps leaves the rest of the code checked', () => {
    const types = `
      export type Wide<T> = ${Array.from({ length: 30 }, (_, i) => `T extends ${i} ? Wide<[T, ${i}]> | Wide<${i}> : `).join('')} T
      export declare function wide<T>(): Wide<T>; export declare const lamp: { light(): void }`
    const code = `import { wide, lamp } from 'p'\n${'wide().x\n'.repeat(300)}lamp.ligth()`
    expect(check({ p: types }, code).at(-1)).toBe('302 lamp.ligth: missing, light')
  })

  test('type parameters that refer to each other end, and arguments of a generic are looked up', () => {
    const types = `
      export declare class Box<A extends Box<B>, B extends Box<A> = Box<A>> { a: A; b: B }
      export interface Pair<L, R = L> { left: L; right: R }
      export declare const pair: Pair<{ x: 1 }>; export declare function box(): Box<any>`
    const code = "import { pair, box } from 'p'\npair.left.x; pair.right.x; box().b.a.b.a\npair.right.y"
    expect(check({ p: types }, code)).toEqual(['3 pair.right.y: missing, x'])
  })
})

describe('string literals in types', () => {
  test('are the keys of records, mapped types and picked types; other keys leave a type open', () => {
    const types = `
      type Verb = 'get' | 'put'
      interface All { a: 1; b: 1; c: 1 }
      type Keys<K extends string> = { [P in K]: { key: P } }
      export declare const verbs: Record<Verb, { send: () => void }>; export declare const any: Record<string, { send: 1 }>
      export declare const keys: Keys<'x'>; export declare const none: Keys<never> & { own: 1 }
      export declare const picked: Pick<All, 'a' | 'b'>; export declare const omitted: Omit<All, Verb | 'c'>
      export declare function open<K extends string>(options: { keys?: K[] }): Keys<K>`
    const code = `import { verbs, any, keys, none, picked, omitted, open } from 'p'
      verbs.get.send; any.whatever.send; keys.x.key; none.own; picked.a; omitted.b; open({ keys: ['k'] }).k
      verbs.post
      verbs.put.sent
      any.other.sent
      keys.y; none.info
      picked.c; omitted.c`
    expect(check({ p: types }, code)).toEqual([
      ...['3 verbs.post: missing', '4 verbs.put.sent: missing, send', '5 any.other.sent: missing, send'],
      ...['6 keys.y: missing, x', '6 none.info: missing', '7 picked.c: missing, a', '7 omitted.c: missing, a'],
    ])
  })

  test('choose the overload and the type of the parameter of a callback', () => {
    const types = `
      interface Events { line: { text: string }; end: { code: number } }
      export declare class Reader {
        on(event: 'open', callback: (socket: { send(): void }) => void): this
        on(event: 'close', callback: (reason: { why: string }) => void): this
        on(event: string, callback: (...args: any[]) => void): this
        once<K extends keyof Events>(event: K, callback: (value: Events[K]) => void): this
      }`
    const code = `import { Reader } from 'p'
      const reader = new Reader()
      reader.on('open', (socket) => socket.send()).on('other', (value) => value.any)
      reader.on('open', (socket) => socket.sent())
      reader.on('close', (reason) => reason.wyh)
      reader.once('end', (value) => { value.code; value.text })`
    expect(check({ p: types }, code)).toEqual([
      ...['4 socket.sent: missing, send', '5 reason.wyh: missing, why', '6 value.text: missing'],
    ])
  })
})

describe('values of the language', () => {
  test('callbacks of arrays and promises get the items and the value', () => {
    const types = `
      export interface Row { id: number } export declare const rows: Row[]
      export declare class Later<T> extends Promise<T> { then<A = T, B = never>(done?: ((value: T) => A) | null, failed?: (e: any) => B): Promise<A | B>; raw(): void }
      export declare function load(): Later<Row>; export declare function all(): Promise<Row[]>`
    const code = `import { rows, load, all } from 'p'
      rows.map((row) => row.id).length; rows.filter((row) => row.name)
      rows.find((row) => row.id)?.di
      rows.sort((a, b) => a.id - b.key)
      all().then((list) => list.forEach((row) => row.nmae))
      const row = await load()
      row.id; row.dd; load().raw(); load().rwa()`
    expect(check({ p: types }, code)).toEqual([
      ...['2 row.name: missing', '3 rows.find((row) => row.id)?.di: missing, id', '4 b.key: missing'],
      ...['5 row.nmae: missing', '7 row.dd: missing, id', '7 load().rwa: missing, raw'],
    ])
  })

  test('type parameters of a class have their defaults; results and instances of a type are followed', () => {
    const types = `
      declare class Socket { send(): void } declare class Command { command(): ReturnType<this['create']>; create(): Command; run(): void }
      export declare class Server<S extends typeof Socket = typeof Socket, O = { path?: string }> {
        constructor(options?: { port?: number; socket?: S }); first: InstanceType<S>; use(options: O): void
      }
      export declare const program: Command`
    const code = `import { Server, program } from 'p'
      const server = new Server({ port: 1 })
      server.first.sned(); server.use({ paths: '/' }); program.command().runn()
      class Own { own() {} }
      new Server({ socket: Own }).first.own()
      new Server<any, { other: 1 }>().use({ other: 1 })`
    expect(check({ p: types }, code)).toEqual([
      ...['3 server.first.sned: missing, send', '3 paths: missing, path', '3 program.command().runn: missing, run'],
    ])
  })

  test('objects that have a written type are looked up, also in arrays', () => {
    const types =
      'export interface Options { port?: number; routes?: { path: string }[] } export declare function start(options: Options): void'
    const code = `import { type Options, start } from 'p'
      const options: Options = { prot: 1, routes: [{ path: '/' }, { pth: '/' }] }
      const other = { ports: 1 } satisfies Options
      start({ routes: [{ paht: '/' }] })`
    expect(check({ p: types }, code)).toEqual([
      ...['2 prot: missing, port', '2 pth: missing, path', '3 ports: missing, port', '4 paht: missing, path'],
    ])
  })

  test('a class that extends a type of the platform has its known members, even if other files declare it', () => {
    const types =
      'declare global { interface EventTarget { dispatchEvent(): void } var EventTarget: { prototype: EventTarget; new (): EventTarget } }'
    const packages = { p: `${types}\nexport declare class Own extends EventTarget { run(): void }` }
    const code =
      "import { Own } from 'p'\nnew Own().run(); new Own().dispatchEvent(); new Own().addEventListener('a'); new Own().runn()"
    expect(check(packages, code)).toEqual(['2 new Own().runn: missing, run'])
  })

  test('a package sees the global names of the packages that it imports', () => {
    const packages = {
      chain:
        'declare global { namespace Chain { interface Assertion { equal(): void } } }\nexport declare const chain: 1',
      p: "import { chain } from 'chain'\ninterface Own extends Chain.Assertion { same(): void }\nexport declare function expect(): Own",
    }
    const code = "import { expect } from 'p'\nexpect().equal(); expect().same(); expect().equals()"
    expect(check(packages, code)).toEqual(['2 expect().equals: missing, equal'])
  })
})

describe('hostile input', () => {
  test('types and classes that refer to themselves end', () => {
    const types = `
      export type Loop = Loop; export declare const loop: Loop
      export interface A extends B {} export interface B extends A {} export declare const a: A
      export type Grow<T> = Grow<T[]> | { x: T }; export declare const grow: Grow<1>
      export declare class C extends C {} export { q as q } from './index.js'`
    const code = "import { loop, a, grow, C, q } from 'p'\nloop.x; a.x; grow.y; new C(1).x; C.y; const s = s.t; q.r"
    expect(check({ p: types }, code).filter((line) => line.includes('missing'))).toEqual([])
  })

  test('deep nesting and long chains end', () => {
    const deep = `import { a } from 'p'\n${'f('.repeat(900)}a.x${')'.repeat(900)}\na${'.b'.repeat(5000)}`
    expect(check({ p: 'export declare const a: { b: any }' }, deep).length).toBeLessThan(10)
  })

  test('syntax errors leave the rest of the code checked', () => {
    expect(check({ lamp: LAMP }, "import { Lampe } from 'lamp'\nconst = ;\n")).toEqual(['1 Lampe: missing, Lamp'])
  })
})
