import { describe } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeAddresses } from '../contracts/addresses.contract.ts'
import { createLibrary } from './databases.ts'

describe('the addresses in PostgreSQL', () => {
  describeAddresses(async () => openPostgresStore(await createLibrary()))
})
