import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Store } from '../../src/library/ports/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { describeStore } from './store.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-store-'))
/** The empty database is created once, because that takes longer than most tests. */
const empty = join(folder, 'empty.db')
let files = 0

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  'the SQLite store in a file': () => {
    const path = join(folder, `${files++}.db`)
    copyFileSync(empty, path)
    return openSqliteStore(path)
  },
  // The same store without a file. Many other tests use it, so only the long run repeats the contract on it.
  ...(process.env['TEST_LONG'] === undefined
    ? {}
    : { 'the SQLite store in memory': () => openSqliteStore(':memory:') }),
  'the memory store': async () => createMemoryStore(),
}

beforeAll(async () => (await openSqliteStore(empty)).close())

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(Object.entries(STORES))('%s', (_name, open) => {
  describeStore(open)
})
