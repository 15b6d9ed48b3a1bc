import { decodePart } from './decode-part.ts'
import { splitQuery } from './query.ts'

/** An address that carries the id of a session. */
export interface SessionAddress {
  /** The address without the id. */
  readonly stripped: string
  /** The name of the id. The id itself is a kind of credential, so it is never repeated. */
  readonly name: string
}

/**
 * Removes the session id from an address: a query key (`?PHPSESSID=…`), a parameter of a segment (`;jsessionid=…`) or a segment
 * (`/(S(…))/`). Null for an address without a session id. The rest keeps its spelling; fragments are ignored.
 */
export function stripSession(url: string): SessionAddress | null {
  const start = url.indexOf('?')
  const isHinted = url.includes(';') || url.includes('/(') || (start >= 0 && HINT.test(url.slice(start)))
  if (!isHinted) return null
  const path = start < 0 ? url : url.slice(0, start)
  const search = start < 0 ? '' : url.slice(start)
  const names: string[] = []
  const stripped = dropPathSession(path, names) + dropQuerySession(search, names)
  const [name] = names
  return name === undefined ? null : { stripped, name }
}

/** A path without session ids; the names of the ids are added to `names`. */
export function dropPathSession(path: string, names: string[] = []): string {
  if (!path.includes(';') && !path.includes('/(')) return path
  const kept = path.split('/').flatMap((segment) => {
    const name = segment.includes(';') ? dropParameters(segment, names) : segment
    if (!isSessionSegment(name)) return [name]
    names.push('session')
    return []
  })
  return kept.join('/')
}

/** The query of an address, as in `URL.search`, without session ids; the names of the ids are added to `names`. */
export function dropQuerySession(search: string, names: string[] = []): string {
  if (search === '' || !HINT.test(search)) return search
  const pairs = splitQuery(search)
  const kept = pairs.filter((pair) => !isSession(pair, names))
  if (kept.length === pairs.length) return search
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/** Names that only session ids have, compared case-insensitively. */
const SESSION_NAMES: ReadonlySet<string> = new Set(
  'phpsessid phpsession jsessionid jwsessionid sessionid sessid cfid cftoken zenid oscsid xtcsid'.split(' '),
)
const SESSION_FAMILY = /^aspsessionid/

/** Names that also mean a section, a story or a talk: only random-looking values count as session ids. */
const AMBIGUOUS_NAMES: ReadonlySet<string> = new Set('sid session_id session-id session sess sess_id'.split(' '))
const RANDOM_ID = /^(?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64}|\d{20,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i
/** Letters and digits that alternate in at least five runs. A word with a year or a number, such as `keynote2023`, has fewer. */
const MIXED_ID = /^(?:[a-z]+\d+[a-z]+\d+[a-z]|\d+[a-z]+\d+[a-z]+\d)[a-z\d]*$/i
const MIN_MIXED_CHARS = 16
/** `s` is short and has many other uses, so only a hash counts. */
const HASH = /^[\da-f]{32}$/i

/** `(S(lit3py55t21z5v55vlm25s55))`, as ASP.NET writes it if a browser accepts no cookies. */
const SESSION_SEGMENT = /^\((?:[AFS]\([^()]+\))+\)$/

/** Text that every query with a session contains; most queries lack it, and need no parsing. A `%` may hide a letter. */
const HINT = /sid|sess|cfid|cftoken|zenid|[?&]s=|%/i

function isSessionSegment(segment: string): boolean {
  return segment.charCodeAt(0) === PARENTHESIS && SESSION_SEGMENT.test(segment)
}

const PARENTHESIS = 0x28
const DOTS = /^(?:\.|%2e){1,2}$/i

function dropParameters(segment: string, names: string[]): string {
  const [name = '', ...parameters] = segment.split(';')
  // Without its parameters the segment would lead to another folder.
  if (DOTS.test(name)) return segment
  return [name, ...parameters.filter((parameter) => !isSession(parameter, names))].join(';')
}

function isRandomId(value: string): boolean {
  return RANDOM_ID.test(value) || (value.length >= MIN_MIXED_CHARS && MIXED_ID.test(value))
}

function isSession(pair: string, names: string[]): boolean {
  const equals = pair.indexOf('=')
  const name = decodePart(equals < 0 ? pair : pair.slice(0, equals)).toLowerCase()
  const value = equals < 0 ? '' : decodePart(pair.slice(equals + 1))
  const isFound =
    SESSION_NAMES.has(name) ||
    SESSION_FAMILY.test(name) ||
    (AMBIGUOUS_NAMES.has(name) && isRandomId(value)) ||
    (name === 's' && HASH.test(value))
  if (isFound) names.push(name)
  return isFound
}
