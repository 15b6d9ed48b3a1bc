import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { zeroTable } from '../../../test/damage-library.ts'
import { readConfig } from '../../config.ts'
import { openLibrary } from '../../open-library.ts'
import { openDatabase } from '../../store/sqlite/database/database.ts'
import { type ServedLibrary, serveLibrary } from './serve-library.ts'

async function serveNewLibrary() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-served-'))
  const path = join(folder, 'library.db')
  return { folder, path, ...(await serve(folder, path)) }
}

async function serve(folder: string, path: string) {
  const warnings: string[] = []
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) }
  const served = await serveLibrary(readConfig({ environment: {}, flags: { library: path } }), log)
  onTestFinished(async () => {
    await served.close()
    rmSync(folder, { recursive: true })
  })
  return { served, warnings }
}

/** Creates a library that can be recognised: its crawl type `basic` is renamed to the given name. */
async function createLibraryFile(path: string, name: string): Promise<void> {
  await (await openLibrary({ path, version: '0' })).close()
  const db = openDatabase(path)
  db.prepare("UPDATE crawl_types SET name = ? WHERE name = 'basic'").run(name)
  db.close()
}

async function typesOf({ jobLog }: ServedLibrary): Promise<readonly string[]> {
  return (await (await jobLog()).listTypes()).map(({ name }) => name)
}

/** How long `vi.waitFor` retries: longer than the interval between two checks of the file, and between two attempts to open it. */
const WAIT_OPTIONS = { timeout: 60_000, interval: 100 }

test('a server notices that its library file was replaced or removed, and opens the new file', async () => {
  const { folder, path, served, warnings } = await serveNewLibrary()
  expect(await typesOf(served)).toContain('basic')
  const other = join(folder, 'other.db')
  await createLibraryFile(other, 'replaced')
  for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true })
  renameSync(other, path)
  await vi.waitFor(async () => expect(await typesOf(served)).toContain('replaced'), WAIT_OPTIONS)

  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true })
  await vi.waitFor(() => expect(served.open()).rejects.toMatchObject({ code: 'LIBRARY_MISSING' }), WAIT_OPTIONS)
  await createLibraryFile(path, 'again')
  await vi.waitFor(async () => expect(await typesOf(served)).toContain('again'), WAIT_OPTIONS)
  expect(warnings.filter((text) => text.includes('replaced'))).toHaveLength(2)

  // Closing handles of replaced files must not affect the current file.
  await served.close()
  const db = openDatabase(path)
  onTestFinished(() => void db.close())
  expect(db.prepare("SELECT count(*) AS n FROM crawl_types WHERE name = 'again'").get()).toEqual({ n: 1 })
})

test('a write does not block the event loop while another process holds the write lock', async () => {
  const { path, served } = await serveNewLibrary()
  const log = await served.jobLog()
  const db = openDatabase(path)
  onTestFinished(() => void db.close())
  db.exec('BEGIN IMMEDIATE')
  let ticks = 0
  const clock = setInterval(() => ticks++, 5)
  const changed = log.change('nobody', { restarts: 1 })
  await new Promise((resolve) => setTimeout(resolve, 500))
  clearInterval(clock)
  db.exec('ROLLBACK')
  await changed
  // If each attempt to write blocked the thread for 250 ms, there would be only two ticks.
  expect(ticks).toBeGreaterThan(8)
})

test('the check finds a damaged file, which is not used until a copy replaces it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-served-'))
  const path = join(folder, 'library.db')
  const copy = join(folder, 'copy.db')
  await createLibraryFile(copy, 'copied')
  await createLibraryFile(path, 'damaged')
  // Damages a table that is not read when a library is opened.
  zeroTable(path, 'robots')
  const { served, warnings } = await serve(folder, path)
  const damage = { code: 'LIBRARY_UNUSABLE', details: { state: 'damaged' } }
  await vi.waitFor(() => expect(served.waitForCheck()).rejects.toMatchObject(damage), WAIT_OPTIONS)
  await expect(served.open()).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
  expect(warnings.join()).toContain('restore a copy')

  for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true })
  renameSync(copy, path)
  await vi.waitFor(async () => expect(await typesOf(served)).toContain('copied'), WAIT_OPTIONS)
  await served.waitForCheck()
})
