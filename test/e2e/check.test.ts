import { rmSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(() => sandbox.remove())

/** Installs a version of the package `lamp` in the project. `locked` is the version in the lock file. */
function install(version: string, types: string, locked: string = version): void {
  const packages = { '': { dependencies: { lamp: '*' } }, 'node_modules/lamp': { version: locked } }
  sandbox.write({
    'app/package.json': JSON.stringify({ name: 'tower', dependencies: { lamp: '*' } }),
    'app/package-lock.json': JSON.stringify({ name: 'tower', lockfileVersion: 3, packages }),
    'app/node_modules/lamp/package.json': JSON.stringify({ name: 'lamp', version, types: 'index.d.ts' }),
    'app/node_modules/lamp/index.d.ts': types,
  })
}

const OLD = 'export declare function glow(): void\n'
const NEW = 'export declare function light(options?: { watts?: number }): void\n'

const check = (...args: readonly string[]) => sandbox.runInProcess(['check', ...args])

test('check names what is not in the locked version, and the version of the library that has it', async () => {
  install('1.0.0', OLD)
  await sandbox.runInProcess(['deps', 'app', '--add'])
  install('2.0.0', NEW)
  sandbox.write({ 'app/src/a.ts': "import { light, glow } from 'lamp'\nlight({ wats: 1 })\n" })
  const { code, stdout, stderr } = await check('app/src/a.ts')
  expect(code).toBe(1)
  expect(stdout.split('\n')).toEqual([
    'app/src/a.ts:1:17 glow: not in this version, lamp does not export glow, lamp@1.0.0 has it (lamp@2.0.0 index.d.ts:1)',
    'app/src/a.ts:2:9 wats: not in this version, no option wats, did you mean watts? (lamp@2.0.0 index.d.ts:1)',
    '',
  ])
  expect(stderr).toContain('1 file, 4 names looked up: 2 exist, 2 not in this version, 0 unknown')
})

test('of a package that is not installed, check accepts what its API page says is exported', async () => {
  const types = `
interface Current { color: string }
export interface Options extends Current { watts?: number }
export declare function light(options?: Options): void
`
  install('1.0.0', types)
  await sandbox.runInProcess(['deps', 'app', '--add'])
  rmSync(sandbox.path('app/node_modules'), { recursive: true })
  sandbox.write({ 'app/src/a.ts': "import { light, Options, Current, watts } from 'lamp'\n" })
  const { places } = JSON.parse((await check('app/src/a.ts', '--all', '--json')).stdout)
  expect(places.map((one: { name: string; verdict: string }) => [one.name, one.verdict])).toEqual([
    ['light', 'exists'],
    ['Options', 'exists'],
    ['Current', 'unknown'],
    ['watts', 'unknown'],
  ])
})

test('check reads folders and the code blocks of Markdown, and says what it does not know', async () => {
  install('1.0.0', OLD, '1.1.0')
  const markdown = "# Use\n\n```js\nconst lamp = require('lamp')\n```\n\n```js\nlamp.glow()\n```\n"
  sandbox.write({ 'app/src/a.js': "import { nothing } from 'lamp'\n", 'app/README.md': markdown })
  const other = await check('app/src')
  expect(other).toMatchObject({ code: 0, stdout: '' })
  expect(other.stderr).toContain('1 unknown: lamp 1.0.0 is installed, but 1.1.0 is locked')
  install('1.1.0', OLD)
  const { places } = JSON.parse((await check('app/README.md', '--all', '--json')).stdout)
  expect(
    places.map((one: { line: number; name: string; verdict: string }) => [one.line, one.name, one.verdict]),
  ).toEqual([
    [4, 'lamp', 'exists'],
    [8, 'lamp.glow()', 'exists'],
    [8, 'lamp.glow', 'exists'],
  ])
})

test('check explains a path that is missing or no code', async () => {
  install('1.0.0', OLD)
  expect((await check('app/none.ts')).stderr).toContain('there is nothing at app/none.ts')
  const wrong = await check('app/package.json')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('expected a file of TypeScript, JavaScript, Python or Markdown')
})

test('an agent is told what is not in the version that the project has locked', async () => {
  install('2.0.0', NEW)
  const [command, program] = sandbox.command
  const args = [program, 'mcp', '--library', sandbox.path('library.db')]
  const client = new Client({ name: 'test', version: '0.0.0' })
  const cwd = sandbox.path('app')
  await client.connect(new StdioClientTransport({ command, args, cwd, env: sandbox.environment, stderr: 'ignore' }))
  try {
    const code = "import { light } from 'lamp'\nlight(1, 2)\nlight.glow()\n"
    const { content, structuredContent } = await client.callTool({ name: 'check_code', arguments: { code } })
    expect(structuredContent).toMatchObject({ exists: 1, missing: 2, unknown: 0 })
    expect(JSON.stringify(content)).toContain('2:1 light(): not in this version, takes 0 to 1 argument, got 2')
  } finally {
    await client.close()
  }
})

test('check reads Python from the environment of the project', async () => {
  sandbox.write({
    'app/requirements.txt': 'lamp-post==1.0\n',
    'app/.venv/lib/python3.11/site-packages/lamp_post-1.0.dist-info/RECORD': 'lamp/__init__.py,,\n',
    'app/.venv/lib/python3.11/site-packages/lamp/__init__.py': 'def light(watts=1): ...\n',
    'app/a.py': 'import lamp\nlamp.light(wats=1)\nlamp.ligth()\n',
  })
  const { code, stdout } = await check('app/a.py')
  expect(code).toBe(1)
  expect(stdout.split('\n')).toEqual([
    'app/a.py:2:12 wats: not in this version, no parameter wats, did you mean watts? (lamp-post@1.0 lamp/__init__.py:1)',
    'app/a.py:3:6 lamp.ligth: not in this version, no attribute ligth, did you mean light? (lamp-post@1.0 lamp/__init__.py:1)',
    '',
  ])
})
