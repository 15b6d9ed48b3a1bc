import { beforeAll, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { CodeParser } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import { writeDoc } from './doc-comment.ts'
import { listFolderModules, listModules, PackageExports } from './package-modules.ts'
import { readTypeScript } from './read-typescript.ts'
import { writeApiPages } from './write-api-page.ts'

type Files = Readonly<Record<string, string>>

let parser: CodeParser | undefined

beforeAll(async () => {
  parser = (await openNodeGrammars(['typescript'])).parser('typescript')
})

async function write(manifest: object, files: Files): Promise<Record<string, string>> {
  const has = (path: string) => Object.hasOwn(files, path)
  const exports = new PackageExports(async (path) => {
    const text = files[path] ?? ''
    const module = parser?.read(text, (root) => readTypeScript(root, text))
    return module === PARSER_FAILED ? undefined : module
  }, has)
  return Object.fromEntries((await writeApiPages('lamp', listModules(JSON.stringify(manifest), has), exports)).pages)
}

test('describes each exported name with its signature, doc comment and members', async () => {
  const pages = await write(
    { types: './index.d.ts' },
    {
      'index.d.ts': `
      /** Options of a lamp. */
      export interface Options {
        /** Colour of the light. @default white */
        colour?: string
        height: number
      }
      /**
       * Lights a lamp.
       * @param name - who lights it
       * @returns whether it is lit
       * @example
       * light('Ada')
       */
      export declare function light(name: string, options?: Options): boolean
      declare const internal: number
    `,
    },
  )
  expect(pages['index.d.ts']).toBe(`# API of lamp

## \`Options\`

\`\`\`ts
interface Options
\`\`\`

Options of a lamp.

- \`colour?: string\`: Colour of the light. @default white
- \`height: number\`

## \`light(name, options?)\`

\`\`\`ts
function light(name: string, options?: Options): boolean
\`\`\`

Lights a lamp.

- \`name\`: who lights it

Returns whether it is lit

\`\`\`ts
light('Ada')
\`\`\`
`)
})

test('follows names through the files they come from', async () => {
  const pages = await write(
    { exports: { '.': { types: './a.d.ts' } } },
    {
      'a.d.ts':
        "export * from './b.js'\nexport { inner as outer } from './c/index.js'\nimport * as all from './b.js'\nexport { all }",
      'b.d.ts': 'export declare const one: 1\n',
      'c/index.d.ts': "import { inner } from '../d.mjs'\nexport { inner }",
      'd.d.mts': 'export declare const inner: 2\n',
    },
  )
  expect(pages['a.d.ts']).toContain('## `one`')
  expect(pages['a.d.ts']).toContain('## `outer`')
  expect(pages['a.d.ts']).not.toContain('all.one')
})

test('writes the name of an object that holds most names before them, as users do', async () => {
  const pages = await write(
    { types: 'index.d.ts' },
    {
      'index.d.ts': "import * as z from './all.js'\nexport * from './all.js'\nexport { z }",
      'all.d.ts': 'export declare function object(shape: object): void\nexport declare function string(): void',
    },
  )
  expect(pages['index.d.ts']).toContain('## `z.object(shape)`')
})

test('describes a name once, and refers to the module that has it', async () => {
  const pages = await write(
    { exports: { '.': './index.js', './more': './more.js', './package.json': './package.json' } },
    {
      'index.d.ts': 'export declare const one: 1\n',
      'more.d.ts': "export { one } from './index.js'\nexport declare const two: 2\n",
    },
  )
  expect(pages['more.d.ts']).toContain('# API of lamp/more')
  expect(pages['more.d.ts']).toContain('As in `lamp`: `one`.')
  expect(pages['more.d.ts']).not.toContain('## `one`')
})

test('gives the members of a whole export their names', async () => {
  const pages = await write(
    { types: 'index.d.ts' },
    {
      'index.d.ts':
        'declare function lamp(): lamp.Lamp\ndeclare namespace lamp { interface Lamp { lit: boolean } }\nexport = lamp',
    },
  )
  expect(pages['index.d.ts']).toContain('## `lamp()`')
  expect(pages['index.d.ts']).toContain('## `Lamp`')
})

test('ends for files that export each other', async () => {
  const pages = await write(
    { types: 'a.d.ts' },
    {
      'a.d.ts': "export * from './b.js'\nexport declare const a: 1",
      'b.d.ts': "export * from './a.js'\nexport declare const b: 1",
    },
  )
  expect(pages['a.d.ts']).toContain('## `b`')
})

test.each([
  ['{', []],
  ['[]', []],
  ['{"types":"missing.d.ts"}', []],
  ['{"types":"../outside.d.ts"}', []],
  ['{"main":"dist/index.js"}', [{ subpath: '.', path: 'dist/index.d.ts' }]],
  ['{}', [{ subpath: '.', path: 'index.d.ts' }]],
  [
    '{"exports":{".":{"import":{"types":"./dist/index.d.ts","default":"./x.js"}},"./*":"./dist/*.js"}}',
    [{ subpath: '.', path: 'dist/index.d.ts' }],
  ],
])('lists the modules of %s', (manifest, expected) => {
  const files = manifest === '{}' ? ['index.d.ts'] : ['dist/index.d.ts']
  expect(listModules(manifest, (path) => files.includes(path))).toEqual(expected)
})

test('describes all of a thousand names', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `name${i}`)
  const text = names.map((name) => `/** About ${name}. */\nexport declare const ${name}: number`).join('\n')
  const { 'index.d.ts': page = '' } = await write({ types: 'index.d.ts' }, { 'index.d.ts': text })
  expect(names.filter((name) => !page.includes(`## \`${name}\`\n\n\`\`\`ts\nconst ${name}: number\n`))).toEqual([])
})

test('has one page for two subpaths with the same declarations', async () => {
  const pages = await write(
    { exports: { '.': './a.js', './a.js': './a.js' } },
    { 'a.d.ts': 'export declare const one: 1' },
  )
  expect(pages['a.d.ts']).toMatch(/^# API of lamp\n\nAlso imported as `lamp\/a.js`\.\n\n## `one`/)
})

test('keeps text in a doc comment from changing the page', async () => {
  const doc = 'Uses <script> and <style>.\n# Heading\n```ts\nopen()'
  const text = `/**\n${doc}\n*/\nexport declare const one: 1\nexport declare const two: 2`
  const { 'index.d.ts': page = '' } = await write({ types: 'index.d.ts' }, { 'index.d.ts': text })
  expect(page).toContain('Uses \\<script> and \\<style>.\n\\# Heading\n```ts\nopen()\n```\n\n## `two`')
})

test('keeps tags in an example that shows a fence', () => {
  const doc = 'Text.\n````md\n```\n@param one\n```\n````'
  expect(writeDoc(doc)).toBe(doc)
})

test('says that everything of another package is exported too', async () => {
  const pages = await write({ types: 'a.d.ts' }, { 'a.d.ts': "export * from 'wick'" })
  expect(pages['a.d.ts']).toContain('Everything from `wick` too.')
})

test('keeps comment marks in strings, and backticks', async () => {
  const base = "type Base = 'https://a' | 'https://b'"
  const id = ['type Id = `id-$', 'number', '`'].join('{').replace('{`', '}`')
  const text = `export ${base.replace('| ', '| /* no */ ')}\nexport ${id}`
  const { 'index.d.ts': page = '' } = await write({ types: 'index.d.ts' }, { 'index.d.ts': text })
  expect(page).toContain(base)
  expect(page).toContain(id)
})

test('does not repeat members that a whole export has by themselves', async () => {
  const { 'index.d.ts': page = '' } = await write(
    { types: 'index.d.ts' },
    { 'index.d.ts': 'declare namespace lamp { interface Wick { lit: boolean } }\nexport = lamp' },
  )
  expect(page.match(/Wick`/g)).toHaveLength(1)
})

test('names an unnamed default export', async () => {
  const pages = await write({ types: 'a.d.ts' }, { 'a.d.ts': 'export default class { light(): void }' })
  expect(pages['a.d.ts']).toContain('### `default.light()`')
})

test('prefers declarations for current compilers', () => {
  const manifest = { exports: { '.': { 'types@<5.7': './old.d.ts', types: './new.d.ts' } } }
  expect(listModules(JSON.stringify(manifest), () => true)).toEqual([{ subpath: '.', path: 'new.d.ts' }])
})

test('the declarations for all environments come before those for one', () => {
  const manifest = { exports: { '.': { 'react-server': './server.d.ts', import: { types: './all.d.ts' } } } }
  expect(listModules(JSON.stringify(manifest), () => true)).toEqual([{ subpath: '.', path: 'all.d.ts' }])
})

test.each([
  ['@types/node and more.', '@types/node and more.'],
  ['@param {{ a: string }} options - what to do', '- `options`: what to do'],
  ['@returns {Promise<{ a: 1 }>} the result', 'Returns the result'],
  ['Uses {@link Lamp} and {@link Wick the wick}.', 'Uses `Lamp` and the wick.'],
  ['@example\n@Component({})\nclass A {}', '```ts\n@Component({})\nclass A {}\n```'],
  ['@note Mind the oil.', '@note Mind the oil.'],
])('writes the doc comment %s', (doc, markdown) => {
  expect(writeDoc(doc)).toBe(markdown)
})

test('a namespace that is the whole module exports the names around it too', async () => {
  const pages = await write(
    { types: 'index.d.ts' },
    {
      'index.d.ts': `
      import { Fault } from 'faults'
      import { Shade } from './shade'
      declare function lamp(): void
      declare namespace lamp {
        export const size: number
        export type { Fault, Shade as Cover }
      }
      export = lamp`,
      'shade.d.ts': 'export interface Shade { colour: string }',
    },
  )
  expect(pages['index.d.ts']).toContain('## `Fault`\n\nFrom `faults`.')
  expect(pages['index.d.ts']).toContain('interface Shade')
  expect(pages['index.d.ts']).toContain('## `Cover`')
  expect(pages['index.d.ts']).toContain('## `size`')
})

test('folders with a package.json of their own are modules, unless `exports` lists all modules', () => {
  const files = ['hooks/index.d.ts', 'esm/index.d.ts', 'broken/a.js']
  const manifests = new Map([
    ['hooks/package.json', '{"main": "hooks.cjs", "types": "index.d.ts"}'],
    ['esm/package.json', '{"type": "module"}'],
    ['broken/package.json', 'no JSON'],
  ])
  const list = (manifest: object) =>
    listFolderModules(JSON.stringify(manifest), manifests, (path) => files.includes(path))
  expect(list({ main: 'a.js' })).toEqual([{ subpath: './hooks', path: 'hooks/index.d.ts' }])
  expect(list({ exports: { '.': './a.js' } })).toEqual([])
})

test('describes what exported declarations inherit from or are made of, with a note if it is not exported', async () => {
  const pages = await write(
    { types: './index.d.ts' },
    {
      'index.d.ts': `
      import Core from './core'
      declare class Lamp extends Core { on(): void }
      type Options = Current & { warm: boolean }
      interface Current { colour: string }
      interface Unused { a: 1 }
      export interface Named {}
      interface LightOptions { watts: number }
      export declare function light(options?: LightOptions, other?: Named): Unused
      export { Lamp, Options }
    `,
      'core.d.ts': 'export default class Base<T = Hidden> { off(): void }',
    },
  )
  const page = pages['index.d.ts'] ?? ''
  const headings = page.split('\n').filter((line) => line.startsWith('## '))
  expect(headings).toEqual([
    ...['## `Named`', '## `light(options?, other?)`', '## `Lamp`', '## `Options`'],
    ...['## `LightOptions`', '## `Core`', '## `Current`'],
  ])
  expect(page).toContain('interface Current\n```\n\n**Not exported.**\n\n- `colour: string`')
  expect(page.match(/\*\*Not exported/g)).toHaveLength(3)
})

test('describes the names of a namespace that a bundler wrote', async () => {
  const pages = await write(
    { types: './index.d.ts' },
    {
      'index.d.ts': `
      declare function off(): void
      declare const warm: number
      declare namespace inner { export { off as off, warm as colour } }
      export { inner as context }
    `,
    },
  )
  expect((pages['index.d.ts'] ?? '').split('\n').filter((line) => line.startsWith('## '))).toEqual([
    '## `context.off()`',
    '## `context.colour`',
  ])
})
