import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/* Tests the output of `scripts/bundle-program.mjs`. */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
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
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
  expect(named).toEqual(expect.arrayContaining(Object.keys(dependencies).filter((name) => !unbundled.has(name))))
})

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
