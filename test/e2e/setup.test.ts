import * as fs from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

test('a copy of a file from before is named only if there is one', async () => {
  const entry = '{"mcpServers": {"pharos": {"command": "old"}, "other": {"command": "other"}}}'
  sandbox.write({ '.cursor/mcp.json': entry })
  const updated = await sandbox.runInProcess(['setup', '--client', 'cursor', '--yes'])
  expect(updated.stdout).toMatch(/^Cursor +server +updated +\.cursor\/mcp\.json$/m)
  expect(fs.existsSync(sandbox.path('.cursor/mcp.json.before-pharos'))).toBe(false)
  sandbox.write({ '.cursor/mcp.json': '{"mcpServers": {}}' })
  const added = await sandbox.runInProcess(['setup', '--client', 'cursor', '--yes'])
  expect(added.stdout).toContain('(before: .cursor/mcp.json.before-pharos)')
  const again = await sandbox.runInProcess(['setup', '--client', 'cursor', '--yes', '--library', 'x.db'])
  expect(again.stdout).toMatch(/updated .*\(before: \.cursor\/mcp\.json\.before-pharos\)$/m)
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

test.each([
  'postgres://me:s3cret@db.example/docs',
  'postgres://me@db.example/docs?sslmode=require&password=s3cret',
  'postgres://me:s3cret@/docs?host=/run',
])('the password of %s is not written into files of other programs', async (library) => {
  sandbox.write({ '.cursor/mcp.json': '{}' })
  const { code, stderr } = await sandbox.runInProcess(['setup', '--yes', '--library', library])
  expect(code).toBe(2)
  expect(stderr).toContain('the address has a password')
  expect(fs.readFileSync(sandbox.path('.cursor/mcp.json'), 'utf8')).toBe('{}')
})

describe('setup --timer', () => {
  const units = () => ['service', 'timer'].map((kind) => sandbox.path(`.config/systemd/user/pharos-refresh.${kind}`))

  test('shows two units of systemd, writes them so that their command runs, and removes them', async () => {
    const library = sandbox.path('my "50%" $HOME library.db')
    const noVariables = { PHAROS_EMBED: '' }
    const dryRun = await sandbox.run(['setup', '--timer', '--dry-run', '--library', library], noVariables)
    expect(dryRun).toMatchObject({ code: 0, stderr: '' })
    expect(dryRun.stdout).toMatch(/^systemd +service +add +\.config\/systemd\/user\/pharos-refresh\.service$/m)
    expect(dryRun.stdout).toContain('  OnUnitInactiveSec=10min')
    expect(dryRun.stdout).toContain('nothing was written')
    expect(units().some((file) => fs.existsSync(file))).toBe(false)

    const written = await sandbox.run(['setup', '--timer', '--yes', '--library', library], noVariables)
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toContain('systemctl --user enable --now pharos-refresh.timer')
    await verifyUnits(units())
    const [command = '', ...args] = readCommand(fs.readFileSync(units()[0] ?? '', 'utf8'))
    expect(isAbsolute(command)).toBe(true)
    expect(await sandbox.start(command, args, {}).ended).toMatchObject({ code: 0, stderr: '' })
    expect(fs.existsSync(library)).toBe(true)

    const again = await sandbox.run(['setup', '--timer', '--yes', '--library', library])
    expect(again.stdout).toContain('nothing to change')
    // systemd makes this link when the timer is enabled.
    fs.mkdirSync(sandbox.path('.config/systemd/user/timers.target.wants'))
    fs.symlinkSync(units()[1] ?? '', sandbox.path('.config/systemd/user/timers.target.wants/pharos-refresh.timer'))
    const removed = await sandbox.run(['setup', '--timer', '--remove', '--yes'])
    expect(removed.code).toBe(0)
    expect(removed.stdout).toContain('systemctl --user stop pharos-refresh.timer')
    expect(fs.readdirSync(sandbox.path('.config/systemd/user'), { recursive: true })).toEqual(['timers.target.wants'])
  })

  test('passes the configuration file on, and leaves units of the user alone', async () => {
    sandbox.write({
      'pharos.config.json': '{ "library": "own.db" }',
      '.config/systemd/user/pharos-refresh.timer': '# mine\n',
    })
    const { code, stdout } = await sandbox.run(['setup', '--timer', '--yes'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^systemd +timer +left alone .*it lacks the mark/m)
    const [service = ''] = units()
    expect(fs.readFileSync(service, 'utf8')).toContain(`--config ${sandbox.path('pharos.config.json')}`)
    expect((await sandbox.run(['setup', '--timer', '--remove', '--yes'])).code).toBe(1)
    expect(units().map((file) => fs.existsSync(file))).toEqual([false, true])
  })

  test('names the default library, which depends on the environment, and the variables that the timer lacks', async () => {
    sandbox.write({
      'pharos.config.json': JSON.stringify({
        siteHeaders: { 'docs.example.com': { Cookie: 'DOCS_COOKIE' } },
        gitTokens: ['git.example=GIT_TOKEN'],
        registryTokens: ['npm.example=NPM_TOKEN'],
      }),
    })
    const environment = {
      XDG_DATA_HOME: sandbox.path('data'),
      PHAROS_PROXY: 'http://me:s3cret@proxy.example',
      PHAROS_PORT: '1',
    }
    const { code, stdout, stderr } = await sandbox.run(['setup', '--timer', '--dry-run', '--json'], environment)
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^the timer does not have (?:PHAROS_EMBED|PHAROS_PROXY|, | and |GIT_TOKEN|NPM_TOKEN|DOCS_COOKIE)+, which/,
    )
    for (const name of ['PHAROS_PROXY', 'GIT_TOKEN', 'NPM_TOKEN', 'DOCS_COOKIE']) expect(stderr).toContain(name)
    expect(stderr).toContain('systemctl --user edit pharos-refresh.service')
    expect(stdout + stderr).not.toContain('s3cret')
    await sandbox.run(['setup', '--timer', '--yes'], environment)
    const words = readCommand(fs.readFileSync(units()[0] ?? '', 'utf8'))
    expect(words[words.indexOf('--library') + 1]).toBe(sandbox.path('data/pharos/library.db'))
  })

  test('refuses the password of a library, and options of agents', async () => {
    const address = 'postgres://me:s3cret@db.example/docs'
    const refused = await sandbox.run(['setup', '--timer', '--yes'], { PHAROS_LIBRARY: address })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('the address has a password')
    expect(refused.stderr).not.toContain('s3cret')
    const { code, stderr } = await sandbox.run(['setup', '--timer', '--client', 'cursor'])
    expect(code).toBe(2)
    expect(stderr).toContain('--timer takes no options of agents')
  })
})

/** Lets systemd check units, where it is installed. */
async function verifyUnits(files: readonly string[]): Promise<void> {
  if (!fs.existsSync('/usr/bin/systemd-analyze')) return
  const environment = { XDG_RUNTIME_DIR: sandbox.folder, SYSTEMD_LOG_LEVEL: 'warning' }
  const { ended } = sandbox.start('/usr/bin/systemd-analyze', ['verify', '--user', '--man=no', ...files], environment)
  expect(await ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
}

/** The words of `ExecStart`, by the quoting rules of systemd. */
function readCommand(unit: string): string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? ''
  const words = line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []
  return words.map((word) => {
    const plain = word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word
    return plain.replaceAll('%%', '%').replaceAll('$$', '$')
  })
}
