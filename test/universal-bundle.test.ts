import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Bundle, bundleForBrowser } from './bundle.ts'

/** Maximum gzipped size of the whole universal entry, without the .wasm files that it loads on demand. */
const BUDGET_BYTES = 236_000

/**
 * The only package that may name Node modules: it detects Node at run time, and imports them only there. A new version that imports more,
 * or imports them at once, must be reviewed.
 */
const GUARDED_IMPORTS = ['web-tree-sitter: dynamic-import of fs/promises', 'web-tree-sitter: dynamic-import of module']
const GUARDED_GLOBALS = ['web-tree-sitter: process']

const root = dirname(dirname(fileURLToPath(import.meta.url)))

describe('the universal entry in a browser bundle', () => {
  let bundle: Bundle
  beforeAll(async () => {
    bundle = await bundleForBrowser(join(root, 'src/index.ts'))
  })

  test('imports no Node module except those that web-tree-sitter guards', () => {
    expect(bundle.nodeImports.filter((found) => !GUARDED_IMPORTS.includes(found))).toEqual([])
  })

  test('uses no Node global except those that web-tree-sitter guards', () => {
    expect(bundle.nodeGlobals.filter((found) => !GUARDED_GLOBALS.includes(found))).toEqual([])
  })

  test('starts without Node globals', () => {
    expect(listExports(bundle.code)).not.toEqual([])
  })

  test(`stays within ${BUDGET_BYTES / 1000} kB`, () => {
    expect(gzipSync(bundle.code, { level: 9 }).byteLength).toBeLessThanOrEqual(BUDGET_BYTES)
  })
})

describe('the check of the bundle', () => {
  test('finds Node modules, static or dynamic, by either name', async () => {
    const { nodeImports } = await bundleText(`
      import { readFileSync } from 'node:fs'
      export const read = async (path) => (await import('path')).resolve(readFileSync(path, 'utf8'))
    `)
    expect(nodeImports).toEqual(['entry.ts: dynamic-import of path', 'entry.ts: import-statement of node:fs'])
  })

  test('finds Node globals, and ignores other things with their names', async () => {
    const { nodeGlobals } = await bundleText(`
      export const home = process.env.HOME
      export const bytes = (text: string) => Buffer.from(text)
      export const job = { process: 1, global: 2 }
      export const run = (queue) => queue.process(typeof require)
    `)
    expect(nodeGlobals).toEqual(['entry.ts: Buffer', 'entry.ts: process', 'entry.ts: require'])
  })

  test('fails to start a bundle that needs Node', async () => {
    const { code } = await bundleText('export const platform = process.platform')
    expect(() => listExports(code)).toThrow('NODE_process is not defined')
  })

  test('knows the imports that web-tree-sitter guards', async () => {
    const { nodeImports, nodeGlobals } = await bundleText("export { Parser } from 'web-tree-sitter'")
    expect({ nodeImports, nodeGlobals }).toEqual({ nodeImports: GUARDED_IMPORTS, nodeGlobals: GUARDED_GLOBALS })
  })
})

/** Bundles a text as if it were a file beside the real entry, where packages can be resolved. */
function bundleText(source: string): Promise<Bundle> {
  return bundleForBrowser(join(root, 'src/entry.ts'), source)
}

/** Loads the bundle, in which Node globals have names that do not exist, and lists its exports. */
function listExports(code: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bundle-'))
  try {
    const file = join(folder, 'bundle.mjs')
    writeFileSync(file, code)
    const program = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(pathToFileURL(file))}))))`
    return JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', stdio: 'pipe' }),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
