import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { listen } from '../../src/cli/listen.ts'
import { createHttpHandler } from '../../src/mcp/http.ts'
import { createMcp } from '../../src/mcp/server.ts'
import { PROGRAM, Workshop } from '../e2e/program.ts'
import { addFixtures } from './fixtures.ts'
import { CONFORMANCE, installTools } from './install-tools.ts'

/** Scenarios of the active suite that ask for a tool, resource or prompt which only a server made for the suite has. */
const NEED_FIXTURES = [
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

const workshop = new Workshop()
const closing: (() => Promise<unknown>)[] = []

beforeAll(() => {
  installTools()
  return () => workshop.remove()
}, 300_000)

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('every scenario that needs no fixture passes on the real server', async () => {
  const url = await startServer()
  // The suite fails when one of these passes, so that the list stays what it says.
  writeFileSync(workshop.path('baseline.yml'), `server:\n${NEED_FIXTURES.map((name) => `  - ${name}\n`).join('')}`)
  const { code, output } = await runSuite(url, ['--expected-failures', 'baseline.yml'])
  expect(output).toContain('server-sse-multiple-streams')
  expect(code, output).toBe(0)
})

test('the whole active suite passes on the same server code with the fixtures of the suite', async () => {
  const mcp = createMcp({
    version: '0.0.0',
    openLibrary: () => Promise.reject(new Error('no scenario needs a library')),
    openJobs: () => Promise.reject(new Error('no scenario crawls')),
    extend: addFixtures,
  })
  const handler = createHttpHandler({ createServer: mcp.createServer, newId: randomUUID, now: Date.now })
  const server = await listen(handler.fetch, 0)
  closing.push(mcp.close, server.close, handler.close)
  const { code, output } = await runSuite(`${server.origin}/mcp`, [])
  expect(code, output).toBe(0)
  expect(output).toContain('prompts-get-with-image')
})

/** Starts `pharos mcp --http`, and gives its address. */
async function startServer(): Promise<string> {
  const args = [PROGRAM, 'mcp', '--http', '--port', '0', '--json', '--library', workshop.path('library.db')]
  const { child, ended } = workshop.start(process.execPath, args, {})
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

/** Runs the active suite. */
function runSuite(url: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [CONFORMANCE, 'server', '--url', url, '--suite', 'active', ...args], {
    cwd: workshop.folder,
    timeout: 90_000,
  })
  let output = ''
  child.stdout.on('data', (text) => {
    output += String(text)
  })
  child.stderr.on('data', (text) => {
    output += String(text)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
