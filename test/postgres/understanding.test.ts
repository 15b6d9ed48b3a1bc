import { describe } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeUnderstanding } from '../contracts/understanding.contract.ts'
import { createLibrary } from './databases.ts'

describe('the PostgreSQL store', () => {
  describeUnderstanding(async () => {
    const address = await createLibrary()
    return { store: await openPostgresStore(address), sql: await openDatabase(address) }
  })
})
