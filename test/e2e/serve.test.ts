import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalSite, manyPages } from './local-site.ts'
import { NO_BROWSER, PROGRAM, ProgramSandbox } from './program.ts'
import { type ServerProcess, startServer, until } from './server.ts'

let sandbox: ProgramSandbox
const servers: ServerProcess[] = []

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (isAlive(server.pid)) server.kill('SIGKILL')
    await server.ended
  }
  sandbox.remove()
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function serve(flags: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
  const server = await startServer(sandbox, flags, environment)
  servers.push(server)
  return server
}

const TOKEN = 'a-token-that-nobody-can-guess'

describe('serve', () => {
  test('prints its addresses, serves them, and leaves nothing behind when it is stopped', async () => {
    const server = await serve()
    const { origin } = server
    const port = Number(new URL(origin).port)
    expect(port).toBeGreaterThanOrEqual(41_000)
    expect(port).toBeLessThanOrEqual(61_000)
    expect(server.printed).toEqual({
      origin,
      dashboard: `${origin}/`,
      api: `${origin}/api`,
      openapi: `${origin}/openapi.json`,
      events: `${origin}/events`,
      mcp: `${origin}/mcp`,
      library: sandbox.path('library.db'),
      pid: server.pid,
      isTokenDemanded: false,
    })
    expect(await server.get('/health')).toMatchObject({ running: false, paused: false })
    const home = await server.ask('/')
    expect([home.status, home.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await home.text()).toContain('<script type="module"')
    const health = await server.get('/api/system-health')
    expect(health).toMatchObject({ journalMode: 'wal', walAutocheckpoint: 4000 })
    expect(health['dbSizeBytes']).toBeGreaterThan(0)
    expect(health['freeDiskBytes']).toBeGreaterThan(0)
    const initialized = await server.ask('/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }),
    })
    expect([initialized.status, await initialized.text()]).toEqual([
      200,
      expect.stringContaining('The library is empty: start with add_source'),
    ])

    const serverFile = sandbox.path('library.db.server.json')
    expect(fs.statSync(serverFile).mode & 0o777).toBe(0o600)
    expect(JSON.parse(fs.readFileSync(serverFile, 'utf8'))).toMatchObject({ origin, pid: server.pid, tokenFile: null })
    const events = await server.ask('/events', { signal: AbortSignal.timeout(60_000) })
    server.kill('SIGTERM')
    const { code, signal, stderr } = await server.ended
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(stderr).toMatch(/^\[req\] GET \/health -> 200 [\d.]+ms$/m)
    // The stream may end or break off.
    await events.text().catch(() => '')
    expect(fs.existsSync(serverFile)).toBe(false)
  })

  test('prints its addresses one per line when it is started without --json', async () => {
    const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'serve', '--quiet'], {})
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    const [, origin = ''] = /dashboard {2}(\S+)\/$/m.exec(stdout) ?? []
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replaceAll(origin, 'ORIGIN').replaceAll(sandbox.folder, 'HOME')).toBe(EXPECTED_OUTPUT)
  })

  test('a second server on the same library is refused until the first has ended', async () => {
    const first = await serve()
    const refused = await sandbox.runInProcess(['serve', '--library', sandbox.path('library.db')])
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain(
      `already running at ${first.origin} – use that server, or stop it first (process ${first.pid})`,
    )
    first.kill('SIGKILL')
    await first.ended
    expect(fs.existsSync(sandbox.path('library.db.server.json'))).toBe(true)
    const second = await serve()
    expect(await second.get('/health')).toMatchObject({ running: false })
  })

  test('needs a token when other machines can reach it, and never prints the token', async () => {
    const open = await sandbox.runInProcess(['serve', '--host', '0.0.0.0'])
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('so a token is required')])
    const short = await sandbox.runInProcess(['serve', '--host', '0.0.0.0'], { PHAROS_TOKEN: 'short' })
    expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('expected at least 16 characters')])
    expect(short.stderr).not.toContain('short')

    sandbox.write({ token: `${TOKEN}\n` })
    const server = await serve(['--host', '0.0.0.0', '--token-file', 'token'])
    expect(server.printed).toMatchObject({ isTokenDemanded: true })
    const statusOf = async (token: string) => {
      const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
      const response = await server.ask('/api/crawls', { headers })
      await response.text()
      return response.status
    }
    expect([await statusOf(''), await statusOf(`${TOKEN}x`), await statusOf(TOKEN)]).toEqual([401, 401, 200])
    const doctor = await sandbox.runInProcess(['doctor', '--json'], { ...NO_BROWSER, PHAROS_TOKEN: TOKEN })
    expect(doctor.stdout).toContain('{"name":"token","value":"…","origin":"environment"}')
    server.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    expect(stdout + stderr + doctor.stdout).not.toContain(TOKEN)
  })

  test('refuses invalid origins and a file that is not a library', async () => {
    sandbox.write({ 'notes.txt': 'this is no library, and it is long enough to be looked at. '.repeat(20) })
    const file = await sandbox.runInProcess(['serve', '--library', 'notes.txt'])
    expect([file.code, file.stderr]).toEqual([1, expect.stringContaining('notes.txt cannot be used')])
    const origin = await sandbox.runInProcess(['serve', '--allowed-origins', 'https://example.com/'])
    expect([origin.code, origin.stderr]).toEqual([2, expect.stringContaining('expected origins such as https')])
    expect(fs.readdirSync(sandbox.folder).filter((name) => name.startsWith('notes'))).toEqual(['notes.txt'])
  })

  test('uses the given port; if it is taken, ends for a flag, and takes another for the environment', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => busy.once('listening', resolve))
    // The server listens on a port, so the address is an object.
    const { port } = busy.address() as AddressInfo
    const refused = await sandbox.runInProcess(['serve', '--port', String(port)])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`--port ${port}: the port is in use; choose another one`),
    ])
    const other = await serve([], { PORT: String(port) })
    expect(Number(new URL(other.origin).port)).toBeGreaterThanOrEqual(41_000)
    other.kill('SIGTERM')
    expect((await other.ended).stderr).toContain(
      `the port ${port} of the environment is in use; another one was chosen`,
    )
    await new Promise((resolve) => busy.close(resolve))
    const server = await serve([], { PORT: String(port) })
    expect(new URL(server.origin).port).toBe(String(port))
  })
})

describe('a crawl that is delegated to the server', () => {
  test('runs in the server, and other clients can follow it', async () => {
    const site = await LocalSite.open(manyPages(5))
    try {
      const library = ['--library', sandbox.path('library.db')]
      const withoutServer = await sandbox.runInProcess(['add', `${site.origin}/docs/`, '--detach', ...library])
      expect([withoutServer.code, withoutServer.stdout]).toEqual([1, ''])
      expect(withoutServer.stderr).toContain(`start one with \`pharos serve --library ${sandbox.path('library.db')}\``)
      expect(fs.existsSync(sandbox.path('library.db'))).toBe(false)

      const server = await serve(['--allow-private', '--json-logs'])
      const delegate = async (...words: string[]) => {
        const { code, stdout, stderr } = await sandbox.runInProcess([...words, '--detach', '--json', ...library])
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        // The JSON that the verb prints has these fields.
        const { jobId, watch } = JSON.parse(stdout) as { jobId: string; watch: string }
        expect(watch).toBe(`${server.origin}/`)
        await until(
          () => server.get(`/api/crawls/${jobId}`),
          ({ status }) => status === 'done',
        )
        return jobId
      }
      const first = await delegate('add', `${site.origin}/docs/`, '--name', 'kilns', '--max-pages', '4')
      expect(await server.get('/api/sources/kilns')).toMatchObject({ name: 'kilns', pages: 4 })
      await delegate('recrawl', 'kilns', '--max-pages', '6')
      expect(await server.get('/api/sources/kilns')).toMatchObject({ pages: 6 })
      const requestCount = site.countOf('/docs/p1')
      await delegate('refresh', 'kilns')
      expect(site.countOf('/docs/p1')).toBe(requestCount + 1)

      const setting = 'it is a setting of the server'
      for (const [words, code, problem] of [
        [['recrawl', 'nothing'], 1, `the server at ${server.origin} refused: no source nothing in`],
        [['recrawl', 'kilns', '--header', 'Authorization: Bearer 123'], 2, '--header cannot be given with --detach'],
        [['refresh', 'kilns', '--concurrency', '3'], 2, `--concurrency cannot be given with --detach: ${setting}`],
        [['add', '.'], 2, '--detach is for web sites'],
      ] as const) {
        const refused = await sandbox.runInProcess([...words, '--detach', ...library])
        expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(problem)])
      }
      server.kill('SIGTERM')
      const { stderr } = await server.ended
      const lines = stderr
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('{'))
      const entries = lines.map((line) => JSON.parse(line) as { jobId?: string })
      const jobLines = entries.filter(({ jobId }) => jobId === first)
      expect(jobLines.length).toBeGreaterThan(0)
    } finally {
      await site.close()
    }
  })
})

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '0' },
}

const EXPECTED_OUTPUT = `Pharos serves HOME/.local/share/pharos/library.db

  dashboard  ORIGIN/
  API        ORIGIN/docs
  MCP        ORIGIN/mcp

Press Ctrl-C to stop. Running crawls resume at the next start.
`
