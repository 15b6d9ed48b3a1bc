import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { inject } from 'vitest'
import { isPostgres } from '../src/core/url/postgres-address.ts'
import { createLibrary, renameDatabase } from './postgres/databases.ts'

const made = new Map<string, string>()

/**
 * Where a test keeps its library: at the path it has for it, or, where the tests are run on PostgreSQL, in a database that stands for this
 * path. Those in memory are never the same.
 */
export async function placeLibrary(path: string): Promise<string> {
  // Provided by the project of tests that starts a PostgreSQL, and by no other.
  const server: string | undefined = inject('postgres')
  if (server === undefined || isPostgres(path)) return path
  const place = made.get(path) ?? (await createLibrary())
  if (path !== ':memory:') made.set(path, place)
  return place
}

/** Takes a library away that nobody has open. */
export async function hideLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(nameOf(place), `${nameOf(place)}_away`)
  renameSync(place, `${place}.away`)
  // What cannot be opened as a library.
  mkdirSync(place)
}

/** Brings it back. */
export async function showLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(`${nameOf(place)}_away`, nameOf(place))
  rmdirSync(place)
  renameSync(`${place}.away`, place)
}

function nameOf(address: string): string {
  return /\/(\w+)\?/.exec(address)?.[1] ?? ''
}
