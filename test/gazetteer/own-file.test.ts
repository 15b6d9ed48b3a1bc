import { openSqliteWithPlaces } from '../place-store.ts'
import { describeOwnFiles } from './own-file.contract.ts'

describeOwnFiles(() => openSqliteWithPlaces(':memory:'))
