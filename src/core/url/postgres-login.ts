import { decodePart } from './decode-part.ts'
import { parsePostgres } from './postgres-address.ts'

/** The role and the database of an address, in the form that repair commands need. */
export interface Login {
  /** Quoted for SQL statements, as are `database` and `schema`. */
  readonly role: string
  readonly database: string
  readonly schema: string
  /** The command that creates the database. */
  readonly createdb: string
}

/** Parses an address, with or without a password. Missing parts are shown in brackets. */
export function describeLogin(address: string): Login {
  const url = parsePostgres(address)
  const parameterOf = (name: string) => url?.searchParams.get(name) ?? undefined
  const user = parameterOf('user') ?? decodeOptional(/:\/\/([^/?#@:]*)(?::[^/?#]*)?@/.exec(address)?.[1])
  const database = decodeOptional(url?.pathname.slice(1))
  const isSocket = /:\/\/([^/?#]*@)?(?:[/?#]|$)/.test(address)
  const host = parameterOf('host') ?? (isSocket ? undefined : url?.hostname)
  const port = parameterOf('port') ?? (url?.port || undefined)
  const words = [
    ...(host === undefined ? [] : ['-h', quoteShellWord(host)]),
    ...(port === undefined ? [] : ['-p', quoteShellWord(port)]),
    ...(user === undefined ? [] : ['-U', quoteShellWord(user)]),
    database === undefined ? '<database>' : quoteShellWord(database),
  ]
  return {
    role: user === undefined ? '<role>' : quoteIdentifier(user),
    database: database === undefined ? '<database>' : quoteIdentifier(database),
    schema: quoteIdentifier(parameterOf('schema') ?? 'pharos'),
    createdb: ['createdb', ...words].join(' '),
  }
}

function decodeOptional(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : decodePart(text)
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
