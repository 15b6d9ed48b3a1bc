import { isPostgres } from '../../core/url/postgres-address.ts'

/**
 * How a process is told which library to use. The address of a database may hold a password, and whoever may list processes sees what
 * each was told: it is handed over with the environment.
 */
export function libraryFlags(libraryPath: string): string[] {
  return isPostgres(libraryPath) ? [] : [`--library=${libraryPath}`]
}
