import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/* Tests the output of `scripts/bundle-program.mjs`. */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: object
  readonly peerDependencies: object
}
/** The entry file, and the other files that the program starts. */
const ENTRIES = [
  'cli/serve/check-worker.js',
  'cli/main.js',
  'cli/serve/search-worker.js',
  'embed/embed-worker.js',
  'processes/page-process.js',
  'processes/page-worker.js',
]
/** The files that other programs import, which the bundle shares its parts with. */
const EXPORTED = [
  'http/app.js',
  'index.js',
  'mcp/server.js',
  'node.js',
  'readers/langchain.js',
  'readers/llamaindex.js',
]

test('the program needs only its parts and the packages that must stay in their own folders', () => {
  const { files, packages } = walkParts()
  expect(
    files.filter((file) => ![...ENTRIES, ...EXPORTED].includes(file)).every((file) => file.startsWith('program/')),
  ).toBe(true)
  expect(packages).toEqual([
    '#pdfjs/pdf.mjs',
    '#pdfjs/pdf.worker.mjs',
    'better-sqlite3',
    'pg',
    'pg-boss',
    'playwright-core',
    'web-tree-sitter',
  ])
})

test('the license of every bundled package is included', () => {
  const licenses = readFileSync(join(dist, 'program/LICENSES.txt'), 'utf8')
  const named = licenses.split(`\n${'='.repeat(80)}\n\n`).map((text) => /^(\S+) \S+ \(\S+\)\n/.exec(text)?.[1])
  expect(named).not.toContain(undefined)
  const unbundled = new Set(walkParts().packages)
  // The build copies PDF.js to a folder of its own, with its license.
  const bundled = listImportedPackages().filter(
    (name) => !unbundled.has(name) && !isPeer(name) && name !== 'pdfjs-dist',
  )
  expect(bundled.length).toBeGreaterThan(15)
  expect(named).toEqual(expect.arrayContaining(bundled))
})

test('every package that the sources import has a reason in the table of dependencies', () => {
  const table = readFileSync(join(root, 'docs/decisions/0080-dependencies.md'), 'utf8')
  const rows = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)])
  // No source imports the Node of the checkout.
  const inTable = rows.map(([, name = '']) => name).filter((name) => !name.startsWith('node-linux'))
  expect(new Set(listImportedPackages())).toEqual(new Set(inTable))
})

test('users install only the packages that the program loads from their own folders', () => {
  const required = walkParts().packages.filter((name) => !name.startsWith('#') && !isPeer(name))
  expect(Object.keys(manifest.dependencies)).toEqual(required)
})

function isPeer(name: string): boolean {
  return Object.hasOwn(manifest.peerDependencies, name)
}

/** The packages that the sources import, without tests. */
function listImportedPackages(): string[] {
  const texts = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test|\.d)\.ts$/.test(name))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  const names = texts.flatMap((text) => [...text.matchAll(/(?:\bfrom |\bimport\()'([@a-z][^':]*)'/g)])
  return [...new Set(names.map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? ''))]
}

/** A static or dynamic import in minified code. Strings that mention imports do not match, because other characters follow them. */
const IMPORT =
  /(?<![\w$.])(?:import|export)(?:[\s\w$*{},]*\bfrom\s*|\s*\(\s*|\s*)["'`]([.#@\w][\w./#@-]*)["'`](?=[;)\s]|$)/gm

/** All files that the program may load, and the packages that they import. */
function walkParts(): { readonly files: string[]; readonly packages: string[] } {
  const files = new Set(ENTRIES)
  const packages = new Set<string>()
  for (const file of files) {
    const text = readFileSync(join(dist, file), 'utf8').replace(/^\s*\*.*$/gm, '')
    for (const [, name = ''] of text.matchAll(IMPORT)) {
      if (name.startsWith('.')) files.add(join(dirname(file), name))
      else if (!isBuiltin(name)) packages.add(name)
    }
  }
  expect([...files].filter((file) => !existsSync(join(dist, file)))).toEqual([])
  return { files: [...files], packages: [...packages].sort((a, b) => (a < b ? -1 : 1)) }
}
