import type { PlaceTables } from '../src/places/ports/places-library.ts'
import { openPlaceTables } from '../src/places/store/open-places.ts'
import { openPostgresStore, type PostgresStore } from '../src/store/postgres/store.ts'
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/store.ts'

/** Opens a library in an SQLite file with its tables of places. */
export async function openSqliteWithPlaces(path: string): Promise<SqliteStore & PlaceTables> {
  const store = await openSqliteStore(path)
  return { ...store, ...(await openPlaceTables(store)) }
}

/** Opens a library in a PostgreSQL database with its tables of places. */
export async function openPostgresWithPlaces(address: string): Promise<PostgresStore & PlaceTables> {
  const store = await openPostgresStore(address)
  return { ...store, ...(await openPlaceTables(store)) }
}
