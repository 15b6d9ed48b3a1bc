import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { CopyInput, CopyProgress } from '../../src/library/copy/copy-input.ts'
import { type CopyResult, copyLibrary } from '../../src/library/copy/copy-library.ts'
import { discardCopy } from '../../src/library/copy/open-copy-session.ts'
import { COPY_TABLES } from '../../src/library/copy/table-columns.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { fillPageSignatures } from '../../src/library/crawl/fill-page-signatures.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { importPlaces } from '../analysis/some-places.ts'
import { OLDER_LAYOUT } from '../contracts/older-layout.ts'
import { type Dump, dumpDatabase, dumpFile } from '../copy/dump.ts'
import { type FillOptions, fillLibrary } from '../copy/filled-library.ts'
import { NO_BROWSER, ProgramSandbox } from '../e2e/program.ts'
import { writePage } from '../embed/filled-store.ts'
import { openTestSite, runCrawl, UNPACED } from '../sites/crawl.ts'
import { addressOf, createLibrary } from './databases.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-copies-'))
let files = 0
const opened: OpenLibrary[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((library) => library.close()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isLong = process.env['TEST_LONG'] === '1'
/** Fields of a job that has not ended. */
const NO_END = {
  endedAt: null,
  crawlId: null,
  sourceId: null,
  restarts: 0,
  progress: null,
  problem: null,
  code: null,
  signal: null,
}

const newFile = () => join(folder, `${files++}.db`)
const dump = (path: string): Promise<Dump> => (isFile(path) ? Promise.resolve(dumpFile(path)) : dumpDatabase(path))
const isFile = (path: string) => path.startsWith('/')

async function open(path: string): Promise<OpenLibrary> {
  const library = await openLibrary({ path, version: '0.0.0' })
  opened.push(library)
  return library
}

/** Fills a library, and returns its path. */
async function fillAt(path: string, filling?: FillOptions): Promise<string> {
  const library = await openLibrary({ path, version: '0.0.0' })
  await fillLibrary(library, filling)
  await library.close()
  return path
}

let wholeFile: string
beforeAll(async () => {
  wholeFile = await fillAt(newFile(), { hasAllKinds: true })
})

/** A copy of a library file with rows in every table. All such copies have the same library id. */
function wholeCopy(): string {
  const path = newFile()
  copyFileSync(wholeFile, path)
  return path
}

/** Copies one library into another. */
async function copy(from: string, to: string, more: Partial<CopyInput> = {}): Promise<CopyResult> {
  return copyLibrary({ from: await open(from), to: await open(to), ...more })
}

/** The schema version that added page signatures. */
const SIGNATURES_VERSION = 11

/** Reverts a library to the version before page signatures. */
function makeOlder(path: string): void {
  const db = new Sqlite(path)
  db.exec(
    `${OLDER_LAYOUT.join('; ')}; DROP TRIGGER likeness_deleted; DROP TABLE likenesses; ALTER TABLE sources DROP COLUMN refresh; DROP TRIGGER row_deleted; DROP TABLE earlier_pages; ALTER TABLE crawls DROP COLUMN keeps_earlier; PRAGMA user_version = ${SIGNATURES_VERSION - 1}`,
  )
  db.close()
}

/** Computes the missing page signatures of a library, and lists them. */
async function fillSignatures(path: string): Promise<unknown[]> {
  const { store } = await open(path)
  expect([await fillPageSignatures({ store }), await fillPageSignatures({ store })]).toEqual([4, 0])
  const found: unknown[] = []
  for (const { id } of await store.listSources()) for await (const one of store.listPageSignatures(id)) found.push(one)
  expect(found).toHaveLength(4)
  return found
}

/** Compares all that is in two libraries, table by table. */
async function expectSame(one: string, other: string): Promise<void> {
  const [found, expected] = [await dump(one), await dump(other)]
  expect(Object.keys(found)).toEqual(Object.keys(expected))
  for (const [table, rows] of Object.entries(expected)) expect([table, found[table]]).toEqual([table, rows])
}

/** Chunks found by words, with scores. */
async function search(path: string): Promise<unknown> {
  const hits = await searchHits((await open(path)).store, { query: 'kiln tower nobody', limit: 10 })
  return hits.map(({ chunk, score }) => [chunk.id, score])
}

describe('a copy', () => {
  let file: string
  let database: string
  beforeAll(async () => {
    file = wholeFile
    database = await fillAt(await createLibrary(), { hasAllKinds: true })
  })

  test('is tested with libraries that have rows in every table', async () => {
    for (const path of [file, database]) {
      const { libraryCopy } = await open(path)
      const empty = await libraryCopy.view(async (view) => {
        const names: string[] = []
        for (const table of COPY_TABLES) if ((await view.count(table)) === 0) names.push(table.name)
        return names
      })
      expect(empty).toEqual([])
    }
  })

  test.each([
    ['a file', 'database', () => file, [createLibrary, createLibrary, async () => newFile()]],
    ['a database', 'file', () => database, [async () => newFile(), async () => newFile(), createLibrary]],
  ])(
    'a copy of %s into a %s, from there into another one and back, is identical and gives the same search results',
    async (...args) => {
      const [, , from, openTargets] = args
      const paths = [from()]
      const results: CopyResult[] = []
      for (const openNext of openTargets) {
        const to = await openNext()
        results.push(await copy(paths.at(-1) ?? '', to))
        paths.push(to)
      }
      await expectSame(paths.at(-1) ?? '', from())
      const digests = results.map(({ verified }) => verified.map(({ digest }) => digest))
      expect(digests).toEqual(digests.map(() => digests[0]))
      const [firstResult] = results
      expect(firstResult?.verified.find(({ table }) => table.name === 'chunks')?.hashed).toBeGreaterThan(50)
      expect(firstResult).toMatchObject({ wasComplete: false, isResumed: false, skipped: [] })
      const found = await search(from())
      expect(found).toHaveLength(10)
      for (const path of paths) expect(await search(path)).toEqual(found)
    },
  )

  test('keeps the hash of every page of a crawled site, from a file of an older version and back', async () => {
    const site = await openTestSite(
      Object.fromEntries(
        ['', 'a', 'b', 'c'].map((path) => [
          `/${path}`,
          `<h1>Page ${path}</h1><a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>`,
        ]),
      ),
    )
    const from = newFile()
    const library = await openLibrary({ path: from, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: UNPACED })
    await runCrawl(library, await addSource(library, { url: `${site.origin}/` }), { kind: 'add' }, site.origin)
    await library.close()
    makeOlder(from)
    const [inDatabase, backInFile] = [await createLibrary(), newFile()]
    for (const [one, other] of [
      [from, inDatabase],
      [inDatabase, backInFile],
    ] as const) {
      const { verified } = await copy(one, other)
      expect(verified.find(({ table }) => table.name === 'pages')).toMatchObject({ rows: 4, hashed: 4, different: 0 })
    }
    await expectSame(backInFile, from)
    // Signatures are derived from stored content, so they are the same in both.
    expect(await fillSignatures(backInFile)).toEqual(await fillSignatures(inDatabase))
  })

  test('marks unfinished jobs as ended from its first row on, so no worker starts them', async () => {
    const from = newFile()
    const library = await open(from)
    await fillLibrary(library, { pages: 1 })
    const job = {
      id: randomUUID(),
      url: 'https://docs.test/',
      args: [],
      process: null,
      createdAt: 1,
      startedAt: 2,
      ...NO_END,
    }
    await library.jobLog.add({ ...job, status: 'running' })
    await library.jobLog.add({ ...job, id: randomUUID(), startedAt: null, status: 'queued' })
    for (const to of [await createLibrary(), newFile()]) {
      // A copy into a file starts with the last job, to reserve its number. A copy into a database writes jobs before crawl types.
      await interrupt(from, to, isFile(to) ? 'crawl id' : 'crawl type')
      const { jobLog } = await open(to)
      expect(await jobLog.listOpen()).toEqual([])
      expect((await copy(from, to)).openJobs).toBe(2)
      expect((await jobLog.list(5)).items).toMatchObject([
        { status: 'stopped', endedAt: 2 },
        { status: 'cancelled', endedAt: 1 },
      ])
    }
  })

  test('works as an independent library: new rows get numbers of their own', async () => {
    const target = await createLibrary()
    await copy(file, target)
    const before = await dump(file)
    await fillAt(target, { name: 'later', pages: 3 })
    const { store } = await open(target)
    expect((await store.countContent('later')).pages).toBe(3)
    expect(await search(target)).toHaveLength(10)
    expect(await dump(file)).toEqual(before)
  })

  test('is only verified when it is requested again, and is refused after a change of the original', async () => {
    const from = await fillAt(newFile())
    const to = await createLibrary()
    const first = await copy(from, to)
    const again = await copy(from, to)
    expect(again).toMatchObject({ wasComplete: true, written: 0 })
    expect(again.verified).toEqual(first.verified)
    await fillAt(from, { name: 'more', pages: 1 })
    await expect(copy(from, to)).rejects.toMatchObject({ code: 'COPY_REFUSED' })
  })

  test('replaces NUL characters, which PostgreSQL cannot store, and does not count such rows as verified by hash', async () => {
    const from = newFile()
    const library = await open(from)
    await fillLibrary(library, { pages: 1 })
    await writePage(library.store, 'docs', '/nul', 'one\0two')
    const chunksOf = ({ verified }: CopyResult) => verified.find(({ table }) => table.name === 'chunks')
    expect(chunksOf(await copy(from, await createLibrary()))).toMatchObject({ rows: 3, hashed: 2, different: 0 })
    expect(chunksOf(await copy(from, newFile()))).toMatchObject({ rows: 3, hashed: 3, different: 0 })
  })

  test('makes leased addresses due if the library has a running crawl, which can be resumed in the copy', async () => {
    const from = wholeCopy()
    const library = await open(from)
    const many = (await library.store.listSources()).find(({ name }) => name === 'many')?.id ?? ''
    const [last] = await library.store.listCrawls(many, 1)
    if (last === undefined) throw new Error('nothing was crawled')
    const now = 1_900_000_000_000
    const running = { ...last, id: randomUUID(), state: 'running', startedAt: now, heartbeatAt: now } as const
    await library.store.beginCrawl({ ...running, endedAt: null, summary: null }, 1000)
    const request = { sourceId: many, limit: 5, now, until: now + 60_000, horizon: now * 2, isBreadthFirst: false }
    expect(await library.store.lease(request)).toHaveLength(5)
    const to = await createLibrary()
    expect((await copy(from, to)).running).toBe(1)
    const { store } = await open(to)
    expect(await store.countOpen(many, now)).toMatchObject({ leased: 0, pending: 800 })
    expect(await store.listCrawls(many, 1)).toMatchObject([{ id: running.id, state: 'running' }])
  })
})

describe('a library that is not empty', () => {
  test('is refused as a target without the option to add', async () => {
    const from = await fillAt(newFile())
    for (const to of [
      await fillAt(await createLibrary(), { name: 'other' }),
      await fillAt(newFile(), { name: 'other' }),
    ]) {
      const before = await dump(to)
      await expect(copy(from, to)).rejects.toMatchObject({
        code: 'COPY_REFUSED',
        details: { problem: 'it already has 1 source', advice: expect.stringContaining('--add') },
      })
      expect(await dump(to)).toEqual(before)
    }
  })

  test('is refused if a name would mean two sources', async () => {
    const from = await fillAt(newFile())
    const to = await fillAt(await createLibrary())
    const before = await dump(to)
    await expect(copy(from, to, { add: true })).rejects.toMatchObject({
      code: 'COPY_REFUSED',
      details: { problem: 'it also has a source docs' },
    })
    expect(await dump(to)).toEqual(before)
  })

  test('contains both libraries after a copy, with its own rows unchanged', async () => {
    const from = wholeCopy()
    for (const to of [
      await fillAt(await createLibrary(), { name: 'other' }),
      await fillAt(newFile(), { name: 'other' }),
    ]) {
      const { store } = await open(to)
      const pages = async (sourceId: string, library = store) => {
        const found = []
        for await (const { page, key } of library.listPages(sourceId)) found.push({ key, page })
        return found
      }
      const before = await pages('other')
      const { skipped } = await copy(from, to, { add: true })
      expect(skipped).toEqual([])
      expect(await pages('other')).toEqual(before)
      const origin = await open(from)
      const ids = async (library: OpenLibrary) => (await library.store.listSources()).map(({ id }) => id)
      expect(new Set(await ids(await open(to)))).toEqual(new Set([...(await ids(origin)), 'other']))
      for (const id of await ids(origin)) expect(await pages(id)).toEqual(await pages(id, origin.store))
      expect(await store.countLedger('docs')).toEqual(await origin.store.countLedger('docs'))
      expect(await (await open(to)).gazetteer.summary()).toEqual(await origin.gazetteer.summary())
      expect((await (await open(to)).vectors?.count())?.embedded).toBe((await origin.vectors?.count())?.embedded)
      const hits = await searchHits(store, { query: 'kiln lantern', limit: 100 })
      expect(new Set(hits.map(({ sourceId }) => sourceId))).toEqual(new Set(['docs', 'other']))
    }
  })

  test('keeps its own places and vectors, and reports what was left out', async () => {
    const [from, to] = [await fillAt(newFile(), { pages: 1 }), await createLibrary()]
    await copy(wholeFile, to)
    const origin = await open(from)
    for (const { id, name } of await origin.store.listSources())
      await origin.store.updateSource(id, { name: `old ${name}` })
    await expect(copy(from, to, { add: true })).rejects.toMatchObject({ code: 'COPY_REFUSED' })
    const plain = await copy(await fillAt(newFile(), { name: 'plain' }), to, { add: true })
    expect(plain.skipped).toEqual([{ group: 'places', problem: null }])
    expect((await (await open(to)).vectors?.readSpace())?.model).toBe('four')
    const other = await fillAt(newFile(), { name: 'more' })
    const space = { model: 'other', fingerprint: '0'.repeat(64), dimensions: 4 }
    const library = await open(other)
    const [missing] = (await library.vectors?.listMissing(1)) ?? []
    await library.vectors?.write(space, [
      { sourceId: 'more', chunkId: missing?.chunkId ?? '', vector: Float32Array.of(1, 0, 0, 0) },
    ])
    await importPlaces(library.gazetteer)
    const { skipped } = await copy(other, to, { add: true })
    expect(skipped.map(({ group }) => group)).toEqual(['places', 'placed', 'vectors'])
    expect((await (await open(to)).vectors?.readSpace())?.model).toBe('four')
  })

  test('cannot be copied to itself or to a file copy of itself, except one made while it was empty', async () => {
    const from = newFile()
    await (await openLibrary({ path: from, version: '0.0.0' })).close()
    const [twin, late] = [newFile(), newFile()]
    copyFileSync(from, twin)
    await fillAt(from, { pages: 2 })
    copyFileSync(from, late)
    await expect(copy(from, from)).rejects.toMatchObject({ details: { problem: 'both are the same library' } })
    await expect(copy(from, late)).rejects.toMatchObject({
      code: 'COPY_REFUSED',
      details: { problem: expect.stringContaining('one was made from the other by other means') },
    })
    expect((await copy(from, twin)).sources).toBe(1)
    await expectSame(twin, from)
  })
})

describe('an interrupted copy', () => {
  test.each([
    ['into a database', createLibrary, [30]],
    ['into a file', async () => newFile(), [60]],
  ])('%s resumes after an interruption at any moment, with the same result', async (_name, openTarget, steps) => {
    const from = wholeCopy()
    const [to, whole] = [await openTarget(), await openTarget()]
    // The process is killed while it writes rows, or while it compares all of them.
    for (const step of isLong ? [1, 8, 20, 36, 50, 70] : steps) {
      await killAt(step, from, to)
      // Readers do not see a partial copy.
      expect(await (await open(to)).store.listSources()).toEqual([])
    }
    await copy(from, to)
    await copy(from, whole)
    await expectSame(to, whole)
    expect(await search(to)).toEqual(await search(from))
  })

  test('sends heartbeats while it has nothing to write', async () => {
    const [from, to] = [await fillAt(newFile(), { pages: 2 }), newFile()]
    const stop = new AbortController()
    const onProgress = ({ step }: CopyProgress) => {
      if (step === 'verifying') stop.abort(new Error('enough'))
    }
    await expect(copy(from, to, { onProgress, signal: stop.signal })).rejects.toThrow('enough')
    const library = await open(to)
    const steps = new Set<string>()
    let currentStep = ''
    let now = Date.now()
    const { sessions } = library.libraryCopy
    const touch: typeof sessions.touch = (claim) => {
      steps.add(currentStep)
      return sessions.touch(claim)
    }
    const libraryCopy = { ...library.libraryCopy, sessions: { ...sessions, touch } }
    const { written } = await copyLibrary({
      from: await open(from),
      to: { ...library, libraryCopy, clock: { ...library.clock, now: () => (now += 10_000) } },
      onProgress: ({ step }) => {
        currentStep = step
      },
    })
    expect(written).toBe(0)
    expect([...steps]).toContain('copying')
  })

  test('resumes with the changes of the original since then', async () => {
    const from = wholeCopy()
    const [to, whole] = [await createLibrary(), await createLibrary()]
    await interrupt(from, to, 'vector')
    const { store } = await open(from)
    await store.removeSource('docs')
    await fillAt(from, { name: 'new', pages: 5 })
    const { isResumed } = await copy(from, to)
    expect(isResumed).toBe(true)
    await copy(from, whole)
    const [dumped, expected] = [await dump(to), await dump(whole)]
    for (const table of ['sources', 'ledger', 'pages', 'chunks', 'vectors', 'url_aliases', 'ledger_counts', 'lists']) {
      expect(dumped[table]).toEqual(expected[table])
    }
    expect(await search(to)).toEqual(await search(whole))
  })

  test('is not taken over while its process is alive', async () => {
    const from = await fillAt(newFile())
    const to = await createLibrary()
    await interrupt(from, to, 'chunk')
    const library = await open(to)
    const busy = { ...library, runner: { id: 'somebody else', isGone: () => false } }
    await expect(copyLibrary({ from: await open(from), to: busy })).rejects.toMatchObject({ code: 'COPY_RUNNING' })
    const gone = { ...library, runner: { id: 'somebody else', isGone: () => true } }
    expect((await copyLibrary({ from: await open(from), to: gone })).isResumed).toBe(true)
  })

  test.each([
    ['a database', createLibrary],
    ['a file', async () => newFile()],
  ])('can be discarded in %s, and leaves only rows of tables that libraries share', async (_name, openTarget) => {
    const from = wholeCopy()
    const to = await fillAt(await openTarget(), { name: 'other', pages: 2 })
    const before = await dump(to)
    const discard = async (location: string) => discardCopy(await open(to), { location })
    expect(await discard(from)).toEqual({ isDiscarded: false, others: [] })
    await interrupt(from, to, 'canonical name', true)
    expect(await dump(to)).not.toEqual(before)
    expect(await discard('/elsewhere.db')).toEqual({ isDiscarded: false, others: [from] })
    // Discarding works even if the original is gone.
    expect(await discard(from)).toEqual({ isDiscarded: true, others: [] })
    const after = await dump(to)
    const sharedTables = new Set([
      'hosts',
      'robots',
      'crawl_jobs',
      'analysis_runs',
      'reached_milestones',
      'domains',
      'url_patterns',
    ])
    for (const [table, rows] of Object.entries(before))
      if (!sharedTables.has(table)) expect([table, after[table]]).toEqual([table, rows])
    expect((await copy(from, to, { add: true })).isResumed).toBe(false)
  })

  /** Copies in a process of its own, which is killed at a step. */
  async function killAt(step: number, from: string, to: string): Promise<void> {
    const program = join(import.meta.dirname, '../copy/copy-child.ts')
    const child = spawn(process.execPath, [program, from, to, String(step)], { stdio: ['ignore', 'ignore', 'inherit'] })
    const [, signal] = await once(child, 'close')
    expect(signal).toBe('SIGKILL')
  }
})

/** Starts a copy, and aborts it once rows with this label are written. */
async function interrupt(from: string, to: string, label: string, add = false): Promise<void> {
  const stop = new AbortController()
  const onProgress = (progress: CopyProgress) => {
    if (progress.label === label) stop.abort(new Error('enough'))
  }
  await expect(copy(from, to, { onProgress, signal: stop.signal, add })).rejects.toThrow('enough')
}

describe('pharos copy', () => {
  let sandbox: ProgramSandbox
  beforeAll(() => {
    sandbox = new ProgramSandbox()
  })
  afterAll(() => sandbox.remove())

  test('reports what was copied and verified, and the target', async () => {
    const from = await fillAt(newFile())
    const to = await createLibrary()
    const withPassword = to.replace('//pharos@', '//pharos:wintergreen@')
    const { code, stdout } = await sandbox.runInProcess(['copy', from, withPassword])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^copied .*\.db to postgres:.*: \d+ rows in .*\nverified: 0 pages and 12 chunks by their content hashes, all \d+ rows of \d+ tables and 1 source one by one\n/,
      ),
    ])
    expect(stdout).not.toContain('wintergreen')
    const again = await sandbox.runInProcess(['copy', from, '--json'], { PHAROS_LIBRARY: to })
    expect(JSON.parse(again.stdout)).toMatchObject({
      copied_before: true,
      rows_written: 0,
      left_out: [],
      verified: { chunks_by_hash: 12, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  test('refuses a missing library, and a target that is not empty without the option to add', async () => {
    const missing = await sandbox.runInProcess(['copy', sandbox.path('nothing.db'), sandbox.path('new.db')])
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('there is no file at')])
    const unused = `${addressOf('postgres')}&schema=unused`
    const nothing = await sandbox.runInProcess(['copy', unused, sandbox.path('new.db')])
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('there is no library in it')])
    expect(existsSync(sandbox.path('new.db'))).toBe(false)
    const to = await fillAt(newFile(), { name: 'other' })
    const refused = await sandbox.runInProcess(['copy', await fillAt(newFile()), to])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('it already has 1 source – use an empty library, or give --add'),
    ])
    const added = await sandbox.runInProcess(['copy', await fillAt(newFile()), to, '--add'])
    expect(added.code).toBe(0)
  })

  test('discards a copy of a library that is gone, and names it when another library is copied', async () => {
    const [gone, other, to] = [await fillAt(newFile()), await fillAt(newFile()), await createLibrary()]
    await interrupt(gone, to, 'chunk')
    for (const library of opened.splice(0)) await library.close()
    rmSync(gone)
    const refused = await sandbox.runInProcess(['copy', other, to])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/: a copy of \S+ to it, started at \S+, has not finished/),
    ])
    expect(refused.stderr).toContain(gone)
    const doctor = await sandbox.runInProcess(['doctor', '--library', to], NO_BROWSER)
    expect(doctor.stdout).toMatch(/^WARN {2}library: .*; a copy of .* into it is incomplete/m)
    const wrong = await sandbox.runInProcess(['copy', other, to, '--discard'])
    expect(wrong.stdout).toContain(`there is one of ${gone}`)
    const discarded = await sandbox.runInProcess(['copy', gone, to, '--discard'])
    expect([discarded.code, discarded.stdout]).toEqual([0, expect.stringMatching(/^removed what was copied from /)])
  })
})
