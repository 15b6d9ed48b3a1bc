import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { describeOwnFiles } from './own-file.contract.ts'

describeOwnFiles(() => openSqliteStore(':memory:'))
