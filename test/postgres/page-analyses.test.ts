import { describe } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { describePageAnalyses } from '../contracts/page-analyses.contract.ts'
import { openPostgresWithPlaces } from '../place-store.ts'
import { createLibrary } from './databases.ts'

describe('page analyses in PostgreSQL', () => {
  describePageAnalyses(async () => {
    const address = await createLibrary()
    return { store: await openPostgresWithPlaces(address), sql: await openDatabase(address) }
  })
})
