import { describe } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeKeptVectors, describeVectors } from '../contracts/vectors.contract.ts'
import { createLibrary } from './databases.ts'

/** A library that is no copy of another one. */
async function createOwnLibrary(): Promise<string> {
  const address = await createLibrary()
  const db = await openDatabase(address)
  await db.run(`UPDATE library_identity SET library = replace(gen_random_uuid()::text, '-', '')`)
  await db.close()
  return address
}

describe('the vectors of the PostgreSQL store', () => {
  describeVectors(async () => openPostgresStore(await createOwnLibrary()))
  describeKeptVectors(createLibrary, (place) => openPostgresStore(place))
})
