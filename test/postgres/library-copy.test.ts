import { describe } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeLibraryCopy } from '../contracts/library-copy.contract.ts'
import { createLibrary } from './databases.ts'

describe('copies of a library in PostgreSQL', () => {
  describeLibraryCopy(async () => {
    const address = await createLibrary()
    const sql = await openDatabase(address)
    return {
      store: await openPostgresStore(address),
      sql,
      listColumns: async () => {
        const found = await sql.all<{ name: string }>(
          `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = current_schema()`,
        )
        return found.map(({ name }) => name.replace(/^places\.(?=canonical_)/, 'canonical_names.'))
      },
    }
  })
})
