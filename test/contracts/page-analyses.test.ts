import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { openSqliteWithPlaces } from '../place-store.ts'
import { describePageAnalyses } from './page-analyses.contract.ts'
import { openSqlAccess } from './sqlite-access.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-page-analyses-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

describe('page analyses in SQLite', () => {
  describePageAnalyses(async () => {
    const path = join(folder, `${files++}.db`)
    return { store: await openSqliteWithPlaces(path), sql: openSqlAccess(path) }
  })
})
