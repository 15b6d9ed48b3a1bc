import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test, vi } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { openQueue } from '../../src/processes/open-queue.ts'
import { parseConnectionAddress } from '../../src/store/postgres/database/connection-address.ts'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { openInspector } from '../../src/store/postgres/inspect.ts'
import { addressOf, createDatabase, createLibrary, execute } from './databases.ts'

const role = `colleague${process.pid}`

/** The name of the database of an address. */
const nameOf = (address: string) => /\/(\w+)\?/.exec(address)?.[1] ?? ''
/** The same address for another role. */
const forRole = (address: string, otherRole: string) => address.replace('pharos@', `${otherRole}@`)

test('errors about missing rights name the GRANT statement', async () => {
  const address = await createLibrary()
  const roleAddress = forRole(address, role)
  await execute(`CREATE ROLE ${role} LOGIN`)
  // The role may not use the schema.
  const refusal = {
    code: 'LIBRARY_UNUSABLE',
    entry: { advice: expect.stringContaining(`GRANT USAGE ON SCHEMA "pharos" TO "${role}"`) },
  }
  await expect(openDatabase(roleAddress)).rejects.toMatchObject(refusal)
  const inspector = await openInspector(roleAddress)
  await expect(inspector.inspect().finally(() => inspector.close())).rejects.toMatchObject(refusal)
  // The role may read, but not write.
  await execute(`GRANT USAGE ON SCHEMA pharos TO ${role}`, nameOf(address))
  await execute(`GRANT SELECT ON ALL TABLES IN SCHEMA pharos TO ${role}`, nameOf(address))
  const library = await openLibrary({ path: roleAddress, version: '0' })
  try {
    await expect(addSource(library, { url: 'https://a.example/' })).rejects.toMatchObject({
      code: 'LIBRARY_READ_ONLY',
      entry: { advice: expect.stringContaining(`ON ALL TABLES IN SCHEMA "pharos" TO "${role}"`) },
    })
  } finally {
    await library.close()
  }
  const again = await openInspector(roleAddress)
  const facts = await again.inspect().finally(() => again.close())
  expect(facts).toMatchObject({ mayWrite: false, mayQueue: false, role })
  // The role may not create the schema of the queue, nor use an existing one.
  const queue = { ...parseConnectionAddress(roleAddress), warn: () => undefined }
  await expect(openQueue(queue)).rejects.toMatchObject({
    entry: { advice: expect.stringContaining(`CREATE SCHEMA "pharos_jobs" AUTHORIZATION "${role}"`) },
  })
  await (await openQueue({ ...parseConnectionAddress(address), warn: () => undefined })).close()
  await expect(openQueue(queue)).rejects.toMatchObject({
    entry: { advice: expect.stringContaining(`GRANT USAGE, CREATE ON SCHEMA "pharos_jobs" TO "${role}"`) },
  })
  // The role may not even connect.
  const closed = await createDatabase()
  await execute(`REVOKE CONNECT ON DATABASE ${closed} FROM PUBLIC`)
  await expect(openDatabase(forRole(addressOf(closed), role))).rejects.toMatchObject({
    code: 'LIBRARY_UNUSABLE',
    message: expect.stringContaining(`GRANT CONNECT ON DATABASE "${closed}" TO "${role}"`),
  })
  await execute(`ALTER ROLE ${role} CONNECTION LIMIT 0`)
  await expect(openDatabase(roleAddress)).rejects.toMatchObject({
    code: 'LIBRARY_UNREACHABLE',
    entry: { advice: expect.stringContaining('max_connections') },
  })
})

test('the error about a missing database names the command that creates it', async () => {
  await expect(openDatabase(addressOf('absent'))).rejects.toMatchObject({
    message: expect.stringContaining(`create it with: createdb -h ${inject('postgres')} -U pharos absent`),
  })
})

test('a server that requires an unknown password leaves no open connection', async () => {
  // `guarded` is the only role of this server that needs a password. Other tests create it too.
  await execute(
    `DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'another'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
  )
  // A closed connection takes a moment to disappear.
  await sleep(100)
  const count = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length
  const before = count()
  await expect(openDatabase(forRole(addressOf('postgres'), 'guarded'))).rejects.toMatchObject({
    message: expect.stringContaining('the server requires a password'),
  })
  await vi.waitFor(() => expect(count()).toBe(before), { timeout: 5000, interval: 50 })
})
