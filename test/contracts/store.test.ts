import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import type { Store } from '../../src/library/store.ts'
import { createMemoryStore } from '../../src/store/memory/memory-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { describeStore } from './store.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-store-'))
let files = 0

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  'the SQLite store in a file': () => openSqliteStore(join(folder, `${files++}.db`)),
  'the SQLite store in memory': () => openSqliteStore(':memory:'),
  'the memory store': async () => createMemoryStore(),
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(Object.entries(STORES))('%s', (_name, open) => {
  describeStore(open)
})
