import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { memorySource, parseZip } from '../../src/core/archive/zip-reader.ts'
import { ProgramSandbox } from './program.ts'

/* Tests the MCP bundle that `scripts/make-bundle.mjs` writes. */

const ROOT = join(import.meta.dirname, '../..')
const MAX_BUNDLE_BYTES = 30_000_000

/** The part that we use of the manifest in version 0.3: MANIFEST.md of github.com/anthropics/mcpb. */
const bundleManifest = z.strictObject({
  manifest_version: z.literal('0.3'),
  name: z.string(),
  display_name: z.string(),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string(),
  author: z.strictObject({ name: z.string() }),
  repository: z.strictObject({ type: z.string(), url: z.url() }).optional(),
  server: z.strictObject({
    type: z.literal('node'),
    entry_point: z.string(),
    mcp_config: z.strictObject({ command: z.literal('node'), args: z.array(z.string()) }),
  }),
  tools_generated: z.boolean(),
  keywords: z.array(z.string()),
  license: z.string(),
  compatibility: z.strictObject({ runtimes: z.strictObject({ node: z.string() }) }),
})

const sandbox = new ProgramSandbox()
const FOLDER = sandbox.path('bundle')
let manifest: z.infer<typeof bundleManifest>

beforeAll(() => {
  const script = join(ROOT, 'scripts/make-bundle.mjs')
  const printed = execFileSync(process.execPath, [script, sandbox.folder], { encoding: 'utf8' })
  const [, file = ''] = /^(.+\.mcpb): [\d.]+ MB\n$/.exec(printed) ?? []
  const bytes = fs.readFileSync(file)
  expect(bytes.length).toBeLessThanOrEqual(MAX_BUNDLE_BYTES)
  for (const member of parseZip(memorySource(bytes))) {
    const path = join(FOLDER, member.name)
    fs.mkdirSync(dirname(path), { recursive: true })
    fs.writeFileSync(path, Buffer.concat([...member.stream()]))
  }
  manifest = bundleManifest.parse(JSON.parse(fs.readFileSync(join(FOLDER, 'manifest.json'), 'utf8')))
})

afterAll(() => sandbox.remove())

test('the manifest agrees with package.json', () => {
  const { name, version, description, license, engines } = JSON.parse(
    fs.readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<string, string> & { engines: { node: string } }
  expect(manifest).toMatchObject({ name, version, description, license })
  expect(manifest.compatibility.runtimes).toEqual(engines)
  expect(fs.existsSync(join(FOLDER, manifest.server.entry_point))).toBe(true)
})

test('the server of the bundle answers a client, without any file of the checkout', async () => {
  const { args } = manifest.server.mcp_config
  const started = args.map((argument) => argument.replace('$' + '{__dirname}', FOLDER))
  sandbox.write({ 'docs/guide.md': '# Guide\n\nThe lamp is lit at dusk by the keeper.\n' })
  const [program = ''] = started
  const added = await sandbox.start(process.execPath, [program, 'add', 'docs'], {}).ended
  expect(added.code).toBe(0)
  const client = new Client({ name: 'test', version: '0.0.0' })
  const transport = { command: process.execPath, args: started, env: sandbox.environment, stderr: 'ignore' } as const
  await client.connect(new StdioClientTransport(transport))
  const answer = await client.callTool({ name: 'search_docs', arguments: { query: 'when is the lamp lit' } })
  await client.close()
  expect(JSON.stringify(answer.content)).toContain('lit at dusk')
})

test('the bundle has a database for every platform that applications run on', () => {
  const binaries = fs.readdirSync(join(FOLDER, 'node_modules/better-sqlite3/prebuilds'))
  for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64']) {
    expect(binaries).toContain(`${platform}.node`)
  }
})
