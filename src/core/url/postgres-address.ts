/** Whether a library is meant that lives in PostgreSQL; any other is a file. */
export function isPostgres(library: string): boolean {
  return /^postgres(ql)?:\/\//.test(library)
}

/** Beginnings of texts that are meant as database addresses: a scheme, a host with its port, a user at a host. */
const SCHEME = /^[a-z][a-z0-9+.-]+:(?=\/)|^postgres(ql)?:/i
const BARE = /^(?:[^/\\@]+@[^/\\]+|[\w.-]+:\d+)\//

/**
 * Why a text names no library, although it is neither the address of one in PostgreSQL nor, by the looks of it, a file; undefined where it
 * is one of these. It is not repeated: it may hold a password.
 */
export function findMistaken(library: string): string | undefined {
  if (isPostgres(library)) return undefined
  const scheme = SCHEME.exec(library)?.[0].toLowerCase()
  if (scheme !== undefined) {
    return `a file, or an address such as ${EXAMPLE}, got one that begins with ${JSON.stringify(scheme)}`
  }
  if (!BARE.test(library)) return undefined
  return `a file, or an address such as ${EXAMPLE}, got one without postgres://; a file of such a name is given with ./ before it`
}

/** How the address of a library in PostgreSQL looks. */
export const EXAMPLE: string = 'postgres://user@host:5432/database'

/** The place of a library as it may be shown and logged: the address of a database without its password. */
export function hidePassword(library: string): string {
  if (!isPostgres(library)) return library
  // Where it is no address, the password may hold what would end one.
  const password = parsePostgres(library) === null ? /(:\/\/[^:@/?#]*):.*@/s : /(:\/\/[^:@/?#]*):[^/?#]*@/
  return library.replace(password, '$1@').replace(/([?&]password=)[^&]*/gi, '$1…')
}

/** The address of a database taken apart, also where it has no host because a socket is meant; null where it is none. */
export function parsePostgres(address: string): URL | null {
  return URL.parse(address.replace(/^postgres(ql)?:\/\/([^/?#]*@)?(?=[/?#]|$)/, `postgres://${NO_HOST}`))
}

/** Names the database of an address: the name does not depend on the user or the spelling of the address. */
export function nameDatabase(address: string): string {
  const url = parsePostgres(address)
  if (url === null) return address
  const { hostname, port, pathname, searchParams } = url
  const host = searchParams.get('host') ?? (hostname === NO_HOST ? 'localhost' : hostname)
  const places = [host, searchParams.get('port') ?? (port || '5432'), pathname, searchParams.get('schema') ?? '']
  return JSON.stringify(places)
}

/** Stands for the host of an address that has none. */
const NO_HOST = 'placeholder.invalid'
