import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasAllOf } from '../../test/has-all-of.ts'
import { AGENTS, type UserFolders } from './agents.ts'
import { applyChanges } from './apply-changes.ts'
import { readJsonEntry } from './edit-json.ts'
import { findAgents, planRemoval, planSetup, type SetupRequest, writeSnippet } from './plan-setup.ts'

const SKILL = 'the skill\n<!-- Written by `pharos setup` -->\n'
const SERVER = { command: '/opt/pharos/pharos', args: ['mcp'] }

let root: string
let folders: UserFolders

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pharos-setup-')))
  folders = { home: root, applicationConfig: join(root, '.config'), config: join(root, '.config') }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** All files below a folder with their texts. */
function readTree(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  )
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function agentOf(id: string) {
  const agent = AGENTS.find((one) => one.id === id)
  if (agent === undefined) throw new Error(`Expected an agent, got ${id}`)
  return agent
}

/** Configuration files as people have them, by agent. */
const FILES: Record<string, readonly string[]> = {
  'claude-code': [
    '{"numStartups":12,"projects":{"/home/me/a":{"mcpServers":{},"history":[]}},"mcpServers":{"github":{"type":"http","url":"https://api.example.com/mcp"}}}',
    '{\n  "numStartups": 3,\n  "tipsHistory": {\n    "a": 1\n  },\n  "userID": "0123"\n}',
    '{\n  "mcpServers": {}\n}\n',
    '{}',
  ],
  'claude-desktop': [
    '{\n    "mcpServers": {\n        "filesystem": {\n            "command": "npx",\n            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]\n        }\n    }\n}',
    '\uFEFF{\r\n  "mcpServers": {\r\n    "a": { "command": "C:\\\\Program Files\\\\a.exe" }\r\n  },\r\n  "globalShortcut": "Ctrl+Space"\r\n}\r\n',
    '',
    '{\n  "scale": 0,\n  "locale": "en-US"\n}',
  ],
  cursor: [
    '{\n  "mcpServers": {\n    "context7": {\n      "url": "https://example.com/mcp",\n      "headers": { "KEY": "x" }\n    },\n    "x": { "command": "uvx", "args": ["x"], "env": { "A": "b" } }\n  }\n}\n',
    '{"mcpServers":{}}',
    '{\n\t"mcpServers": {\n\t\t"one": {"command": "one"},\n\t},\n}\n',
    '{\n  "mcpServers": {\n    // "off": { "command": "off" },\n    "on": { "command": "on" } // keep this\n  }\n}\n',
  ],
  vscode: [
    '{\n\t"servers": {\n\t\t"memory": {\n\t\t\t"command": "npx",\n\t\t\t"args": ["-y", "@modelcontextprotocol/server-memory"]\n\t\t}\n\t},\n\t"inputs": [\n\t\t{ "type": "promptString", "id": "key", "description": "API key", "password": true }\n\t]\n}',
    '{\n  "inputs": [],\n  "servers": {\n  }\n}\n',
    '// MCP servers of this user\n{\n  "servers": {}, // none\n}\n',
    '\n',
  ],
  windsurf: [
    '{\n  "mcpServers": {\n    "remote": {\n      "serverUrl": "https://example.com/sse"\n    }\n  }\n}',
    '{ "mcpServers": { "a": { "command": "a", "disabled": true } } }',
    '{\n}\n',
  ],
  codex: [
    'model = "gpt-5"\n\n# servers\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\n\n[mcp_servers.docs.env]\nKEY = "x"\n\n[projects."/home/me/a"]\ntrust_level = "trusted"\n',
    'approval_policy = "never" # mine\nnotify = [\n  "python3",\n  "/x.py", # last\n]\n',
    '[tools]\r\nweb_search = true\r\n',
    '',
    'model = "o4"',
    '[mcp_servers]\ndocs = { command = "npx" }\n\n[tools]\nweb_search = true\n',
  ],
  gemini: [
    '{\n  "security": { "auth": { "selectedType": "oauth-personal" } },\n  "ui": { "theme": "Default" }\n}',
    '{\n  "mcpServers": {\n    "x": { "httpUrl": "http://127.0.0.1:1/mcp", "timeout": 5000 }\n  },\n  "contextFileName": "AGENTS.md"\n}\n',
    '{\n  // "theme": "GitHub",\n}\n',
  ],
  zed: [
    '// Zed settings\n//\n// For information on how to configure Zed, see the Zed\n// documentation.\n{\n  "ui_font_size": 16,\n  "theme": {\n    "mode": "system",\n    "light": "One Light",\n    "dark": "One Dark",\n  },\n}\n',
    '{\n  "context_servers": {\n    "local": {\n      "command": "some",\n      "args": ["a"],\n      "env": {},\n    },\n  },\n  "vim_mode": true, // yes\n}\n',
    '/* all defaults */\n{ }\n',
  ],
  opencode: [
    '{\n  "$schema": "https://opencode.ai/config.json",\n  "model": "x/y",\n  "mcp": {\n    "a": {\n      "type": "local",\n      "command": ["bun", "x", "a"],\n      "enabled": true\n    }\n  }\n}\n',
    '{ "$schema": "https://opencode.ai/config.json" }',
    '{\n  "mcp": { "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false } },\n  "permission": { "edit": "ask", "bash": "ask", },\n}\n',
  ],
}

const cases = Object.entries(FILES).flatMap(([id, texts]) => texts.map((text) => [id, text] as const))

test('there are at least 30 of them', () => {
  expect(cases.length).toBeGreaterThanOrEqual(30)
})

describe.each(cases)('the configuration of %s %j', (id, text) => {
  test('changes only by our entry, and is restored when that is removed', () => {
    const agent = agentOf(id)
    const file = agent.globalFile(folders)
    put(file, text)
    chmodSync(file, 0o600)
    const request: SetupRequest = { folders, server: SERVER, agents: [id] }
    const parsed = (json: string) => (agent.format === 'toml' ? parse(json) : readJsonEntry(json, [])) ?? {}
    const before = parsed(text) as Record<string, Record<string, unknown>>

    expect(applyChanges(planSetup(request))).toEqual([])
    const [key = ''] = agent.servers
    const expected = { ...before, [key]: { ...before[key], pharos: agent.writeEntry(SERVER) } }
    expect(parsed(readFileSync(file, 'utf8'))).toEqual(expected)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(planSetup(request).map(({ status }) => status)).toEqual(['unchanged'])
    expect(hasAllOf(readFileSync(file, 'utf8'), text.trim())).toBe(true)

    const moved = { ...request, server: { ...SERVER, command: '/other/pharos' } }
    expect(applyChanges(planSetup(moved))).toEqual([])
    expect(applyChanges(planRemoval(request))).toEqual([])
    expect(readTree(root)).toEqual({ [file]: text })
  })

  test('keeps what was added after the setup', () => {
    const agent = agentOf(id)
    const file = agent.globalFile(folders)
    put(file, text)
    const request: SetupRequest = { folders, server: SERVER, agents: [id] }
    applyChanges(planSetup(request))
    writeFileSync(file, `${readFileSync(file, 'utf8')}${agent.format === 'toml' ? '# later\n' : '// later\n'}`)
    applyChanges(planRemoval(request))
    const left = readFileSync(file, 'utf8')
    expect(left).not.toContain('pharos')
    expect(left).toContain(agent.format === 'toml' ? '# later' : '// later')
    expect(existsSync(`${file}.before-pharos`)).toBe(false)
  })
})

describe('a file that cannot be edited is left alone', () => {
  test.each([
    ['cursor', '{ "mcpServers": { ', 'line 1: it is not valid JSON'],
    ['zed', '{\n  "a": 1\n  "b": 2\n}', 'line 3: it is not valid JSON'],
    ['gemini', '{ "mcpServers": [] }', 'line 1: "mcpServers" is not an object'],
    ['codex', 'model = \n', 'line 1'],
    ['codex', 'a = """\n[mcp_servers.pharos]\n"""\n\n[mcp_servers.pharos]\ncommand = "x"\n', 'change it by hand'],
    ['codex', '[mcp_servers.pharos]\ncommand = "x"\n[o]\n[mcp_servers.pharos.env]\nA = "b"\n', 'change it by hand'],
    ['codex', '[[mcp_servers]]\na = 1\n', 'change it by hand'],
    ['codex', 'mcp_servers = { a = { command = "x" } }\n', 'mcp_servers is not a table with a header of its own'],
  ])('%s %j', (id, text, problem) => {
    const file = agentOf(id).globalFile(folders)
    put(file, text)
    const [change] = planSetup({ folders, server: SERVER, agents: [id] })
    expect(change).toMatchObject({ status: 'left-alone', before: text, after: text })
    expect(change?.problem).toContain(problem)
    applyChanges(change === undefined ? [] : [change])
    expect(readTree(root)).toEqual({ [file]: text })
  })

  test('because it is not UTF-8', () => {
    const file = agentOf('cursor').globalFile(folders)
    put(file, '')
    writeFileSync(file, Buffer.from([0x7b, 0x2f, 0x2f, 0xe9, 0x0a, 0x7d]))
    const plan = planSetup({ folders, server: SERVER, agents: ['cursor'] })
    expect(plan.map(({ status, problem }) => `${status}: ${problem}`)).toEqual(['left-alone: it is not UTF-8'])
  })

  test('because it is read-only, or changed since it was read', () => {
    const file = agentOf('cursor').globalFile(folders)
    put(file, '{}')
    chmodSync(file, 0o444)
    const plan = planSetup({ folders, server: SERVER, agents: ['cursor'] })
    expect(applyChanges(plan).map(({ problem }) => problem)).toEqual(['it is read-only'])
    chmodSync(file, 0o644)
    writeFileSync(file, '{"a":1}')
    expect(applyChanges(plan).map(({ problem }) => problem)).toEqual([
      'it changed in the meantime; run the command again',
    ])
    expect(readTree(root)).toEqual({ [file]: '{"a":1}' })
  })
})

test('a symbolic link stays one, and its target is changed and restored', () => {
  const target = join(root, 'dotfiles', 'mcp.json')
  put(target, '{ "mcpServers": {} }\n')
  const file = agentOf('cursor').globalFile(folders)
  mkdirSync(dirname(file))
  symlinkSync(target, file)
  const request = { folders, server: SERVER, agents: ['cursor'] }
  applyChanges(planSetup(request))
  expect(readFileSync(target, 'utf8')).toContain('/opt/pharos/pharos')
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
  applyChanges(planRemoval(request))
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
  expect(readFileSync(target, 'utf8')).toBe('{ "mcpServers": {} }\n')
})

test('only installed agents are changed, and files that were created are removed again', () => {
  mkdirSync(join(root, '.cursor'))
  mkdirSync(join(root, '.claude'))
  expect(findAgents(folders).map(({ id }) => id)).toEqual(['claude-code', 'cursor'])
  const request = { folders, server: SERVER, skill: SKILL }
  const plan = planSetup(request)
  expect(plan.map(({ program, kind, status }) => `${program.id} ${kind} ${status}`)).toEqual([
    'claude-code server add',
    'claude-code skill add',
    'cursor server add',
  ])
  applyChanges(plan)
  expect(readFileSync(join(root, '.claude/skills/pharos/SKILL.md'), 'utf8')).toBe(SKILL)
  // An upgrade writes other texts.
  const upgraded = { ...request, server: { ...SERVER, command: '/new/pharos' }, skill: `new ${SKILL}` }
  applyChanges(planSetup(upgraded))
  expect(readFileSync(join(root, '.claude/skills/pharos/SKILL.md'), 'utf8')).toBe(`new ${SKILL}`)
  applyChanges(planRemoval(request))
  expect(readTree(root)).toEqual({})
  expect(existsSync(join(root, '.claude/skills/pharos'))).toBe(false)
  expect(existsSync(join(root, '.cursor'))).toBe(true)
})

test('a skill that the user wrote or made their own stays', () => {
  const file = join(root, '.claude/skills/pharos/SKILL.md')
  put(file, 'mine')
  const request = { folders, server: SERVER, skill: SKILL, agents: ['claude-code'] }
  for (const plan of [planSetup(request), planRemoval(request)]) {
    expect(plan.find(({ kind }) => kind === 'skill')).toMatchObject({ status: 'left-alone', after: 'mine' })
  }
})

test('fields that the user added to our entry stay, and a hand-written entry is removed', () => {
  const file = agentOf('cursor').globalFile(folders)
  put(file, '{"mcpServers":{"pharos":{"command":"old","env":{"A":"b"}}}}')
  const request = { folders, server: SERVER, agents: ['cursor'] }
  applyChanges(planSetup(request))
  expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers.pharos).toEqual({ ...SERVER, env: { A: 'b' } })
  applyChanges(planRemoval(request))
  expect(readTree(root)).toEqual({ [file]: '{"mcpServers":{}}' })
})

test('a removal after a setup, a rewrite by the user and another setup returns to the rewrite', () => {
  const file = agentOf('codex').globalFile(folders)
  put(file, 'model = "a"\n')
  const request = { folders, server: SERVER, agents: ['codex'] }
  applyChanges(planSetup(request))
  writeFileSync(file, 'model = "b"\n')
  applyChanges(planSetup(request))
  applyChanges(planRemoval(request))
  expect(readTree(root)).toEqual({ [file]: 'model = "b"\n' })
})

test('only our table of a TOML file changes', () => {
  const other = '# my servers\n# [mcp_servers.off]\n[mcp_servers."pharos.dev"]\ncommand = "y"\n'
  const file = agentOf('codex').globalFile(folders)
  put(file, `[mcp_servers.pharos]\ncommand = "x"\n\n${other}`)
  const request = { folders, server: SERVER, agents: ['codex'] }
  applyChanges(planSetup(request))
  expect(readFileSync(file, 'utf8')).toBe(
    `[mcp_servers.pharos]\ncommand = "/opt/pharos/pharos"\nargs = [ "mcp" ]\n\n${other}`,
  )
  applyChanges(planRemoval(request))
  expect(readFileSync(file, 'utf8')).toBe(other)
})

test('a project gets the files of those agents that read them there', () => {
  const project = join(root, 'project')
  mkdirSync(project)
  const agents = AGENTS.map(({ id }) => id)
  applyChanges(planSetup({ folders, project, server: SERVER, agents, skill: SKILL }))
  expect(
    Object.keys(readTree(root))
      .map((file) => file.slice(project.length + 1))
      .sort((a, b) => (a < b ? -1 : 1)),
  ).toEqual([
    '.claude/skills/pharos/SKILL.md',
    '.codex/config.toml',
    '.cursor/mcp.json',
    '.gemini/settings.json',
    '.mcp.json',
    '.vscode/mcp.json',
    '.zed/settings.json',
    'opencode.json',
  ])
})

test('snippets are whole files', () => {
  expect(writeSnippet(agentOf('codex'), SERVER)).toBe(
    '[mcp_servers.pharos]\ncommand = "/opt/pharos/pharos"\nargs = [ "mcp" ]\n',
  )
  expect(JSON.parse(writeSnippet(agentOf('opencode'), SERVER))).toEqual({
    mcp: { pharos: { type: 'local', command: ['/opt/pharos/pharos', 'mcp'], enabled: true } },
  })
})
