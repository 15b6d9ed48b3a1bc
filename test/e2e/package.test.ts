import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM, ProgramSandbox } from './program.ts'

/* Tests the package as npm packs it, unpacked beside the packages that it depends on. */

const ROOT = join(import.meta.dirname, '../..')
const MAX_PACKED_BYTES = 15_000_000

const sandbox = new ProgramSandbox()
let packed: { readonly filename: string; readonly size: number; readonly files: readonly { readonly path: string }[] }

beforeAll(() => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  const args = ['pack', '--json', '--pack-destination', sandbox.path('.')]
  const printed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  packed = JSON.parse(printed)[0]
  execFileSync('tar', ['-xzf', packed.filename], { cwd: sandbox.path('.') })
  fs.symlinkSync(join(ROOT, 'node_modules'), sandbox.path('package/node_modules'))
})

afterAll(() => sandbox.remove())

test('the package is at most 15 MB, and holds no file of 10 kB or more twice', () => {
  expect(packed.size).toBeLessThanOrEqual(MAX_PACKED_BYTES)
  const byDigest = new Map<string, string[]>()
  for (const { path } of packed.files) {
    const bytes = fs.readFileSync(sandbox.path(`package/${path}`))
    if (bytes.length < 10_000) continue
    const digest = createHash('sha256').update(bytes).digest('hex')
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), path])
  }
  expect([...byDigest.values()].filter((paths) => paths.length > 1)).toEqual([])
})

test('the package has every file that its exports import', () => {
  const { exports } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
  const names = Object.keys(exports).filter((name) => name !== './package.json')
  const code = `for (const name of ${JSON.stringify(names)}) {
    const { length } = Object.keys(await import(name.replace('.', 'pharos')))
    if (length === 0) throw new Error(name + ' exports nothing')
  }`
  const args = ['--input-type=module', '-e', code]
  expect(execFileSync(process.execPath, args, { cwd: sandbox.path('package'), encoding: 'utf8' })).toBe('')
})

test('the package has every module that its own modules import', () => {
  const missing = packed.files
    .filter(({ path }) => /^dist\/(?!web\/|pdfjs\/).*\.(?:js|d\.ts)$/.test(path))
    .flatMap(({ path }) => {
      const folder = join(sandbox.path('package'), path, '..')
      const text = fs.readFileSync(sandbox.path(`package/${path}`), 'utf8')
      const names = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["'`](\.{1,2}\/[^"'`$]+\.[jt]s)["'`]/g)]
      const targets = names.map(([, name = '']) => (path.endsWith('.d.ts') ? name.replace(/\.[jt]s$/, '.d.ts') : name))
      return targets.filter((name) => !fs.existsSync(join(folder, name))).map((name) => `${path} names ${name}`)
    })
  expect(missing).toEqual([])
})

test('the package runs: it packs and indexes a folder with a PDF, and a search finds both files', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [sandbox.path('package/dist/cli/main.js'), ...args], {
      encoding: 'utf8',
      env: { ...sandbox.environment, PHAROS_EMBED: 'true' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  sandbox.write({ 'docs/cars.md': '# Workshop\n\nMechanics fix broken engines and brakes of cars here.\n' })
  fs.copyFileSync(join(ROOT, 'test/documents/guide.pdf'), sandbox.path('docs/guide.pdf'))
  run('pack', sandbox.path('docs'), '--out', sandbox.path('docs.zip'), '--vectors')
  const found = run('search', 'automobile repair garage', '--pack', sandbox.path('docs.zip'))
  expect(found).toContain('cars.md')
  const library = sandbox.path('library.db')
  run('add', sandbox.path('docs'), '--library', library, '--embed')
  expect(run('search', 'coastal handbook', '--library', library)).toContain('guide.pdf')
})
