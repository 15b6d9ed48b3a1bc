import { parsePostgres } from './postgres-address.ts'

/** The role and the database of an address, in the form that repair commands need. */
export interface Login {
  /** As statements have it. */
  readonly role: string
  readonly database: string
  readonly schema: string
  /** The command that creates the database. */
  readonly createdb: string
}

/** Parses an address, with or without a password. Missing parts are shown in brackets. */
export function describeLogin(address: string): Login {
  const url = parsePostgres(address)
  const given = (name: string) => url?.searchParams.get(name) ?? undefined
  const user = given('user') ?? decoded(/:\/\/([^/?#@:]*)(?::[^/?#]*)?@/.exec(address)?.[1])
  const database = decoded(url?.pathname.slice(1))
  const isSocket = /:\/\/([^/?#]*@)?(?:[/?#]|$)/.test(address)
  const host = given('host') ?? (isSocket ? undefined : url?.hostname)
  const port = given('port') ?? (url?.port || undefined)
  const words = [
    ...(host === undefined ? [] : ['-h', shellQuoted(host)]),
    ...(port === undefined ? [] : ['-p', shellQuoted(port)]),
    ...(user === undefined ? [] : ['-U', shellQuoted(user)]),
    database === undefined ? '<database>' : shellQuoted(database),
  ]
  return {
    role: user === undefined ? '<role>' : quoted(user),
    database: database === undefined ? '<database>' : quoted(database),
    schema: quoted(given('schema') ?? 'pharos'),
    createdb: ['createdb', ...words].join(' '),
  }
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
