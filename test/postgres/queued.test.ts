import { chmodSync } from 'node:fs'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { until } from '../e2e/server.ts'
import { addressOf, createLibrary, execute } from './databases.ts'

let sandbox: ProgramSandbox
let site: LocalSite

beforeAll(async () => {
  sandbox = new ProgramSandbox()
  site = await LocalSite.open({ '/docs/': writePage('Guide', [], 'What a kiln is.') })
})

afterAll(async () => {
  await site?.close()
  sandbox?.remove()
})

function pharos(address: string, ...args: string[]): Promise<Outcome> {
  return sandbox.runInProcess(args, { PHAROS_LIBRARY: address, PHAROS_ALLOW_PRIVATE: '127.0.0.1' })
}

test('a detached crawl waits for any worker if there is no server, and status reports it correctly', async () => {
  const address = await createLibrary()
  const detached = await pharos(address, 'add', `${site.origin}/docs/`, '--name', 'guide', '--detach')
  expect([detached.code, detached.stdout]).toEqual([0, expect.stringMatching(/^the crawl of guide is queued, as job /)])
  expect(detached.stdout).toContain('watch it with: pharos status guide')
  expect(detached.stderr).toBe('no worker is running for the waiting crawl; start one with: pharos worker\n')
  expect((await pharos(address, 'status', 'guide')).stdout).toMatch(/^Job: \S+ is queued$/m)
  expect((await pharos(address, 'status')).stdout).toMatch(/^Workers: none\nWaiting: 1 crawl\n/m)
  const again = await pharos(address, 'recrawl', 'guide', '--detach')
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^pharos: the queue of the library refused: guide is being crawled/),
  })
  const flag = await pharos(address, 'retry', 'guide', '--detach', '--allow-private')
  expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining('a setting of the worker that runs it') })

  const settings = { PHAROS_LIBRARY: address, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  const worker = sandbox.start(process.execPath, [PROGRAM, 'worker', '--json-logs', '--drain-time', '0s'], settings)
  await until(
    async () => (await pharos(address, 'status', 'guide')).stdout,
    (text) => text.includes('Status: INDEXED'),
  )
  worker.child.kill('SIGTERM')
  const { stdout, stderr } = await worker.ended
  // The log must be JSON only, because log collectors parse it.
  const lines = `${stdout}${stderr}`.trim().split('\n')
  expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'))
  expect(stderr).toContain('"message":"finishing the running jobs')
})

test('a password from the password file is used silently', async () => {
  // `guarded` is the only role of this server that needs a password. Other tests create it too.
  await execute(
    `DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'another'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
  )
  sandbox.write({ pgpass: '*:*:*:guarded:another\n' })
  chmodSync(sandbox.path('pgpass'), 0o600)
  const environment = {
    PGPASSFILE: sandbox.path('pgpass'),
    PHAROS_LIBRARY: addressOf('postgres').replace('pharos@', 'guarded@'),
  }
  const { stderr } = await sandbox.run(['list'], environment)
  expect(stderr).toContain('GRANT CREATE ON DATABASE postgres TO guarded')
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test('an invalid library address is reported without its password, and copy names the invalid argument', async () => {
  const folder = inject('postgres')
  for (const [args, problem] of [
    [['stats', '--library', 'mysql://me:secret@h/d'], '--library: expected a file, or an address'],
    [['copy', 'a.db', 'postgres:/me@h/d'], '<to>: expected a file, or an address'],
    [['copy', 'me@h/d', 'b.db'], '<from>: expected a file, or an address'],
    [['list', '--library', `postgres://me@/d?host=${folder}&schem=x`], 'unknown parameter "schem"'],
  ] as const) {
    const { code, stderr } = await sandbox.runInProcess(args)
    expect([args, code === 0, stderr]).toEqual([args, false, expect.stringContaining(problem)])
    expect(stderr).not.toContain('secret')
    if (args[0] === 'copy') expect(stderr).not.toContain('--library')
  }
})
