import { describe } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { closeLater } from '../close-later.ts'
import { describeEarlierPages } from './earlier-pages.contract.ts'

describe('earlier pages in SQLite', () => {
  describeEarlierPages(async () => {
    const store = await openSqliteStore(':memory:')
    closeLater(() => store.close())
    return store
  })
})
