import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openQueue } from '../../src/processes/open-queue.ts'
import { parseConnectionAddress } from '../../src/store/postgres/database/connection-address.ts'
import { closeLater } from '../close-later.ts'
import { addressOf, createDatabase, createLibrary, execute } from './databases.ts'
import { openLossyProxy } from './lossy-proxy.ts'

const warn = () => undefined

test('a worker whose connections pass no data any more gets its work over new ones', async () => {
  const address = await createLibrary()
  const proxy = await openLossyProxy(address)
  const [sender, worker] = [
    await openQueue({ ...parseConnectionAddress(address), warn }),
    await openQueue({ ...parseConnectionAddress(proxy.address), connectMs: 2000, warn, queryTimeoutMs: 1500 }),
  ]
  closeLater(() => sender.close())
  closeLater(() => worker.close())
  const id = randomUUID()
  const taken = new Promise((resolve) => {
    void worker.take('crawl', 1, async (work) => {
      resolve(work.id)
      return true
    })
  })
  proxy.dropAllData()
  await sender.send('crawl', { id, key: 'a' })
  expect(await taken).toBe(id)
})

test('other errors of a queue are not reported as a missing schema', async () => {
  const name = await createDatabase()
  const role = `jobless_${name}`
  await execute(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA pharos_jobs AUTHORIZATION ${role}`, name)
  // A type with a name that the queue needs exists already.
  await execute(`CREATE TYPE pharos_jobs.job_state AS ENUM ('other')`, name)
  const place = parseConnectionAddress(addressOf(name).replace('pharos@', `${role}@`))
  await expect(openQueue({ ...place, warn })).rejects.toThrow('create_queue')
})
