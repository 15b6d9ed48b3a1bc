import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

/* Tests what registries and agents read about the package (`scripts/manifests.mjs`). */

const root = join(import.meta.dirname, '..')
const read = (path: string, folder = root) => readFileSync(join(folder, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as PackageManifest

interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly mcpName: string
  readonly repository?: { readonly url: string }
  readonly private?: boolean
}

const semanticVersion = z.string().regex(/^\d+\.\d+\.\d+$/)

/** The part of the schema of 2025-12-11 that we use: docs/reference/server-json of github.com/modelcontextprotocol/registry. */
const serverJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: semanticVersion,
  repository: z.strictObject({ url: z.url(), source: z.enum(['github', 'gitlab']) }).optional(),
  packages: z
    .tuple([
      z.strictObject({
        registryType: z.literal('npm'),
        identifier: z.string(),
        version: semanticVersion,
        runtimeHint: z.literal('npx'),
        transport: z.strictObject({ type: z.literal('stdio') }),
        packageArguments: z.tuple([z.strictObject({ type: z.literal('positional'), value: z.literal('mcp') })]),
      }),
    ])
    .optional(),
})

function runScript(folder: string, ...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/manifests.mjs'), ...args], {
    encoding: 'utf8',
  })
  return { status, stderr }
}

/** A temporary folder with another package.json, and with the files that the script reads and writes. */
function copyProject(changed: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-manifests-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of ['README.md', 'plugin', 'scripts/manifests.mjs', 'src/setup/agents.ts']) {
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(changed))
  return folder
}

/** The target of a link in the README. */
function linkOf(title: string, folder: string): URL {
  const [, url = ''] = new RegExp(`\\[${title}\\]\\((https:[^)]+)\\)`).exec(read('README.md', folder)) ?? []
  return new URL(url)
}

/** The configurations that the links of the README install. */
function readLinks(folder: string): { readonly cursor: unknown; readonly code: unknown } {
  const [cursor, code] = [linkOf('Cursor', folder), linkOf('VS Code', folder)]
  expect([cursor, code].map(({ searchParams }) => searchParams.get('name'))).toEqual(['pharos', 'pharos'])
  expect(`${cursor.origin}${cursor.pathname}`).toBe('https://cursor.com/en/install-mcp')
  expect(`${code.origin}${code.pathname}`).toBe('https://vscode.dev/redirect/mcp/install')
  const configOf = ({ searchParams }: URL) => searchParams.get('config') ?? ''
  return {
    cursor: JSON.parse(Buffer.from(configOf(cursor), 'base64').toString()),
    code: JSON.parse(configOf(code)),
  }
}

describe('the package', () => {
  test('can be published', () => {
    expect(manifest.private).toBeUndefined()
    expect(manifest.name).toMatch(/^(?:@[a-z0-9-]+\/)?[a-z0-9-]+$/)
  })

  test('is named for the MCP registry after the account that has its repository, once there is one', () => {
    const [, host, owner] = /^git\+https:\/\/(github|gitlab)\.com\/([^/]+)\//.exec(manifest.repository?.url ?? '') ?? []
    if (host !== undefined) expect(manifest.mcpName.split('/')[0]).toBe(`io.${host}.${owner}`)
    else expect(manifest.mcpName).not.toMatch(/^(?:io|com|org|net|dev)\./)
  })
})

describe('the manifests', () => {
  test('agree with package.json', () => {
    expect(runScript(root, '--check')).toEqual({ status: 0, stderr: '' })
  })

  test('server.json satisfies the schema of the MCP registry', () => {
    const { name, description, version } = serverJson.parse(JSON.parse(read('server.json')))
    expect({ name, description, version }).toEqual({
      name: manifest.mcpName,
      description: manifest.description,
      version: manifest.version,
    })
  })

  test('the plugin for Claude Code has the version of the package', () => {
    expect(JSON.parse(read('plugin/.claude-plugin/plugin.json'))).toMatchObject({
      name: 'pharos',
      version: manifest.version,
      description: manifest.description,
    })
  })

  test('let npm fetch nothing until package.json names a repository, because the name may belong to somebody else', () => {
    const { repository: _, ...unpublished } = manifest
    const folder = copyProject(unpublished)
    expect(runScript(folder)).toEqual({ status: 0, stderr: '' })
    for (const path of ['README.md', 'plugin/.mcp.json', 'server.json']) {
      expect([path, /npx|install-mcp|mcp\/install/.exec(read(path, folder))]).toEqual([path, null])
    }
    expect(JSON.parse(read('plugin/.mcp.json', folder))).toEqual({
      mcpServers: { pharos: { type: 'stdio', command: 'pharos', args: ['mcp'] } },
    })
    // A package that was published by mistake, or is no longer, loses its links again.
    const published = copyProject({
      ...manifest,
      repository: { type: 'git', url: 'git+https://github.com/example/x.git' },
    })
    expect(runScript(published).status).toBe(0)
    writeFileSync(join(published, 'package.json'), JSON.stringify(unpublished))
    expect(runScript(published).status).toBe(0)
    expect(read('README.md', published)).toBe(read('README.md', folder))
  })

  test('follow package.json when it gets another name, version or repository', () => {
    const changed = {
      ...manifest,
      name: '@example/renamed',
      version: '7.8.9',
      mcpName: 'io.github.example/renamed',
      repository: { type: 'git', url: 'git+https://github.com/example/renamed.git' },
    }
    const folder = copyProject(changed)
    expect(runScript(folder, '--check').status).toBe(1)
    expect(runScript(folder)).toEqual({ status: 0, stderr: '' })
    expect(runScript(folder, '--check')).toEqual({ status: 0, stderr: '' })
    const server = serverJson.parse(JSON.parse(read('server.json', folder)))
    expect(server.repository).toEqual({ url: 'https://github.com/example/renamed', source: 'github' })
    expect(server.packages?.[0]).toMatchObject({ identifier: '@example/renamed', version: '7.8.9' })
    const started = { command: 'npx', args: ['-y', '@example/renamed@7.8.9', 'mcp'] }
    expect(readLinks(folder)).toEqual({ cursor: started, code: { type: 'stdio', ...started } })
    expect(read('README.md', folder)).toContain('`npx -y @example/renamed@7.8.9 mcp`')
    expect(JSON.parse(read('plugin/.mcp.json', folder))).toEqual({
      mcpServers: { pharos: { type: 'stdio', ...started } },
    })
    expect(JSON.parse(read('plugin/.claude-plugin/plugin.json', folder))).toMatchObject({
      version: '7.8.9',
      repository: 'https://github.com/example/renamed',
    })
  })
})

test('no source, script or skill names the package to npm: they read its name from package.json', () => {
  const files = ['src', 'web', 'scripts', 'plugin/skills'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:tsx?|mjs|html|md)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  expect(files.length).toBeGreaterThan(500)
  // The name after npx or `npm install`, as a word of its own or as an argument, and the name in an import.
  const named = new RegExp(
    `(?:npx|npm (?:install|i|exec|x))\\b[^\\n]*['"\`\\s]${manifest.name}(?![\\w-])|(?:from|import\\()\\s*['"]${manifest.name}['"/]`,
  )
  expect(files.filter((file) => named.test(readFileSync(file, 'utf8')))).toEqual([])
})
