/** Whether a library is in PostgreSQL; any other library is a file. */
export function isPostgres(library: string): boolean {
  return /^postgres(ql)?:\/\//.test(library)
}

/** Beginnings of texts that are meant as database addresses: a scheme, a host with its port, a user at a host. */
const SCHEME = /^[a-z][a-z0-9+.-]+:(?=\/)|^postgres(ql)?:/i
const SCHEMELESS = /^(?:[^/\\@]+@[^/\\]+|[\w.-]+:\d+)\//

/**
 * Checks that a text names a PostgreSQL library or, by its form, a file. If not, returns the part of an error message that follows
 * `expected`. The message does not repeat the text, which may contain a password.
 */
export function findLibraryProblem(library: string): string | undefined {
  if (isPostgres(library)) return undefined
  const scheme = SCHEME.exec(library)?.[0].toLowerCase()
  if (scheme !== undefined) {
    return `a file, or an address such as ${EXAMPLE_ADDRESS}, got one that begins with ${JSON.stringify(scheme)}`
  }
  if (!SCHEMELESS.test(library)) return undefined
  return `a file, or an address such as ${EXAMPLE_ADDRESS}, got one without postgres://; for a file with this name, write ./ before it`
}

/** An example of a PostgreSQL library address. */
export const EXAMPLE_ADDRESS: string = 'postgres://user@host:5432/database'

/** The location of a library for display and logs: a database address without its password. */
export function hidePassword(library: string): string {
  if (!isPostgres(library)) return library
  // In an invalid address the password may contain characters that would end the password in a valid one.
  const password = parsePostgres(library) === null ? /(:\/\/[^:@/?#]*):.*@/s : /(:\/\/[^:@/?#]*):[^/?#]*@/
  return library.replace(password, '$1@').replace(/([?&]password=)[^&]*/gi, '$1…')
}

/** The parsed address of a database, even without a host, which means a socket; null for an invalid one. */
export function parsePostgres(address: string): URL | null {
  return URL.parse(address.replace(/^postgres(ql)?:\/\/([^/?#]*@)?(?=[/?#]|$)/, `postgres://${NO_HOST}`))
}

/** Names the database of an address: the name does not depend on the user or the spelling of the address. */
export function nameDatabase(address: string): string {
  const url = parsePostgres(address)
  if (url === null) return address
  const { hostname, port, pathname, searchParams } = url
  const host = searchParams.get('host') ?? (hostname === NO_HOST ? 'localhost' : hostname)
  const parts = [host, searchParams.get('port') ?? (port || '5432'), pathname, searchParams.get('schema') ?? '']
  return JSON.stringify(parts)
}

/** Placeholder for a missing host. */
const NO_HOST = 'placeholder.invalid'
