import { inject } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Socket folder of the PostgreSQL server of this test run. */
    readonly postgres: string
  }
}

let databaseCount = 0

/** Creates an empty library on the server of this test run, and returns its address. */
export async function createLibrary(): Promise<string> {
  return addressOf(await copyDatabase('pharos_empty'))
}

/** Returns a function that creates libraries with the same content. The first call fills a library, and every call returns a copy of it. */
export function createFilled(fill: (address: string) => Promise<void>): () => Promise<string> {
  let filled: Promise<string> | undefined
  const make = async () => {
    const name = await copyDatabase('pharos_empty')
    await fill(addressOf(name))
    return name
  }
  return async () => {
    filled ??= make()
    return addressOf(await copyDatabase(await filled))
  }
}

/** Copies a database that has no open connections, and returns the name of the copy. Copying tables is faster than creating them. */
async function copyDatabase(from: string): Promise<string> {
  const name = newName()
  await execute(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY file_copy`)
  return name
}

function newName(): string {
  return `t${process.pid}_${databaseCount++}`
}

/** Renames a database that has no open connections. */
export async function renameDatabase(from: string, to: string): Promise<void> {
  await execute(`ALTER DATABASE ${from} RENAME TO ${to}`)
}

/** Creates an empty database, and returns its name. */
export async function createDatabase(): Promise<string> {
  const name = newName()
  await execute(`CREATE DATABASE ${name}`)
  return name
}

/** Runs a statement as superuser. */
export async function execute(text: string, database = 'postgres', folder?: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: addressOf(database, folder) })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

/** The address of a database on the server of this test run. */
export function addressOf(database: string, folder: string = inject('postgres')): string {
  return `postgres://pharos@/${database}?host=${folder}`
}

/** Creates the empty library that {@link createLibrary} copies. */
export async function createEmptyLibrary(folder: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: addressOf('postgres', folder) })
  await client.connect()
  await client.query('CREATE DATABASE pharos_empty')
  await client.end()
  await (await openDatabase(addressOf('pharos_empty', folder))).close()
}
