import { describe } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { closeLater } from '../close-later.ts'
import { describeEarlierPages } from '../contracts/earlier-pages.contract.ts'
import { createLibrary } from './databases.ts'

describe('earlier pages in PostgreSQL', () => {
  describeEarlierPages(async () => {
    const store = await openPostgresStore(await createLibrary())
    closeLater(() => store.close())
    return store
  })
})
