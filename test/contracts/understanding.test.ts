import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { openSqlAccess } from './sqlite-access.ts'
import { describeUnderstanding } from './understanding.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-understanding-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

describe('the SQLite store', () => {
  describeUnderstanding(async () => {
    const path = join(folder, `${files++}.db`)
    return { store: await openSqliteStore(path), sql: openSqlAccess(path) }
  })
})
