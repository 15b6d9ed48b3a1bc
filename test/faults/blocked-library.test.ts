import { closeSync, copyFileSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { openLibrary } from '../../src/open-library.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { closeLater } from '../close-later.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { startServer, until } from '../e2e/server.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { type Child, expectCompleted, startChild } from '../sites/children.ts'
import type { ChildOptions } from '../sites/crawl-child.ts'
import { createLibraryPath, type Dump, readDump, readUninterrupted } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { openSite, type Site } from '../sites/site.ts'
import { resumeCrawl } from './resume-crawl.ts'
import { type Disk, mountSmallDisk, unmountDisks } from './small-disk.ts'

const LONG = process.env['TEST_LONG'] !== undefined
const SIZE = LONG ? 300 : 24
const DISK_MB = LONG ? 64 : 16
/** A fast clock, so that the tests do not wait for retry pauses. */
const QUICK: ChildOptions = { speed: 4, since: Date.now(), patienceMs: 300 }

let site: Site
/** The result of an uninterrupted crawl. */
let whole: Dump

beforeAll(async () => {
  site = await openSite(messySite(SIZE))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  whole = await readUninterrupted(site, {}, false)
})

afterAll(() => site.close())

function crawl(path: string, options: ChildOptions = QUICK): Child {
  return startChild('crawl', path, `${site.origin}/`, JSON.stringify(options))
}

async function expectSameEnd(child: Child, path: string): Promise<void> {
  await expectCompleted(child)
  await expect(readDump(path, site.origin)).resolves.toEqual(whole)
}

/** Resumes a crawl and expects the result of an uninterrupted one. */
async function expectToResume(path: string, options: ChildOptions = QUICK): Promise<void> {
  const { summary, events } = await resumeCrawl(path, site, options)
  expect(summary.end).toBe('completed')
  expect(events[0]).toMatchObject({ type: 'started', isResumed: true })
  await expect(readDump(path, site.origin)).resolves.toEqual(whole)
}

/** Expects that a waiting crawl still reports progress and sends no request. */
async function expectToWait(child: Child): Promise<void> {
  const countProgress = () => child.lines.filter(({ type }) => type === 'progress').length
  // Requests under way when the crawl paused complete first.
  await sleep(400)
  const [requestCount, before] = [site.requests.length, countProgress()]
  await sleep(800)
  expect(site.requests.length).toBe(requestCount)
  await expect.poll(countProgress).toBeGreaterThan(before)
  expect(child.lines.filter(({ type }) => type === 'paused')).toHaveLength(1)
  expect(child.lines.filter(({ type }) => type === 'resumed')).toEqual([])
}

describe('a disk that is full', () => {
  test('makes a crawl wait until there is space', async () => {
    const disk = mountDisk()
    const child = crawl(disk.path)
    await child.waitForEvents('settled', 5)
    disk.fill()
    await child.waitForEvents('paused')
    expect(child.lines.find(({ type }) => type === 'paused')).toMatchObject({
      cause: 'disk-full',
      detail: expect.stringContaining('the disk is full'),
    })
    await expectToWait(child)
    disk.free()
    await child.waitForEvents('resumed')
    expect(child.lines.find(({ type }) => type === 'resumed')).toMatchObject({ cause: 'disk-full' })
    await expectSameEnd(child, disk.path)
  })

  test('does no harm to a crawl that is killed while it waits', async () => {
    const disk = mountDisk()
    const child = crawl(disk.path)
    await child.waitForEvents('settled', 5)
    disk.fill()
    await child.waitForEvents('paused')
    child.process.kill('SIGKILL')
    await child.ended
    const refused = crawl(disk.path)
    await expect(refused.ended).resolves.toEqual({ code: 1, stderr: '' })
    expect(refused.lines).toMatchObject([{ type: 'error', code: 'LIBRARY_FULL' }])
    disk.free()
    await expectToResume(disk.path)
  })

  test('ends the crawl after the time limit, and the crawl can be resumed later', async () => {
    const disk = mountDisk()
    const child = crawl(disk.path, { ...QUICK, limits: { fullMs: 3000 } })
    await child.waitForEvents('settled', 5)
    disk.fill()
    await expect(child.ended).resolves.toEqual({ code: 0, stderr: '' })
    expect(child.lines.at(-1)).toMatchObject({
      type: 'ended',
      summary: { end: 'cancelled', problem: expect.stringContaining('the disk has been full for 3 seconds') },
    })
    disk.free()
    await expectToResume(disk.path)
  })

  test('prevents the creation of a library, and the error says why', async () => {
    const disk = mountDisk()
    disk.fill()
    const options = { path: disk.path, version: '0.0.0' }
    const problem = 'the disk is full'
    await expect(openLibrary(options)).rejects.toMatchObject({ code: 'LIBRARY_FULL', details: { problem } })
    // An existing library cannot be opened either: there is no space for the file that its processes share.
    disk.free()
    await (await openLibrary(options)).close()
    disk.fill()
    await expect(openLibrary(options)).rejects.toMatchObject({ code: 'LIBRARY_FULL', details: { problem } })
    disk.free()
    await (await openLibrary(options)).close()
    expect(readdirSync(disk.folder)).toEqual(['library.db'])
  })
})

test('a search says that the disk is full, not that nothing is found, while chunks cannot be indexed', async () => {
  const disk = mountDisk()
  const library = await openLibrary({ path: disk.path, version: '0.0.0' })
  closeLater(() => library.close())
  await addSourceTo(library.store, 'docs')
  await writePage(library.store, 'docs', '/a', 'a lighthouse')
  expect((await searchLibrary(library, { query: 'lighthouse' })).passages).toHaveLength(1)
  await writePage(library.store, 'docs', '/b', 'a harbour')
  disk.fill()
  expect(await searchLibrary(library, { query: 'lighthouse' })).toMatchObject({
    passages: [{ text: expect.stringContaining('lighthouse') }],
    notices: ['Not indexed, because the disk is full: 1 of 2 passages are searchable'],
  })
  await expect(searchLibrary(library, { query: 'harbour' })).rejects.toMatchObject({ code: 'LIBRARY_FULL' })
  disk.free()
  expect((await searchLibrary(library, { query: 'harbour' })).passages).toHaveLength(1)
})

test('the command line reports in one line each that it waits, that it continues, and that it cannot start', async () => {
  const disk = mountDisk()
  const answers: string[] = []
  const notes: string[] = []
  const streams = {
    stdout: { write: (text: string) => answers.push(text) > 0 },
    stderr: { write: (text: string) => notes.push(text) > 0 },
  }
  const args = ['add', `${site.origin}/`, '--library', disk.path, '--allow-private']
  disk.fill()
  await expect(run(args, streams)).resolves.toBe(1)
  expect(notes.splice(0).join('')).toMatch(
    /^pharos: there is no room left for the library \S+: the disk is full – free some space, .*\n$/,
  )
  expect(answers).toEqual([])
  disk.free()
  fillDuringCrawl(disk)
  const ended = run(args, streams)
  await expect.poll(() => notes.join('')).toContain('paused')
  disk.free()
  await expect(ended).resolves.toBe(0)
  expect(notes.join('')).toMatch(
    /^paused: there is no room left .*; the crawl resumes when there is free disk space, and stops after 5 minutes$/m,
  )
  expect(notes.join('')).toMatch(/^resumed after \S+$/m)
  expect(answers.join('')).toContain('pages')
})

test('the command line gives up when the disk has been full for `fullDiskTime`, without a terminal', async () => {
  const disk = mountDisk()
  const notes: string[] = []
  const streams = {
    stdout: { write: () => true },
    stderr: { write: (text: string) => notes.push(text) > 0 },
  }
  vi.stubEnv('PHAROS_FULL_DISK_TIME', '1s')
  fillDuringCrawl(disk)
  await expect(run(['add', `${site.origin}/`, '--library', disk.path, '--allow-private'], streams)).resolves.toBe(1)
  expect(notes.join('')).toMatch(/the crawl resumes when there is free disk space, and stops after 1 second$/m)
  expect(notes.at(-1)).toMatch(
    /^pharos: there is no room left for the library \S+: the disk has been full for 1 second; .* – nothing is lost; go on with: /,
  )
  disk.free()
  // Another process may take over the crawl of this live process only after a while, so the clock of the other one is two minutes ahead.
  await expectToResume(disk.path, { ...QUICK, since: Date.now() - 120_000 })
})

describe('a server whose disk stays full', () => {
  const environment = { PHAROS_FULL_DISK_TIME: '1s' }
  const problem = expect.stringContaining('the disk has been full for 1 second')
  let sandbox: ProgramSandbox
  let disk: Disk

  beforeEach(() => {
    sandbox = new ProgramSandbox()
    disk = mountDisk()
    fillDuringCrawl(disk)
  })
  afterEach(() => sandbox.remove())

  test('serve gives up the crawl after `fullDiskTime`, and says why', async () => {
    const flags = ['--allow-private', '--quiet', '--library', disk.path]
    const server = await startServer(sandbox, flags, environment)
    closeLater(async () => {
      server.kill('SIGKILL')
      await server.ended
    })
    const { jobId } = (await server.post('/api/crawl', { startUrl: `${site.origin}/` })) as { jobId: string }
    const isOver = ({ status }: Record<string, unknown>) => status !== 'queued' && status !== 'running'
    expect(await until(() => server.get(`/api/crawls/${jobId}`), isOver)).toMatchObject({ status: 'failed', problem })
  })

  test('mcp gives up the crawl after `fullDiskTime`, and says why', async () => {
    const client = new Client({ name: 'test', version: '0.0.0' })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, 'mcp', '--allow-private', '--library', disk.path],
        env: { ...sandbox.environment, ...environment },
      }),
    )
    closeLater(() => client.close())
    await client.callTool({ name: 'add_source', arguments: { url: `${site.origin}/`, name: 'site' } })
    const readProblem = async () => {
      const { structuredContent } = await client.callTool({ name: 'crawl_status', arguments: { source: 'site' } })
      // The tool declares this shape.
      return (structuredContent as { report: { crawl: { problem: string | null } } }).report.crawl.problem
    }
    expect(await until(readProblem, (found) => found !== null)).toEqual(problem)
  })
})

/** Fills the disk of a library when a crawl requests the page `/guide/7`. */
function fillDuringCrawl(disk: Disk): void {
  const answer = site.pages.get('/guide/7') ?? ''
  site.pages.set('/guide/7', () => {
    disk.fill()
    site.pages.set('/guide/7', answer)
    return typeof answer === 'function' ? '' : answer
  })
}

describe('a library that another process keeps locked', () => {
  test('makes a crawl wait until it is unlocked', async () => {
    const path = await createLibraryPath()
    const child = crawl(path)
    await child.waitForEvents('settled', 5)
    const other = new Sqlite(path, { timeout: 10_000 })
    try {
      other.exec('BEGIN EXCLUSIVE')
      await child.waitForEvents('paused')
      expect(child.lines.find(({ type }) => type === 'paused')).toMatchObject({ cause: 'locked' })
      await expectToWait(child)
      other.exec('COMMIT')
    } finally {
      other.close()
    }
    await child.waitForEvents('resumed')
    await expectSameEnd(child, path)
  })
})

describe('a library on a disk that can only be read', () => {
  test('gives a clear error, and its crawl resumes when it is writable again', async () => {
    const disk = mountDisk()
    const child = crawl(disk.path)
    await child.waitForEvents('settled', 5)
    child.process.kill('SIGKILL')
    await child.ended
    disk.remount('ro')
    const refused = crawl(disk.path)
    await expect(refused.ended).resolves.toEqual({ code: 1, stderr: '' })
    expect(refused.lines).toMatchObject([{ type: 'error', code: 'LIBRARY_READ_ONLY' }])
    disk.remount('rw')
    await expectToResume(disk.path)
  })

  test('is opened for reading with any leftover files beside it, unless its format is too old', async () => {
    const disk = mountDisk()
    const pathOf = (name: string) => join(disk.folder, `${name}.db`)
    const store = await openSqliteStore(disk.path)
    await addSourceTo(store, 'docs')
    await writePage(store, 'docs', '/a', 'a lighthouse')
    await store.indexMissingChunks()
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(disk.path + suffix, pathOf('killed') + suffix)
    for (const suffix of ['', '-wal']) copyFileSync(disk.path + suffix, pathOf('moved') + suffix)
    await store.close()
    for (const name of ['old', 'torn']) copyFileSync(disk.path, pathOf(name))
    const old = new Sqlite(pathOf('old'))
    old.pragma('user_version = 6')
    const root = Number(old.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'ledger_by_key'").pluck().get())
    const size = Number(old.pragma('page_size', { simple: true }))
    old.close()
    // Simulates a write during the copy: one page is from another moment.
    const torn = openSync(pathOf('torn'), 'r+')
    writeSync(torn, Buffer.alloc(size), 0, size, (root - 1) * size)
    closeSync(torn)
    closeSync(openSync(`${pathOf('torn')}-wal`, 'w'))
    disk.remount('ro')
    for (const path of [disk.path, pathOf('killed'), pathOf('moved')]) {
      const notices: string[] = []
      const reader = await openSqliteStore(path, undefined, (text) => notices.push(text))
      // Pharos reads a copy only if the original cannot be opened because its `-shm` file is missing.
      expect(notices).toEqual(
        path === pathOf('killed') ? [] : [expect.stringContaining(`${path} is not writable: Pharos reads a copy`)],
      )
      expect(await reader.search({ query: 'lighthouse', limit: 5 })).toHaveLength(1)
      expect((await reader.jobLog.listTypes()).map(({ name }) => name)).toContain('docs')
      const refused = { code: 'LIBRARY_READ_ONLY', details: { library: path } }
      await expect(addSourceTo(reader, 'more')).rejects.toMatchObject(refused)
      expect(await reader.listSources()).toHaveLength(1)
      await reader.close()
    }
    await expect(openSqliteStore(pathOf('torn'))).rejects.toMatchObject({ code: 'LIBRARY_LOCKED' })
    const fullDisk = mountDisk()
    fullDisk.fill()
    vi.stubEnv('TMPDIR', fullDisk.folder)
    await expect(openSqliteStore(pathOf('moved'))).rejects.toMatchObject({
      code: 'LIBRARY_FULL',
      details: { library: pathOf('moved'), problem: expect.stringContaining(fullDisk.folder) },
    })
    vi.unstubAllEnvs()
    for (const path of [pathOf('old'), pathOf('none')]) {
      await expect(openSqliteStore(path)).rejects.toMatchObject({
        code: 'LIBRARY_READ_ONLY',
        details: { library: path },
      })
    }
  })
})

// Runs after the processes that use the disks have ended, because hooks run in reverse order of their registration.
afterEach(() => {
  vi.unstubAllEnvs()
  unmountDisks()
})

function mountDisk(): Disk {
  return mountSmallDisk(DISK_MB)
}
