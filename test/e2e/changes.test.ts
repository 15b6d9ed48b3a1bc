import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProgramSandbox } from './program.ts'
import { startServer } from './server.ts'

let sandbox: ProgramSandbox

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  for (const [version, types] of [
    ['1.0.0', OLD],
    ['2.0.0', NEW],
  ] as const) {
    const packages = { '': { dependencies: { lamp: '*' } }, 'node_modules/lamp': { version } }
    sandbox.write({
      'app/package.json': JSON.stringify({ name: 'tower', dependencies: { lamp: '*' } }),
      'app/package-lock.json': JSON.stringify({ name: 'tower', lockfileVersion: 3, packages }),
      'app/node_modules/lamp/package.json': JSON.stringify({ name: 'lamp', version, types: 'index.d.ts' }),
      'app/node_modules/lamp/index.d.ts': types,
    })
    await sandbox.runInProcess(['deps', 'app', '--add', '--library', sandbox.path('library.db')])
  }
})

afterEach(() => sandbox.remove())

const OLD =
  'export interface Wick { size: number }\nexport declare function glow(): void\nexport declare function dim(): void\n'
const NEW = 'export declare function light(options?: { watts?: number }): void\n'

const changes = (...args: readonly string[]) =>
  sandbox.runInProcess(['changes', ...args, '--library', sandbox.path('library.db')])

test('changes lists what is gone between two versions of a package, and only what code uses with --for', async () => {
  const { code, stdout } = await changes('lamp', '--from', '1', '--to', '2', '--json')
  expect(code).toBe(0)
  const { from, to, changes: found, totals } = JSON.parse(stdout)
  expect([from, to, totals]).toEqual(['lamp@1.0.0', 'lamp@2.0.0', { removed: 3, added: 1 }])
  expect(found.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)).toEqual([
    'removed glow',
    'removed dim',
    'removed Wick',
    'added light',
  ])
  sandbox.write({ 'app/src/a.ts': "import { dim } from 'lamp'\ndim()\n", 'other/b.ts': 'export const one = 1\n' })
  const used = await changes('lamp', '--for', sandbox.path('app/src'))
  expect(used.stdout).toMatch(/^Removed \(1\)\n {2}dim /)
  expect(used.stdout).not.toContain('glow')
  const unused = await changes('lamp', '--for', sandbox.path('other'))
  expect([unused.code, unused.stdout]).toEqual([0, ''])
  expect(unused.stderr).toContain('imports lamp')
})

test('changes says which versions the library has, and how to add another', async () => {
  const missing = await changes('lamp', '--from', '7')
  expect(missing.code).not.toBe(0)
  expect(missing.stderr).toContain('no version 7 of lamp; the library has 2.0.0, 1.0.0')
  expect(missing.stderr).toContain('pharos add npm:lamp@7')
  expect((await changes('lamp', '--from', '2', '--to', '2')).stderr).toContain('both versions are lamp@2.0.0')
  const named = await changes('lamp@2.0.0')
  expect(named.stderr).toContain('lamp@1.0.0 → lamp@2.0.0')
})

test('changes compares the packages whose names a package passes on, in the same versions', async () => {
  const take = async (version: string, core: string, ...names: string[]) => {
    const installed = names.map((name) => [`node_modules/${name}`, { version }] as const)
    const dependencies = Object.fromEntries(names.map((name) => [name, '*']))
    sandbox.write({
      'app/package.json': JSON.stringify({ name: 'tower', dependencies }),
      'app/package-lock.json': JSON.stringify({
        name: 'tower',
        lockfileVersion: 3,
        packages: { '': { dependencies }, ...Object.fromEntries(installed) },
      }),
      'app/node_modules/@lamp/react/package.json': JSON.stringify({ name: '@lamp/react', version, types: 'a.d.ts' }),
      'app/node_modules/@lamp/react/a.d.ts': "export * from '@lamp/core'\nexport declare function useLamp(): void\n",
      'app/node_modules/@lamp/core/package.json': JSON.stringify({ name: '@lamp/core', version, types: 'b.d.ts' }),
      'app/node_modules/@lamp/core/b.d.ts': core,
    })
    await sandbox.runInProcess(['deps', 'app', '--add', '--library', sandbox.path('library.db')])
  }
  await take('1.0.0', OLD, '@lamp/react')
  await take('2.0.0', NEW, '@lamp/react')
  const alone = await changes('@lamp/react', '--from', '1', '--to', '2')
  expect(alone.stderr).toContain('exports all of @lamp/core, which is not compared')
  expect(alone.stderr).toContain('pharos add npm:@lamp/core@1.0.0')
  expect(alone.stdout).not.toContain('glow')
  await take('1.0.0', OLD, '@lamp/react', '@lamp/core')
  await take('2.0.0', NEW, '@lamp/react', '@lamp/core')
  const { stdout, stderr } = await changes('@lamp/react', '--from', '1', '--to', '2')
  expect(stdout).toMatch(/^Removed \(3\)\n {2}glow {2}pkg:npm\/%40lamp\/core@1\.0\.0/)
  expect(stderr).not.toContain('not compared')
})

test('what_changed and GET /api/changes answer the same', async () => {
  const [command, program] = sandbox.command
  const args = [program, 'mcp', '--library', sandbox.path('library.db')]
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command, args, cwd: sandbox.folder, env: sandbox.environment, stderr: 'ignore' }),
  )
  try {
    const { structuredContent, content } = await client.callTool({
      name: 'what_changed',
      arguments: { source: 'lamp', from: '1', to: '2' },
    })
    expect(structuredContent).toMatchObject({
      from: 'lamp@1.0.0',
      to: 'lamp@2.0.0',
      isLastCrawl: false,
      totals: { removed: 3, added: 1 },
    })
    expect(JSON.stringify(content)).toContain('Removed (3)')
    sandbox.write({ 'app/src/a.ts': "import { dim } from 'lamp'\ndim()\n", 'b.ts': 'export const one = 1\n' })
    const call = (folder: string) =>
      client.callTool({ name: 'what_changed', arguments: { source: 'lamp', from: '1', to: '2', for: folder } })
    expect((await call('app/src')).structuredContent).toMatchObject({ totals: { removed: 1 } })
    expect(await call('..')).toMatchObject({ isError: true })
    expect(JSON.stringify((await call('..')).content)).toContain('is not in the project')
    expect(JSON.stringify((await call('missing')).content)).toContain('missing')
  } finally {
    await client.close()
  }
  const server = await startServer(sandbox)
  const answer = await server.get('/api/changes?source=lamp&from=1&to=2')
  server.kill('SIGTERM')
  await server.ended
  expect(answer).toMatchObject({ from: 'lamp@1.0.0', to: 'lamp@2.0.0', totals: { removed: 3, added: 1 } })
  expect(JSON.stringify(answer['parts'])).toContain('function glow(): void')
  // The page of changes links to the reader with it.
  expect(JSON.stringify(answer['parts'])).toMatch(/"sourceId":"[\w-]+"/)
})
