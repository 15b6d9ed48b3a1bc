import { isPostgres } from '../../core/url/postgres-address.ts'

/**
 * Arguments that select the library of a process. A database address is passed in the environment instead, because it may contain a
 * password and arguments are visible in process lists.
 */
export function libraryFlags(libraryPath: string): string[] {
  return isPostgres(libraryPath) ? [] : [`--library=${libraryPath}`]
}
