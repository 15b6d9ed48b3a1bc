import { describe } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describePageAnalyses } from '../contracts/page-analyses.contract.ts'
import { createLibrary } from './databases.ts'

describe('page analyses in PostgreSQL', () => {
  describePageAnalyses(async () => {
    const address = await createLibrary()
    return { store: await openPostgresStore(address), sql: await openDatabase(address) }
  })
})
