import { PharosError } from '../core/errors.ts'
import { findFieldProblem } from '../core/header-fields.ts'
import { isVariableName } from './token-variables.ts'

/** Headers by name in lower case, each with the variable that holds its value. */
type HeaderVariables = ReadonlyMap<string, string>

/**
 * Parses `origin Name=VARIABLE` entries: origins with the names of their headers, and of the variables with the values. The values are not
 * settings, because settings are displayed. A host without a scheme means https, on this machine http too.
 */
export function parseSiteHeaders(entries: readonly string[]): ReadonlyMap<string, HeaderVariables> {
  const byOrigin = new Map<string, Map<string, string>>()
  for (const entry of entries) {
    const [, site = '', name = '', variable = ''] = /^(\S+)\s+([^\s=]+)=(\S+)$/.exec(entry) ?? []
    // The entry is not repeated in the message, because it may hold the secret itself.
    if (!isVariableName(variable)) refuse(EXPECTED)
    const problem = findFieldProblem(name, '')
    if (problem !== undefined) refuse(problem)
    for (const origin of parseOrigins(site)) {
      const headers = byOrigin.get(origin) ?? new Map<string, string>()
      if (headers.has(name.toLowerCase())) refuse(`${name} is given twice for ${origin}`)
      byOrigin.set(origin, headers.set(name.toLowerCase(), variable))
    }
  }
  return byOrigin
}

/** Turns `{"docs.example.com": {"Cookie": "DOCS_COOKIE"}}`, the form of the configuration file, into entries. */
export function listSiteHeaders(value: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(value).flatMap(([site, headers]) => {
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return refuse(EXPECTED)
    return Object.entries(headers).map(([name, variable]) => {
      const isEntry = typeof variable === 'string' && isVariableName(variable) && !/[\s,=]/.test(site + name)
      return isEntry ? `${site} ${name}=${variable}` : refuse(EXPECTED)
    })
  })
}

/** Reads the values of headers on demand; they are not stored. */
export interface SiteHeaderLookup {
  /** The origins that have headers. */
  readonly origins: readonly string[]
  /** The headers for the origin of an address. Throws `CONFIG_INVALID` if one of them has no usable value. */
  require(url: string): Readonly<Record<string, string>>
  /** Like `require`, but returns no headers instead of throwing. */
  find(url: string): Readonly<Record<string, string>>
  /** Why `require` would throw, as text; undefined if it would not. */
  findProblem(url: string): string | undefined
}

export function createSiteHeaderLookup(
  entries: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): SiteHeaderLookup {
  const byOrigin = parseSiteHeaders(entries)
  const require = (url: string): Record<string, string> => {
    const origin = URL.parse(url)?.origin ?? ''
    const headers = byOrigin.get(origin) ?? new Map<string, string>()
    return Object.fromEntries(
      Array.from(headers, ([name, variable]) => {
        const value = (environment[variable] ?? '').trim()
        if (value === '') refuse(`${variable}, which should hold the ${name} header for ${origin}, is not set`)
        if (findFieldProblem(name, value) !== undefined) {
          refuse(`the value of ${variable} has characters that cannot be sent in a header`)
        }
        return [name, value]
      }),
    )
  }
  const attempt = (url: string): { headers: Record<string, string>; problem?: string } => {
    try {
      return { headers: require(url) }
    } catch (error) {
      if (error instanceof PharosError) return { headers: {}, problem: String(error.details['problem']) }
      throw error
    }
  }
  return {
    origins: [...byOrigin.keys()],
    require,
    find: (url) => attempt(url).headers,
    findProblem: (url) => attempt(url).problem,
  }
}

/** Lists the variables that hold headers. */
export function listHeaderVariables(entries: readonly string[]): string[] {
  return [...new Set([...parseSiteHeaders(entries).values()].flatMap((headers) => [...headers.values()]))]
}

const EXPECTED =
  'expected hosts with headers and the names of the variables that hold them, such as {"docs.example.com": {"Cookie": "DOCS_COOKIE"}}; not PHAROS_… and not the value itself'

/** The origins that a host, or an origin, means. */
function parseOrigins(site: string): string[] {
  const hasScheme = /^https?:\/\//i.test(site)
  const url = URL.parse(hasScheme ? site : `https://${site}`)
  const isOrigin = url !== null && url.username + url.password + url.search + url.hash === '' && url.pathname === '/'
  if (url === null || !isOrigin) return refuse('expected a host or an origin such as https://docs.example.com')
  const isLoopback = LOOPBACK.test(url.hostname)
  if (url.protocol === 'http:' && !isLoopback) {
    return refuse(`headers for ${url.host} would be sent unencrypted; only https is allowed, and http on this machine`)
  }
  if (hasScheme || !isLoopback) return [url.origin]
  return [url.origin, new URL(`http://${site}`).origin]
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

function refuse(problem: string): never {
  throw new PharosError('CONFIG_INVALID', { origin: 'siteHeaders', problem })
}
