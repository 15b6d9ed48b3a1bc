import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { NO_BROWSER, type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { startServer, until } from '../e2e/server.ts'
import { addressOf, createLibrary } from './databases.ts'

const PASSWORD = 'wintergreen'

const PAGES = {
  '/docs/': writePage('Guide', ['/docs/install', '/docs/retry', '/docs/moved', '/blog', 'https://other.invalid/x']),
  '/docs/install': writePage('Install', ['/docs/', '/docs/broken']),
  '/docs/retry': writePage('Retry', ['/docs/install'], 'Wait for Retry-After before the next visit of the kiln.'),
  '/blog': writePage('Blog'),
}

let sandbox: ProgramSandbox
let site: LocalSite
let address: string
let file: string

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  file = sandbox.path('library.db')
  site = await LocalSite.open({ ...PAGES })
  site.pages.set('/docs/moved', new URL('/docs/install', site.origin))
  address = withPassword(await createLibrary())
})

afterAll(async () => {
  await site?.close()
  sandbox?.remove()
})

/** Adds a password to an address. The server needs none, but the program must never show it. */
function withPassword(plain: string, user = 'pharos'): string {
  return plain.replace('//pharos@', `//${user}:${PASSWORD}@`)
}

/** Runs the program on a library, loopback allowed. `{}` stands for the origin of the site. */
async function pharos(line: string, library = address): Promise<Outcome> {
  const args = line.split(' ').map((arg) => arg.replace('{}', site.origin))
  const outcome = await sandbox.runInProcess(args, {
    ...NO_BROWSER,
    PHAROS_LIBRARY: library,
    PHAROS_ALLOW_PRIVATE: '127.0.0.1',
  })
  expect(outcome.stdout + outcome.stderr).not.toContain(PASSWORD)
  return outcome
}

/** Runs a command on a library in PostgreSQL and on one in a file, and expects the same output except for the address. */
async function runOnBoth(line: string, code = 0): Promise<string> {
  const [one, other] = [await pharos(line), await pharos(line, file)]
  expect(normalized(one)).toEqual(normalized(other))
  expect(one).toMatchObject({ code })
  return one.stdout
}

/** An outcome without locations, ids, times and measured values. */
function normalized({ code, stdout, stderr }: Outcome): readonly unknown[] {
  const normalize = (text: string) =>
    text
      .replaceAll(addressShown(), 'LIBRARY')
      .replaceAll(file, 'LIBRARY')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/\((?:just now|\d+ ?s ago)\)/g, '(LATELY)')
      .replace(/(?<="elapsed_ms":)\d+/g, 'FIGURE')
      .replace(/\b\d+(?:\.\d+)? ?(?:m?s|kB|MB|pages\/s)\b/g, 'FIGURE')
  return [code, normalize(stdout), normalize(stderr)]
}

function addressShown(): string {
  return address.replace(`:${PASSWORD}`, '')
}

/** Everything that a library holds of its only source, without times and ids of crawls. */
async function dump(path: string): Promise<unknown> {
  const { store, close } = await openLibrary({ path, version: '0.0.0' })
  try {
    const [source] = await store.listSources()
    if (source === undefined) return undefined
    const rows = await store.listRows(source.id, { limit: 10_000 })
    const pages = []
    for await (const { key, page } of store.listPages(source.id)) {
      const text = await store.readPageText(source.id, key)
      const chunks = []
      for (const { id } of text?.chunks ?? []) chunks.push((await store.readChunk(source.id, id))?.chunk)
      pages.push({ key, page, spans: text?.chunks, chunks, links: await store.readLinks(source.id, key) })
    }
    return {
      rows: rows.map(({ sourceId, firstSeenAt, checkedAt, changedAt, dueAt, crawlId, ...row }) => row),
      pages: pages.map(({ page: { fetchedAt, ...page }, ...rest }: { page: object & { fetchedAt?: unknown } }) => ({
        ...rest,
        page,
      })),
      counts: await store.countLedger(source.id),
    }
  } finally {
    await close()
  }
}

describe('the program on a library in PostgreSQL', () => {
  test('crawls a site with the same result as into a file, and every command gives the same output', async () => {
    const added = await runOnBoth('add {}/docs/ --name guide')
    expect(added).toMatch(/^guide: 3 pages, \d+ chunks in the library\n/)
    expect(await dump(address)).toEqual(await dump(file))

    expect(await runOnBoth('search kiln')).toContain('/docs/retry')
    expect(await runOnBoth('search kiln --json')).toContain('/docs/retry')
    expect(await runOnBoth('status --json')).toContain('"INDEXED"')
    expect(await runOnBoth('list')).toContain('guide')
    expect(await runOnBoth('explain guide {}/docs/broken')).toContain('not-found')
    expect(await runOnBoth('read {}/docs/retry')).toContain('kiln')
    expect(await runOnBoth('outline {}/docs/retry')).toContain('Retry')

    site.pages.set('/docs/retry', writePage('Retry', [], 'Wait for the anvil.'))
    site.pages.delete('/docs/install')
    await runOnBoth('recrawl guide')
    await runOnBoth('retry guide')
    expect(await dump(address)).toEqual(await dump(file))
    expect(await runOnBoth('search anvil')).toContain('/docs/retry')

    await pharos(`pack guide --out ${sandbox.path('a.zip')}`)
    await pharos(`pack guide --out ${sandbox.path('b.zip')}`, file)
    expect(readFileSync(sandbox.path('a.zip')).equals(readFileSync(sandbox.path('b.zip')))).toBe(true)

    await runOnBoth('remove guide')
    expect(await runOnBoth('search anvil')).toBe('')
    expect(await pharos('stats')).toMatchObject({ code: 0, stdout: expect.stringContaining(addressShown()) })
  })

  test('reads the address of the library from the configuration file', async () => {
    sandbox.write({ 'pharos.config.json': JSON.stringify({ library: address }) })
    const { code, stdout } = await sandbox.runInProcess(['list', '--json'])
    sandbox.write({ 'pharos.config.json': '{}' })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ library: addressShown() })
  })

  test('gives advice that shows no password', async () => {
    const empty = withPassword(await createLibrary())
    const { stderr } = await pharos(`list --library ${empty}`)
    expect(stderr).toContain(`pharos add <url> --library '${empty.replace(`:${PASSWORD}`, '')}'`)
  })

  test('checks the library with doctor, without creating anything', async () => {
    const { stdout } = await pharos('doctor')
    expect(stdout).toMatch(
      /^ok {4}library: postgres:\/\/pharos@\S+ is PostgreSQL \d+\.\d+, UTF8, has schema \d+, .*, no pgvector, /m,
    )
    expect(stdout).toContain(`  library = ${addressShown()}`)
    const empty = withPassword(addressOf('postgres'))
    for (let i = 0; i < 2; i++) {
      expect((await pharos('doctor', empty)).stdout).toContain('UTF8; the library will be created when it is needed')
    }
  })

  test('refuses a database that it cannot use, and doctor explains why', async () => {
    await execute('DROP DATABASE IF EXISTS ascii')
    await execute(`CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
    const ascii = withPassword(addressOf('ascii'))
    const newer = withPassword(await createLibrary())
    await execute('UPDATE pharos.schema_version SET version = 4000', newer)
    for (const [library, ...problems] of [
      [ascii, 'expected a database with the encoding UTF8, got SQL_ASCII', 'got SQL_ASCII; create one with'],
      [newer, 'was written by a newer Pharos (schema 4000', 'has schema 4000, '],
    ] as const) {
      const { code, stderr } = await pharos('list', library)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problems[0]) })
      const { stdout } = await pharos('doctor', library)
      expect(stdout).toMatch(/^FAIL {2}library: /m)
      expect(stdout).toContain(problems[1])
    }
  })

  test('explains a wrong address, and does not wait forever', async () => {
    await execute('DROP ROLE IF EXISTS guarded')
    await execute(`CREATE ROLE guarded LOGIN PASSWORD 'another'`)
    const plain = addressOf('postgres')
    const cases: readonly (readonly [library: string, problem: string])[] = [
      [withPassword(plain, 'guarded'), 'password authentication failed for user "guarded"; correct the user and'],
      [plain.replace('pharos@', 'guarded@'), 'the server requires a password; give it in'],
      [withPassword(plain, 'nobody'), 'role "nobody" does not exist; correct the user and'],
      [withPassword(addressOf('absent')), 'database "absent" does not exist; create it with: createdb'],
      [`postgres://pharos:${PASSWORD}@127.0.0.1:1/x`, 'does not answer: connect ECONNREFUSED 127.0.0.1:1'],
      [`postgres://pharos:${PASSWORD}@/x?host=${sandbox.folder}`, 'does not answer: connect ENOENT'],
      [`postgres://pharos:a/${PASSWORD}@h/x`, 'expected an address such as postgres://user@host:5432/database'],
    ]
    for (const [library, problem] of cases) {
      const { code, stderr } = await pharos('list', library)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) })
      const { stdout, code: failed } = await pharos('doctor', library)
      expect({ failed, stdout }).toEqual({ failed: 1, stdout: expect.stringMatching(/^FAIL {2}library: /m) })
      expect(stdout).toContain(problem)
    }
  })

  test('times out on a server that never answers', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const bound = silent.address()
    const port = typeof bound === 'object' ? bound?.port : undefined
    const { code, stderr } = await pharos('list', `postgres://u:${PASSWORD}@127.0.0.1:${port}/x?connect_timeout=1`)
    silent.close()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('does not answer: ') })
  })
})

describe('a server on a library in PostgreSQL', () => {
  test('crawls, searches and reports its state without showing the password', async () => {
    site.serve({ ...PAGES })
    const library = withPassword(await createLibrary())
    const settings = { ...NO_BROWSER, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
    const server = await startServer(sandbox, ['--library', library], settings)
    try {
      expect(server.printed['library']).toBe(library.replace(`:${PASSWORD}`, ''))
      site.delayMs = 200
      const job = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/`, crawlType: 'docs' })
      expect(readFileSync(`/proc/${Number(job['pid'])}/cmdline`, 'utf8')).toContain('crawl-job')
      expect(readFileSync(`/proc/${Number(job['pid'])}/cmdline`, 'utf8')).not.toContain('postgres:')
      site.delayMs = 0
      const found = await until(
        () => server.get('/api/search?q=kiln'),
        (answer) => JSON.stringify(answer).includes('/docs/retry'),
      )
      expect(JSON.stringify(found)).not.toContain(PASSWORD)
      expect(await server.get('/api/system-health')).toMatchObject({
        dbSizeBytes: expect.any(Number),
        journalMode: expect.stringMatching(/^PostgreSQL \d+/),
        walAutocheckpoint: null,
      })
      const detached = await pharos('add {}/docs/install --name again --detach', library)
      expect({ code: detached.code, stderr: detached.stderr }).toEqual({ code: 0, stderr: '' })
      const dbPath = { startUrl: `${site.origin}/docs/`, dbPath: 'other.db' }
      expect((await server.ask('/api/crawl', json(dbPath))).status).toBe(400)
    } finally {
      server.kill('SIGTERM')
    }
    const { stdout, stderr } = await server.ended
    expect(stdout + stderr).not.toContain(PASSWORD)
    expect(readdirSync(sandbox.path('.local/share/pharos/postgres'), { recursive: true }).join()).not.toContain('.json')
  })
})

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function execute(text: string, library: string = addressOf('postgres')): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: library })
  await client.connect()
  await client.query(text).finally(() => client.end())
}
