import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { zeroTable } from '../../../../test/damage-library.ts'
import {
  checkFile,
  createGroupedWrite,
  type Database,
  isLibrary,
  isLibraryOpen,
  openDatabase,
  readSchemaVersion,
  writeTo,
} from './database.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-database-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function stageDatabase(): { readonly db: Database; readonly path: string; add(bytes?: number): Promise<unknown> } {
  const path = join(folder, `${files++}.db`)
  const db = openDatabase(path)
  db.exec('CREATE TABLE notes (text BLOB)')
  const insert = db.prepare<[Buffer]>('INSERT INTO notes VALUES (?)')
  const add = (bytes = 10) =>
    writeTo(
      db,
      () => {
        insert.run(Buffer.alloc(10))
        insert.run(Buffer.alloc(bytes))
      },
      50,
    )
  return { db, path, add }
}

function countNotes(db: Database): unknown {
  return db.prepare('SELECT count(*) FROM notes').pluck().get()
}

test('a link to a missing file leads to a new library, only for its owner', () => {
  const [link, second, target] = ['link.db', 'second.db', 'target.db'].map((name) => join(folder, name))
  symlinkSync('second.db', String(link))
  symlinkSync('target.db', String(second))
  openDatabase(String(link)).close()
  expect(isLibrary(String(target))).toBe(true)
  expect(statSync(String(target)).mode & 0o777).toBe(0o600)
})

describe('writing to a library that cannot be written', () => {
  test('a full disk is reported, leaves no partial write, and writing works again once there is room', async () => {
    const { db, path, add } = stageDatabase()
    db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`)
    await expect(add(100_000)).rejects.toMatchObject({
      code: 'LIBRARY_FULL',
      message: `there is no room left for the library ${path}: the disk is full`,
    })
    expect(db.inTransaction).toBe(false)
    expect(countNotes(db)).toBe(0)
    db.pragma('max_page_count = 1000000')
    await add(100_000)
    expect(countNotes(db)).toBe(2)
    db.close()
  })

  test('a lock of another writer is reported after the timeout, and writing works again once it is released', async () => {
    const { db, path, add } = stageDatabase()
    const other = openDatabase(path)
    other.exec('BEGIN EXCLUSIVE')
    await expect(add()).rejects.toMatchObject({ code: 'LIBRARY_LOCKED', details: { library: path } })
    other.exec('COMMIT')
    other.close()
    await add()
    expect(countNotes(db)).toBe(2)
    db.close()
  })

  test('a read-only file is reported, and writing works again once the file is writable', async () => {
    const { db, add } = stageDatabase()
    db.pragma('query_only = ON')
    await expect(add()).rejects.toMatchObject({
      code: 'LIBRARY_READ_ONLY',
      details: { problem: 'it is read-only' },
    })
    db.pragma('query_only = OFF')
    await add()
    expect(countNotes(db)).toBe(2)
    db.close()
  })

  test('any other error is passed through unchanged', async () => {
    const { db } = stageDatabase()
    const wrong = () => db.exec('INSERT INTO nowhere VALUES (1)')
    await expect(writeTo(db, wrong)).rejects.toMatchObject({ code: 'SQLITE_ERROR' })
    const error = new TypeError('no')
    await expect(
      writeTo(db, () => {
        throw error
      }),
    ).rejects.toBe(error)
    db.close()
  })
})

describe('grouped writes', () => {
  test('all writes of one turn of the event loop are committed at once, and each gets its own result', async () => {
    const { db, path } = stageDatabase()
    const other = openDatabase(path)
    const insert = db.prepare<[string]>('INSERT INTO notes VALUES (?)')
    const write = createGroupedWrite(db, 50)
    const seenByOthers: unknown[] = []
    const results = await Promise.all(
      ['a', 'b', 'c'].map((text) =>
        write(() => {
          insert.run(text)
          seenByOthers.push(countNotes(other))
          return text
        }),
      ),
    )
    expect(results).toEqual(['a', 'b', 'c'])
    expect(seenByOthers).toEqual([0, 0, 0])
    expect(countNotes(other)).toBe(3)
    await write(() => insert.run('d'))
    expect(countNotes(other)).toBe(4)
    other.close()
    db.close()
  })

  test('a write that fails changes nothing, and the others of its group are written', async () => {
    const { db } = stageDatabase()
    const insert = db.prepare<[string]>('INSERT INTO notes VALUES (?)')
    const write = createGroupedWrite(db, 50)
    const results = await Promise.allSettled([
      write(() => insert.run('a').changes),
      write(() => {
        insert.run('b')
        throw new RangeError('no such page')
      }),
      write(() => insert.run('c').changes),
    ])
    expect(results).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: new RangeError('no such page') },
      { status: 'fulfilled', value: 1 },
    ])
    expect(db.prepare('SELECT text FROM notes ORDER BY text').pluck().all()).toEqual(['a', 'c'])
    db.close()
  })

  test('when the disk is full, the writes that fit are kept', async () => {
    const { db } = stageDatabase()
    const insert = db.prepare<[Buffer]>('INSERT INTO notes VALUES (?)')
    const write = createGroupedWrite(db, 50)
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 2}`)
    const results = await Promise.allSettled([
      write(() => insert.run(Buffer.alloc(10)).changes),
      write(() => insert.run(Buffer.alloc(100_000)).changes),
    ])
    expect(results).toMatchObject([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: { code: 'LIBRARY_FULL' } },
    ])
    expect(countNotes(db)).toBe(1)
    db.close()
  })

  test('the lock of another writer is reported to all, none of which waits twice', async () => {
    const { db, path } = stageDatabase()
    const other = openDatabase(path)
    other.exec('BEGIN EXCLUSIVE')
    const write = createGroupedWrite(db, 50)
    let runs = 0
    const results = await Promise.allSettled([write(() => runs++), write(() => runs++)])
    const locked = { status: 'rejected', reason: { code: 'LIBRARY_LOCKED' } }
    expect(results).toMatchObject([locked, locked])
    expect(runs).toBe(0)
    other.exec('COMMIT')
    other.close()
    expect(await write(() => runs++)).toBe(0)
    db.close()
  })
})

describe('what is no library', () => {
  const inspections = [isLibrary, isLibraryOpen, checkFile, readSchemaVersion, openDatabase]

  test('a folder, pipe or device is reported at once', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const inspect of inspections) {
      expect(() => inspect(folder)).toThrow(`${folder} is a folder`)
      for (const path of [pipe, '/dev/zero']) expect(() => inspect(path)).toThrow(`${path} is not a file`)
    }
  })

  test('the database of another program is refused, and neither changed nor joined by other files', () => {
    const foreign = join(folder, 'foreign')
    for (const mode of ['delete', 'wal']) {
      mkdirSync(foreign)
      const path = join(foreign, 'other.db')
      const db = new Sqlite(path)
      db.pragma(`journal_mode = ${mode}`)
      db.exec('CREATE TABLE notes (text)')
      // As a killed program leaves its files: in the second mode with a log.
      for (const name of readdirSync(foreign).filter((one) => !one.endsWith('-shm'))) {
        copyFileSync(join(foreign, name), join(foreign, `killed-${name}`))
      }
      db.close()
      for (const name of ['other.db', 'killed-other.db']) {
        const before = readFiles(foreign)
        for (const open of [openDatabase, readSchemaVersion]) {
          expect(() => open(join(foreign, name))).toThrow('it is a database of another program')
          expect(readFiles(foreign)).toEqual(before)
        }
      }
      rmSync(foreign, { recursive: true })
    }
  })

  /** The content of all files of a folder, except for those by which processes share a log. */
  function readFiles(path: string): Record<string, string> {
    const names = readdirSync(path).filter((name) => !name.endsWith('-shm'))
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'latin1')]))
  }
})

describe('damaged library file', () => {
  test('fails every statement with LIBRARY_UNUSABLE once a damaged page was read', async () => {
    const { db, path, add } = stageDatabase()
    await add()
    db.close()
    zeroTable(path, 'notes')
    expect(checkFile(path)).toMatch(/\w/)
    const damaged = openDatabase(path)
    const error = { code: 'LIBRARY_UNUSABLE', details: { library: path, state: 'damaged' } }
    expect(() => countNotes(damaged)).toThrow(expect.objectContaining({ code: 'LIBRARY_UNUSABLE' }))
    const selectHosts = damaged.prepare('SELECT * FROM hosts')
    expect(() => selectHosts.all()).toThrow(expect.objectContaining({ code: 'LIBRARY_UNUSABLE' }))
    expect(() => [...selectHosts.iterate()]).toThrow(expect.objectContaining({ code: 'LIBRARY_UNUSABLE' }))
    await expect(writeTo(damaged, () => selectHosts.get())).rejects.toMatchObject(error)
    damaged.close()
  })

  test('a file that is too damaged to be opened is reported as damaged', () => {
    const { db, path } = stageDatabase()
    db.close()
    zeroTable(path, 'crawl_types')
    expect(() => openDatabase(path)).toThrow(/it is damaged/)
  })

  test('the check finds nothing wrong with a sound file', () => {
    const { db, path } = stageDatabase()
    db.close()
    expect(checkFile(path)).toBeUndefined()
  })
})
