import { describe } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeStore } from '../contracts/store.contract.ts'
import { createLibrary } from './databases.ts'

describe('the PostgreSQL store', () => {
  describeStore(async () => openPostgresStore(await createLibrary()))
})
