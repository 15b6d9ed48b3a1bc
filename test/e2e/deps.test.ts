import * as fs from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(() => sandbox.remove())

/** Installs packages in the project, as npm does, with their lock file. */
function install(versions: Readonly<Record<string, string>>): void {
  const packages: Record<string, unknown> = { '': { name: 'tower', dependencies: versions } }
  for (const [name, version] of Object.entries(versions)) {
    packages[`node_modules/${name}`] = { version }
    sandbox.write({
      [`app/node_modules/${name}/package.json`]: JSON.stringify({ name, version, types: 'index.d.ts' }),
      [`app/node_modules/${name}/README.md`]: `# ${name}\n\nThis is ${name} ${version}.\n`,
      [`app/node_modules/${name}/index.d.ts`]: `/** Lights ${name}. */\nexport declare function light(): void\n`,
    })
  }
  sandbox.write({
    'app/package.json': JSON.stringify({ name: 'tower', dependencies: versions }),
    'app/package-lock.json': JSON.stringify({ name: 'tower', lockfileVersion: 3, packages }),
  })
}

const deps = (...args: readonly string[]) => sandbox.runInProcess(['deps', 'app', ...args])

test('deps takes in exactly the installed versions, follows an upgrade, and removes only what it is told to', async () => {
  install({ lamp: '1.0.0', wick: '2.0.0' })
  const before = await deps()
  expect(before.stdout).toMatch(/^lamp +1\.0\.0 +direct +installed +no$/m)
  expect(before.stderr).toContain('2 not in the library')

  expect(await deps('--add')).toMatchObject({
    code: 0,
    stdout: 'tower: 2 packages read, 0 already in the library, 0 failed\n',
  })
  const { stdout } = await sandbox.runInProcess(['search', 'light lamp', '--source', 'lamp'])
  expect(stdout).toContain('function light(): void')

  install({ lamp: '1.1.0', wick: '2.0.0' })
  const synced = await deps('--sync')
  expect(synced.stdout).toBe('tower: 1 package read, 1 already in the library, 0 failed\n')
  expect(synced.stderr).toContain('lamp@1.0.0 is no longer used by tower')

  expect((await deps('--prune')).stdout).toBe('lamp@1.0.0\n')
  expect((await sandbox.runInProcess(['list'])).stdout).toContain('lamp@1.0.0')
  expect(await deps('--prune', '--yes')).toMatchObject({ code: 0, stdout: 'lamp@1.0.0\n' })
  const left = JSON.parse((await sandbox.runInProcess(['list', '--json'])).stdout)
  const labels = left.sources.map((one: { name: string; version: string }) => `${one.name}@${one.version}`)
  expect(labels.sort()).toEqual(['lamp@1.1.0', 'wick@2.0.0'])
})

test('an agent that starts in the project takes in its packages, and is answered for exactly these versions', async () => {
  install({ lamp: '1.0.0' })
  const client = new Client({ name: 'test', version: '0.0.0' })
  const [command, program] = sandbox.command
  const cwd = sandbox.path('app')
  const args = [program, 'mcp', '--library', sandbox.path('library.db')]
  await client.connect(new StdioClientTransport({ command, args, cwd, env: sandbox.environment, stderr: 'ignore' }))
  try {
    const synced = await client.callTool({ name: 'sync_project', arguments: {} })
    expect(synced.structuredContent).toEqual({
      project: 'tower',
      read: ['lamp@1.0.0'],
      ready: 0,
      failed: [],
      unused: [],
      documentation: [],
    })
    sandbox.write({ 'other/README.md': '# Other\n' })
    expect((await sandbox.run(['add', './other', '--name', 'a-other', '--library', 'library.db'])).code).toBe(0)
    const listed = await client.callTool({ name: 'list_sources', arguments: {} })
    expect(listed.structuredContent).toMatchObject({
      project: 'tower',
      sources: [
        { name: 'lamp', version: '1.0.0', inProject: true },
        { name: 'a-other', inProject: false },
      ],
    })
    expect(JSON.stringify(listed.content)).toMatch(/Used by the project tower:.*lamp@1\.0\.0.*Others:.*a-other/)
    install({ lamp: '2.0.0' })
    const again = await client.callTool({ name: 'sync_project', arguments: {} })
    expect(again.structuredContent).toMatchObject({ read: ['lamp@2.0.0'], unused: ['lamp@1.0.0'] })
    const answer = await client.callTool({ name: 'search_docs', arguments: { query: 'This is lamp' } })
    expect(JSON.stringify(answer.content)).toContain('lamp@2.0.0')
    expect(JSON.stringify(answer.content)).not.toContain('lamp@1.0.0')
  } finally {
    await client.close()
  }
})

test('deps reports what it cannot read, and ends with an error', async () => {
  install({ lamp: '1.0.0' })
  fs.rmSync(sandbox.path('app/node_modules'), { recursive: true })
  sandbox.write({ 'pharos.config.json': JSON.stringify({ npmRegistry: 'http://127.0.0.1:9/' }) })
  const { code, stdout, stderr } = await deps('--add')
  expect(stdout).toBe('tower: 0 packages read, 0 already in the library, 1 failed\n')
  expect(stderr).toContain('lamp could not be read')
  expect(code).toBe(1)
})

test.each([
  [['--prune', '--add'], '--prune: not together with --add or --sync'],
  [['--yes'], '--yes: only together with --prune'],
])('deps refuses %j', async (args, problem) => {
  const { code, stderr } = await deps(...args)
  expect(code).toBe(2)
  expect(stderr).toContain(problem)
})

test('deps names the line of a broken lock file', async () => {
  sandbox.write({ 'app/package.json': '{}', 'app/package-lock.json': '{\n  "packages": [}\n' })
  const { code, stderr } = await deps()
  expect(code).toBe(3)
  expect(stderr).toContain('package-lock.json')
  expect(stderr).toContain('line 2')
})

test.each([[], ['--add']])('deps %s in a folder without a project says so', async (...args) => {
  sandbox.write({ 'app/README.md': '# Empty\n' })
  const { code, stdout, stderr } = await deps(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('has no lock file or manifest')
})

test('deps says which packages it leaves out, and what a user can do', async () => {
  const dependencies = { lamp: '^1.0.0', wick: 'git+https://git.example/wick.git' }
  sandbox.write({ 'app/package.json': JSON.stringify({ name: 'tower', dependencies }) })
  for (const args of [[], ['--add']]) {
    const { stderr } = await deps(...args)
    expect(stderr).toContain('left out: wick: it comes from a repository')
    expect(stderr).toContain('no exact version is known of lamp: write a lock file or install the packages')
    expect(stderr).not.toContain('more;')
  }
})

test('deps takes in modules of Go from the module cache, and says which are not installed', async () => {
  const module = 'go/pkg/mod/github.com/!tower/!lamp@v1.2.0'
  sandbox.write({
    'app/go.mod':
      'module example.com/tower\n\nrequire (\n\tgithub.com/Tower/Lamp v1.2.0\n\ttower.example/wick v0.1.0\n)\n',
    [`${module}/README.md`]: '# Lamp\n\nThe lamp shines over the sea.\n',
    [`${module}/lamp.go`]:
      '// Package lamp lights towers.\npackage lamp\n\n// Ignite lights the lamp.\nfunc Ignite(oil int) {}\n',
  })
  const before = await deps()
  expect(before.stdout).toMatch(/^github\.com\/Tower\/Lamp +v1\.2\.0 +direct +installed +no$/m)
  expect(before.stdout).toMatch(/^tower\.example\/wick +v0\.1\.0 +direct +not installed +no$/m)
  expect(before.stderr).toContain('go mod download')
  const added = await deps('--add')
  expect(added.stdout).toBe('tower: 1 package read, 0 already in the library, 1 failed\n')
  expect(added.stderr).toContain('tower.example/wick could not be read: ')
  expect(added.stderr).toContain('run `go mod download`')
  const found = await sandbox.runInProcess(['search', 'Ignite lights the lamp', '--source', 'github.com/Tower/Lamp'])
  expect(found.stdout).toContain('// Ignite lights the lamp.')
})

test('deps shows the declarations of @types as pages of their package, not as a package', async () => {
  install({ lamp: '1.0.0', '@types/lamp': '1.0.3', '@types/node': '24.0.0' })
  fs.rmSync(sandbox.path('app/node_modules/lamp/index.d.ts'))
  const { stdout } = await deps()
  expect(stdout).not.toContain('@types/lamp')
  expect(stdout).toContain('@types/node')
  expect((await deps('--add')).stdout).toContain('2 packages read')
  const found = await sandbox.runInProcess(['search', 'light', '--source', 'lamp'])
  expect(found.stdout).toContain('function light(): void')
})

test('deps offers the documentation of a package that has hardly any text, with the locked version', async () => {
  install({ lamp: '1.0.0' })
  fs.rmSync(sandbox.path('app/node_modules/lamp/index.d.ts'))
  const manifest = { name: 'lamp', version: '1.0.0', homepage: 'https://lamp.example/docs/' }
  sandbox.write({ 'app/node_modules/lamp/package.json': JSON.stringify(manifest) })
  const offer = 'add https://lamp.example/docs/ --version 1.0.0'
  expect((await deps('--add')).stderr).toContain(offer)
  expect((await deps()).stderr).toContain(offer)
})
