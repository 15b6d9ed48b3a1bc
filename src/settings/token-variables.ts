import { PharosError } from '../core/errors.ts'
import type { GitAccess } from '../core/url/repository-url.ts'

export const TOKEN_SETTINGS = ['gitTokens', 'registryTokens'] as const
type TokenSetting = (typeof TOKEN_SETTINGS)[number]

/**
 * Maps hosts to the names of the variables with their tokens. The tokens themselves are not settings, because settings are displayed and
 * passed to child processes.
 */
export function parseTokens(name: TokenSetting, entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    entries.map((entry) => {
      const [, host = '', variable = ''] = /^([^=/@\s]+)=(\S+)$/.exec(entry) ?? []
      if (host !== '' && isVariableName(variable)) return [host.toLowerCase(), variable]
      // The entry is not repeated in the message, because it may be the token itself.
      const problem =
        'expected hosts with names of variables, such as github.com=GITHUB_TOKEN; not PHAROS_… and not the token itself'
      throw new PharosError('CONFIG_INVALID', { origin: name, problem })
    }),
  )
}

/** Whether a text can be the name of a variable with a secret. `PHAROS_…` variables hold settings, which child processes receive anew. */
export function isVariableName(text: string): boolean {
  return /^[A-Z_][A-Z0-9_]*$/.test(text) && !text.startsWith('PHAROS_')
}

/** Returns the token for a host, or undefined. Throws if the configured variable is not set. */
export type TokenLookup = GitAccess['tokenFor']

export function createTokenLookup(
  name: TokenSetting,
  entries: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): TokenLookup {
  const variables = parseTokens(name, entries)
  return (host) => {
    const variable = variables.get(host.toLowerCase())
    if (variable === undefined) return undefined
    const token = (environment[variable] ?? '').trim()
    if (token !== '') return token
    const problem = `${variable}, which should hold the token for ${host}, is not set`
    throw new PharosError('CONFIG_INVALID', { origin: name, problem })
  }
}
