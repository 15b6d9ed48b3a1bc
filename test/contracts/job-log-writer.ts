import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { event } from './job-notes.ts'

// One of several processes that write to the same job history concurrently.
const [, , path = '', name = ''] = process.argv
const store = await openSqliteStore(path)
for (let i = 0; i < 100; i++) {
  await store.jobLog.append(Array.from({ length: 5 }, (_, j) => event('shared', `/${name}/${5 * i + j}`)))
}
await store.close()
