import * as fs from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProgramSandbox } from './program.ts'

const ROOT = join(import.meta.dirname, '../..')

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(() => sandbox.remove())

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(fs.readFileSync(file, 'utf8'))
}

test('setup writes a configuration with which an agent starts Pharos and finds a passage, and removes it again', async () => {
  const cursor = '{\n  "mcpServers": {\n    "other": { "command": "other" } // mine\n  }\n}\n'
  sandbox.write({
    '.cursor/mcp.json': cursor,
    '.claude/settings.json': '{}',
    'docs/guide.md': '# Guide\n\nThe lamp is lit at dusk by the keeper.\n',
  })
  const dryRun = await sandbox.run(['setup', '--dry-run'])
  expect(dryRun).toMatchObject({ code: 0, stderr: '' })
  expect(dryRun.stdout).toMatch(/^Cursor +server +add +\.cursor\/mcp\.json/m)
  expect(fs.existsSync(sandbox.path('.claude.json'))).toBe(false)

  const refused = await sandbox.run(['setup'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('add --yes')

  const library = sandbox.path('library.db')
  const written = await sandbox.run(['setup', '--yes', '--library', library])
  expect(written).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Add some first: pharos add') })
  const skill = fs.readFileSync(join(ROOT, 'plugin/skills/pharos/SKILL.md'), 'utf8')
  expect(fs.readFileSync(sandbox.path('.claude/skills/pharos/SKILL.md'), 'utf8')).toBe(skill)
  expect((await sandbox.run(['add', 'docs', '--library', library])).code).toBe(0)

  const { mcpServers } = readJson(sandbox.path('.claude.json')) as {
    mcpServers: { pharos: { command: string; args: string[] } }
  }
  const client = new Client({ name: 'test', version: '0.0.0' })
  const { command, args } = mcpServers.pharos
  await client.connect(new StdioClientTransport({ command, args, env: sandbox.environment, stderr: 'ignore' }))
  const answer = await client.callTool({ name: 'search_docs', arguments: { query: 'when is the lamp lit' } })
  await client.close()
  expect(JSON.stringify(answer.content)).toContain('lit at dusk')

  expect(await sandbox.run(['setup', '--remove', '--yes'])).toMatchObject({ code: 0 })
  expect(fs.readFileSync(sandbox.path('.cursor/mcp.json'), 'utf8')).toBe(cursor)
  expect(fs.existsSync(sandbox.path('.claude.json'))).toBe(false)
  expect(fs.existsSync(sandbox.path('.claude/skills/pharos'))).toBe(false)
  const again = await sandbox.run(['setup', '--yes', '--library', library])
  expect(again.stdout).toContain('then ask one of them about docs.')
})

test('a file that cannot be parsed is named with its line, and the exit code is 1', async () => {
  sandbox.write({ '.cursor/mcp.json': '{ "mcpServers": ' })
  const { code, stdout } = await sandbox.run(['setup', '--yes'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^Cursor +server +left alone +\.cursor\/mcp\.json: line 1: it is not valid JSON$/m)
})

test('setup prints the lines to add if it finds no agent, and refuses the name of an unknown one', async () => {
  const { code, stdout } = await sandbox.run(['setup'])
  expect(code).toBe(0)
  expect(stdout).toContain('[mcp_servers.pharos]')
  expect(stdout).toContain('"context_servers"')
  const unknown = await sandbox.run(['setup', '--client', 'emacs'])
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('--client: expected some of claude-code')
})

test('the password of a library is not written into files of other programs', async () => {
  sandbox.write({ '.cursor/mcp.json': '{}' })
  const { code, stderr } = await sandbox.run(['setup', '--yes', '--library', 'postgres://me:s3cret@db.example/docs'])
  expect(code).toBe(2)
  expect(stderr).toContain('the address has a password')
  expect(fs.readFileSync(sandbox.path('.cursor/mcp.json'), 'utf8')).toBe('{}')
})

test('the plugin has the version of the package', () => {
  const { version } = readJson(join(ROOT, 'package.json'))
  expect(readJson(join(ROOT, 'plugin/.claude-plugin/plugin.json'))['version']).toBe(version)
})
