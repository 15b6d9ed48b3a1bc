import { PharosError } from '../core/errors.ts'
import { findFieldProblem } from '../fetch/header-fields.ts'

/** Reads `Name: value` as header fields. What was given is never repeated in a refusal: it may be a secret. */
export function parseHeaders(texts: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const text of texts) {
    const colon = text.indexOf(':')
    const name = text.slice(0, Math.max(colon, 0))
    const value = text.slice(colon + 1).trim()
    const isNamed = /^[\w-]+$/.test(name)
    const problem = isNamed ? findFieldProblem(name, value) : "expected 'Name: value'"
    if (problem !== undefined) throw new PharosError('USAGE', { problem: `--header: ${problem}` })
    headers[name.toLowerCase()] = value
  }
  return headers
}
