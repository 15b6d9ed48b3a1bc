import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSystemProbe } from '../../src/cli/system-probe.ts'
import { openLibrary } from '../../src/open-library.ts'
import { listUnfinishedCopies } from '../../src/store/sqlite/copy/list-unfinished-copies.ts'
import { copyToTemp, createFile, findObstacle } from '../../src/store/sqlite/database/create-file.ts'
import {
  checkFile,
  isLibrary,
  isLibraryOpen,
  openDatabase,
  readSchemaVersion,
} from '../../src/store/sqlite/database/database.ts'
import { listSourceNames } from '../../src/store/sqlite/list-source-names.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { closeLater } from '../close-later.ts'
import { LocalSite, manyPages, writePage } from '../e2e/local-site.ts'
import { type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { startServer, until } from '../e2e/server.ts'
import { addSourceTo } from '../embed/filled-store.ts'
import { findLostLock, OtherClient } from './other-client.ts'
import { type Disk, mountSmallDisk, unmountDisks } from './small-disk.ts'

const PAGES = 4

const client = new OtherClient()
let site: LocalSite
let sandbox: ProgramSandbox
/** A library with one page, which is copied. */
let filled: string

beforeAll(async () => {
  site = await LocalSite.open(manyPages(PAGES - 1))
  const box = new ProgramSandbox()
  filled = box.path('filled.db')
  box.write({ 'first/a.md': '# First\n\nThe first page.\n' })
  expect((await box.runInProcess(['add', 'first', '--library', filled])).code).toBe(0)
  return async () => {
    await site.close()
    box.remove()
  }
})

afterAll(() => client.close())

beforeEach(() => {
  sandbox = new ProgramSandbox()
  site.serve(manyPages(PAGES - 1))
  sandbox.write({ 'docs/lamp.md': '# Lamp\n\nLight the lamp at dusk.\n' })
})

afterEach(() => {
  sandbox.remove()
  unmountDisks()
})

/** Uses a library from another program while a process has it open, and expects that this process notices nothing. */
async function look(path: string, pid: number = process.pid): Promise<void> {
  expect(await client.findsLock(path)).toBe(true)
  await client.read(path)
  expect(await findLostLock(pid, path)).toEqual([])
}

/** Uses a library from another program again and again while a command runs inside this process. */
async function lookWhile(path: string, running: Promise<Outcome>): Promise<void> {
  let isOver = false
  const ended = running.finally(() => {
    isOver = true
  })
  while (!isOver) {
    if (fs.existsSync(path)) await client.read(path)
    expect(await findLostLock(process.pid, path)).toEqual([])
    await sleep(5)
  }
  expect(await ended).toMatchObject({ code: 0 })
}

/** Expects a sound library with this number of pages. */
async function expectPages(path: string, count: number): Promise<void> {
  expect(await client.check(path)).toBe('ok')
  const { stdout } = await sandbox.runInProcess(['stats', '--json', '--library', path])
  expect(JSON.parse(stdout)).toMatchObject({ pages: count })
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function startMcp(path: string): { readonly mcp: Client; readonly transport: StdioClientTransport } {
  const mcp = new Client({ name: 'test', version: '0.0.0' })
  const args = [PROGRAM, 'mcp', '--allow-private', '--library', path]
  return { mcp, transport: new StdioClientTransport({ command: process.execPath, args, env: sandbox.environment }) }
}

/** Ends a process that a failed test left. */
function killLeftover(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** What each command does with a library, and how many pages it adds. */
const COMMANDS: Readonly<Record<string, readonly [number, (path: string) => Promise<void>]>> = {
  // Two processes that end in turns: first the server, then the agent.
  'serve and mcp': [
    PAGES + 2,
    async (path) => {
      const server = await startServer(sandbox, ['--quiet', '--allow-private', '--library', path])
      closeLater(() => killLeftover(server.pid))
      await look(path, server.pid)
      for (const route of ['/api/system-health', '/api/search?q=lamp', '/ready']) {
        expect((await server.ask(route)).status).toBe(200)
        await look(path, server.pid)
      }
      const { jobId } = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/` })
      const readStatus = async () => {
        await look(path, server.pid)
        return server.get(`/api/crawls/${jobId}`)
      }
      expect(await until(readStatus, ({ status }) => status !== 'queued' && status !== 'running')).toMatchObject({
        status: 'done',
      })
      expect((await sandbox.runInProcess(['add', 'docs', '--library', path])).code).toBe(0)
      await look(path, server.pid)
      const { mcp, transport } = startMcp(path)
      await mcp.connect(transport)
      closeLater(() => mcp.close())
      await mcp.callTool({ name: 'list_sources', arguments: {} })
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
      const pid = transport.pid ?? 0
      await look(path, pid)
      site.pages.set('/more/', writePage('Oil'))
      await mcp.callTool({ name: 'add_source', arguments: { url: `${site.origin}/more/`, name: 'more' } })
      const crawlStatus = async () => {
        await look(path, pid)
        return mcp.callTool({ name: 'crawl_status', arguments: { source: 'more' } })
      }
      await until(crawlStatus, (answer) => JSON.stringify(answer).includes('"isRunning":false'))
      await mcp.close()
    },
  ],
  add: [
    PAGES,
    async (path) => {
      site.delayMs = 20
      const args = ['add', `${site.origin}/docs/`, '--allow-private', '--library', path]
      await lookWhile(path, sandbox.runInProcess(args))
    },
  ],
  watch: [
    2,
    async (path) => {
      const { child, ended } = sandbox.start(
        process.execPath,
        [PROGRAM, 'watch', 'docs', '--json', '--library', path],
        {},
      )
      closeLater(() => killLeftover(child.pid ?? 0))
      let printed = ''
      child.stdout.on('data', (text: string) => {
        printed += text
      })
      await expect.poll(() => printed).toContain('caught-up')
      await look(path, child.pid)
      sandbox.write({ 'docs/oil.md': '# Oil\n\nFill the reservoir.\n' })
      await expect.poll(() => printed).toContain('oil.md')
      await look(path, child.pid)
      child.kill('SIGINT')
      expect((await ended).code).toBe(0)
    },
  ],
  embed: [0, (path) => lookWhile(path, sandbox.runInProcess(['embed', 'run', '--library', path]))],
  copy: [
    1,
    async (path) => {
      const from = sandbox.path('from.db')
      expect((await sandbox.runInProcess(['add', 'docs', '--library', from])).code).toBe(0)
      const args = ['copy', from, path, ...(fs.existsSync(path) ? ['--add'] : [])]
      const copying = sandbox.runInProcess(args)
      await Promise.all([lookWhile(from, copying), lookWhile(path, copying)])
    },
  ],
}

describe.each(Object.entries(COMMANDS))('%s', (_name, [added, use]) => {
  test('keeps its lock on a new library while another program opens and closes the file', async () => {
    const path = sandbox.path('library.db')
    await use(path)
    await expectPages(path, added)
  })

  test('keeps its lock on an existing library while another program opens and closes the file', async () => {
    const path = sandbox.path('library.db')
    fs.copyFileSync(filled, path)
    await use(path)
    await expectPages(path, added + 1)
  })
})

/** What each command does on a disk that is full for a while, and how many pages it adds. */
const ON_FULL_DISK: Readonly<Record<string, readonly [number, (disk: Disk) => Promise<void>]>> = {
  serve: [
    PAGES,
    async (disk) => {
      const flags = ['--quiet', '--allow-private', '--library', disk.path]
      const server = await startServer(sandbox, flags, { PHAROS_FULL_DISK_TIME: '1s' })
      closeLater(() => killLeftover(server.pid))
      disk.fill()
      await server.ask('/api/search?q=lamp')
      expect((await server.ask('/api/sources', post({ url: `${site.origin}/docs/` }))).status).toBe(503)
      await look(disk.path, server.pid)
      disk.free()
      const { jobId } = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/` })
      const readStatus = () => server.get(`/api/crawls/${jobId}`)
      await until(readStatus, ({ status }) => status !== 'queued' && status !== 'running')
      await look(disk.path, server.pid)
      server.kill('SIGTERM')
      await server.ended
    },
  ],
  mcp: [
    PAGES,
    async (disk) => {
      const { mcp, transport } = startMcp(disk.path)
      await mcp.connect(transport)
      closeLater(() => mcp.close())
      await mcp.callTool({ name: 'list_sources', arguments: {} })
      disk.fill()
      const add = () => mcp.callTool({ name: 'add_source', arguments: { url: `${site.origin}/docs/`, name: 'docs' } })
      expect(await add()).toMatchObject({ isError: true })
      await look(disk.path, transport.pid ?? 0)
      disk.free()
      await add()
      const readStatus = () => mcp.callTool({ name: 'crawl_status', arguments: { source: 'docs' } })
      await until(readStatus, (answer) => JSON.stringify(answer).includes('"isRunning":false'))
      await look(disk.path, transport.pid ?? 0)
      await mcp.close()
    },
  ],
  watch: [
    2,
    async (disk) => {
      const args = [PROGRAM, 'watch', 'docs', '--json', '--library', disk.path]
      const { child, ended } = sandbox.start(process.execPath, args, {})
      closeLater(() => killLeftover(child.pid ?? 0))
      let printed = ''
      child.stdout.on('data', (text: string) => {
        printed += text
      })
      await expect.poll(() => printed).toContain('caught-up')
      disk.fill()
      sandbox.write({ 'docs/oil.md': '# Oil\n\nFill the reservoir.\n' })
      for (let i = 0; i < 20; i++) await look(disk.path, child.pid)
      disk.free()
      await expect.poll(() => printed).toContain('oil.md')
      await look(disk.path, child.pid)
      child.kill('SIGINT')
      await ended
    },
  ],
  add: [
    PAGES,
    async (disk) => {
      site.delayMs = 20
      const adding = sandbox.runInProcess(['add', `${site.origin}/docs/`, '--allow-private', '--library', disk.path])
      const looking = lookWhile(disk.path, adding)
      await expect.poll(() => site.requests.length).toBeGreaterThan(2)
      disk.fill()
      for (let i = 0; i < 20; i++) await client.read(disk.path)
      disk.free()
      await looking
    },
  ],
}

test.each(Object.entries(ON_FULL_DISK))('%s keeps its lock while the disk is full', async (_name, [added, use]) => {
  const disk = mountSmallDisk(16)
  await use(disk)
  await expectPages(disk.path, added)
})

/** Everything that looks at a library file. */
const LOOKS: Readonly<Record<string, (path: string) => unknown>> = {
  'another connection': (path) => openDatabase(path).close(),
  'a check': (path) => expect(checkFile(path)).toBeUndefined(),
  'the question whether it is a library': (path) => expect(isLibrary(path)).toBe(true),
  'the question whether it is open': (path) => expect(isLibraryOpen(path)).toBe(true),
  'its schema version': (path) => expect(readSchemaVersion(path)).toBeGreaterThan(0),
  'its sources': (path) => expect(listSourceNames(path)).toHaveLength(1),
  'its unfinished copies': (path) => expect(listUnfinishedCopies(path)).toEqual([]),
  'its creation': (path) => createFile(path),
  'the cause of a failed write': (path) => expect(findObstacle(path)).toBeUndefined(),
  'a copy for a place that cannot be written': (path) => {
    const copy = copyToTemp(path, ['', '-wal'])
    if (copy.type !== 'made') throw new Error(`expected a copy, got ${copy.type}`)
    expect(listSourceNames(copy.path)).toHaveLength(1)
    copy.remove()
  },
  'the health of the system': async (path) => {
    expect(await openSystemProbe(path).read()).toMatchObject({ journalMode: 'wal' })
  },
  'a folder that holds another name of it': async (path) => {
    const folder = sandbox.path('named')
    fs.mkdirSync(folder)
    fs.linkSync(path, join(folder, 'notes.txt'))
    const { trees, close } = await openLibrary({ path, version: '0.0.0' })
    if (trees === undefined) throw new Error('expected a reader of folders, got none')
    for (const address of [folder, join(folder, 'notes.txt')]) {
      const tree = await trees.open(trees.addressOf(address) ?? '')
      const reading = await tree.read({ path: 'notes.txt', part: null }, { version: null, stamp: null })
      expect(reading).toMatchObject({ type: 'no-page', reason: 'excluded', pattern: 'the library' })
      await tree.close()
    }
    await close()
  },
  'a folder that holds it, named by a link': async (path) => {
    const folder = sandbox.path('link')
    fs.symlinkSync(sandbox.folder, folder)
    const { trees, close } = await openLibrary({ path: join(folder, 'library.db'), version: '0.0.0' })
    if (trees === undefined) throw new Error('expected a reader of folders, got none')
    const tree = await trees.open(trees.addressOf(folder) ?? '')
    const files: string[] = []
    for await (const entry of tree.walk(AbortSignal.timeout(60_000))) if (entry.type === 'file') files.push(entry.path)
    expect(files).toEqual(['docs/lamp.md'])
    await expect(trees.open(trees.addressOf(path) ?? '')).rejects.toThrow('it belongs to the library')
    await tree.close()
    await close()
  },
}

test.each(Object.entries(LOOKS))('%s leaves the locks of an open library alone', async (_name, lookAt) => {
  const path = sandbox.path('library.db')
  const store = await openSqliteStore(path)
  await addSourceTo(store, 'docs')
  await lookAt(path)
  await look(path)
  await addSourceTo(store, 'more')
  await store.close()
  expect(await client.check(path)).toBe('ok')
  expect(listSourceNames(path)).toHaveLength(2)
})
