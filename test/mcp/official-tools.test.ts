import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { listen } from '../../src/cli/serve/listen.ts'
import { guardHandler } from '../../src/http/server/guard-handler.ts'
import { createHttpHandler } from '../../src/mcp/http.ts'
import { createMcp } from '../../src/mcp/server.ts'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { until } from './connect.ts'
import { addFixtures } from './fixtures.ts'
import type { InspectorRun } from './inspector-child.ts'
import { CONFORMANCE, INSPECTOR, INSPECTOR_CLI, installTools } from './install-tools.ts'

/* Runs the official tools of the protocol against the server. Suite and inspector share this file, because one hook installs both. */

/** Scenarios of the active suite that ask for a tool, resource, prompt or capability which only a server made for the suite has. */
const NEED_FIXTURES = [
  'logging-set-level',
  'prompts-list',
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
]

const sandbox = new ProgramSandbox()
const closing: (() => Promise<unknown>)[] = []

beforeAll(() => {
  installTools()
  return () => sandbox.remove()
})

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('every conformance scenario that needs no fixture passes on the real server', async () => {
  const url = await startServer()
  // The suite also fails when an expected failure passes, so the list stays accurate.
  writeFileSync(sandbox.path('baseline.yml'), `server:\n${NEED_FIXTURES.map((name) => `  - ${name}\n`).join('')}`)
  const { code, stdout, stderr } = await runSuite(url, '--expected-failures', 'baseline.yml')
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain('server-sse-multiple-streams')
})

test('the whole active conformance suite passes on the same server code with the fixtures of the suite', async () => {
  const mcp = createMcp({
    version: '0.0.0',
    openLibrary: () => Promise.reject(new Error('no scenario needs a library')),
    openJobs: () => Promise.reject(new Error('no scenario crawls')),
    extend: addFixtures,
  })
  const handler = createHttpHandler({ createServer: mcp.createServer, newId: randomUUID, now: Date.now })
  const server = await listen(guardHandler(handler.fetch, { hosts: [], allowedOrigins: [] }), 0)
  closing.push(mcp.close, server.close, handler.close)
  const { code, stdout, stderr } = await runSuite(`${server.origin}/mcp`)
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain('prompts-get-with-image')
})

interface ToolList {
  readonly tools: readonly { readonly name: string }[]
}

interface ToolResult {
  readonly isError?: boolean
  readonly structuredContent?: Record<string, unknown>
}

test('the command line of the inspector lists and calls every tool', async () => {
  const site = await LocalSite.open({ '/docs/': writePage('Start', ['/docs/kiln']), '/docs/kiln': writePage('Kiln') })
  closing.push(() => site.close())
  sandbox.write({ 'package-lock.json': '{ "lockfileVersion": 3, "packages": { "": { "name": "pottery" } } }' })
  const url = await startServer('--allow-private', '--request-interval', '0ms')
  const callTool = createCaller(url)
  const { code, stdout, stderr } = await run(INSPECTOR, '--cli', ...targetOf(url), '--method', 'tools/list', '--strict')
  expect(code, stderr + stdout).toBe(0)
  const { tools } = JSON.parse(stdout) as ToolList
  const start = `${site.origin}/docs/`
  const added = await callTool('add_source', { url: start, name: 'docs' })
  const crawlId = String(added.structuredContent?.['crawlId'])
  const waitForIndex = () =>
    until(
      () => callTool('crawl_status', { source: 'docs' }),
      ({ structuredContent }) => (structuredContent as { report: { status: string } }).report.status === 'INDEXED',
    )
  await waitForIndex()
  const found = await callTool('search_docs', { query: 'kiln', limit: '3' })
  const { passages } = found.structuredContent as { passages: readonly { readonly chunk: string }[] }
  const page = { url: `${start}kiln` }
  const calls: Record<string, Record<string, string>> = {
    list_sources: {},
    crawl_status: { crawlId },
    index_statistics: {},
    find_version: { library: 'docs' },
    fetch_url: page,
    read_page: page,
    get_chunk: { chunk: passages[0]?.chunk ?? '' },
    list_outline: page,
    list_symbols: page,
    export_pack: { source: 'docs' },
    sync_project: {},
    check_code: { code: 'let a = 1' },
  }
  for (const [name, args] of Object.entries(calls)) {
    expect([name, (await callTool(name, args)).isError]).toEqual([name, undefined])
  }
  await callTool('refresh_source', { sourceId: 'docs' })
  await waitForIndex()
  expect((await callTool('what_changed', { source: 'docs' })).structuredContent).toMatchObject({ isLastCrawl: true })
  site.delayMs = 1000
  const again = await callTool('recrawl_source', { source: 'docs', full: 'true' })
  await callTool('cancel_crawl', { jobId: String(again.structuredContent?.['crawlId']) })
  const removed = await callTool('remove_source', { source: 'docs' })
  expect(removed.structuredContent).toMatchObject({ pages: 2 })
  const calledTools = [
    'add_source',
    'search_docs',
    ...Object.keys(calls),
    'refresh_source',
    'what_changed',
    'recrawl_source',
    'cancel_crawl',
    'remove_source',
  ]
  expect(new Set(calledTools)).toEqual(new Set(tools.map(({ name }) => name)))
})

function targetOf(url: string): string[] {
  return [url, '--transport', 'http']
}

/** Calls tools through the command line of the inspector, which fails on server errors and on answers that violate their schema. */
function createCaller(url: string) {
  const { env } = process
  const inspector = fork(new URL('./inspector-child.ts', import.meta.url), { env: { ...env, ...sandbox.environment } })
  closing.push(() => endInspector(inspector))
  return async (name: string, args: Readonly<Record<string, string>>): Promise<ToolResult> => {
    const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])
    inspector.send([INSPECTOR_CLI, ...targetOf(url), '--method', 'tools/call', '--tool-name', name, ...pairs])
    const [{ printed, problem }] = (await once(inspector, 'message')) as [InspectorRun]
    if (problem !== null) throw new Error(`${name} ${pairs.join(' ')}: ${problem} ${printed}`)
    return JSON.parse(printed) as ToolResult
  }
}

async function endInspector(inspector: ChildProcess): Promise<void> {
  if (inspector.exitCode !== null || !inspector.kill()) return
  await once(inspector, 'exit')
}

/** Runs the active suite. */
function runSuite(url: string, ...args: readonly string[]): Promise<Outcome> {
  return run(CONFORMANCE, 'server', '--url', url, '--suite', 'active', ...args)
}

function run(script: string, ...args: readonly string[]): Promise<Outcome> {
  return sandbox.start(process.execPath, [script, ...args], {}).ended
}

/** Starts `pharos mcp --http` with its own library, and returns its address. */
async function startServer(...flags: readonly string[]): Promise<string> {
  const args = [PROGRAM, 'mcp', '--http', '--port', '0', '--json', '--library', sandbox.path(`${randomUUID()}.db`)]
  const { child, ended } = sandbox.start(process.execPath, [...args, ...flags], {})
  closing.push(() => {
    child.kill('SIGTERM')
    return ended
  })
  const first = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text: string) => resolve(text))
    ended.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  return (JSON.parse(first) as { url: string }).url
}
