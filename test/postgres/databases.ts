import { inject } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the socket of the PostgreSQL that this run of the tests has started. */
    readonly postgres: string
  }
}

let made = 0

/** The address of a library of its own in the PostgreSQL of this run, with all its tables and nothing in them. */
export async function createLibrary(): Promise<string> {
  const name = `t${process.pid}_${made++}`
  // Copying tables is faster than making them.
  await execute(`CREATE DATABASE ${name} TEMPLATE pharos_empty STRATEGY file_copy`)
  return addressOf(name)
}

/** Gives a database that nobody is connected to another name. */
export async function renameDatabase(from: string, to: string): Promise<void> {
  await execute(`ALTER DATABASE ${from} RENAME TO ${to}`)
}

async function execute(text: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: addressOf('postgres') })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

/** The address of a database of the PostgreSQL of this run. */
export function addressOf(database: string, folder: string = inject('postgres')): string {
  return `postgres://pharos@/${database}?host=${folder}`
}

/** Makes the library that others are copies of. */
export async function createEmptyLibrary(folder: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: addressOf('postgres', folder) })
  await client.connect()
  await client.query('CREATE DATABASE pharos_empty')
  await client.end()
  await (await openDatabase(addressOf('pharos_empty', folder))).close()
}
