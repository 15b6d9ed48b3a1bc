import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'

/** A requirement of a Python project (https://packaging.python.org/en/latest/specifications/dependency-specifiers/). */
export type PythonRequirement =
  | { readonly kind: 'registry'; readonly name: string; readonly range: string; readonly version: string | null }
  | { readonly kind: 'elsewhere'; readonly name: string; readonly reason: string }

const NAME = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)\s*(?:\[[^\]]*\])?\s*/i
const CLAUSES = /^(?:(?:===|==|~=|!=|<=|>=|<|>)\s*(?:[^\s,;()<>=!~]|!(?!=))+\s*(?:,\s*)?)*$/

/** Parses a requirement such as `name[extra]>=1.0,<2; python_version < "3.9"`, or `name @ https://…`. Undefined for anything else. */
export function parsePythonRequirement(text: string): PythonRequirement | undefined {
  const name = NAME.exec(text)
  if (name === null) return undefined
  const rest = text.slice(name[0].length)
  if (rest.startsWith('@')) {
    return { kind: 'elsewhere', name: name[1] ?? '', reason: describeOrigin(rest.slice(1).trim()) }
  }
  const [specifier = ''] = rest.split(';', 1)
  const range = specifier
    .trim()
    .replace(/^\((.*)\)$/s, '$1')
    .trim()
  if (range.length > MAX_RANGE_CHARS || !CLAUSES.test(range)) return undefined
  return { kind: 'registry', name: name[1] ?? '', range: range || '*', version: exactPythonVersion(range) }
}

const MAX_RANGE_CHARS = 1000

/** The exact version that a range such as `==1.2.3` allows; null if it allows several. */
export function exactPythonVersion(range: string): string | null {
  return /^={2,3}\s*([^\s,*]+)$/.exec(range.trim())?.[1] ?? null
}

/** Why a path or address is not from a registry. */
export function describeOrigin(address: string): string {
  if (/^(?:git|hg|svn|bzr)\+|^git@|\.git(?:[@#]|$)/i.test(address)) return FROM_GIT
  return /^https?:/i.test(address) ? FROM_URL : FROM_FOLDER
}
