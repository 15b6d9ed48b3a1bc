import { beforeAll, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { CodeParser } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import { listModules, PackageExports } from './package-modules.ts'
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
  return Object.fromEntries(await writeApiPages('lamp', listModules(JSON.stringify(manifest), has), exports))
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
