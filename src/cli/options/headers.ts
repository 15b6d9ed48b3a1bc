import { readFileSync } from 'node:fs'
import { PharosError, usageError } from '../../core/errors.ts'
import { findFieldProblem } from '../../core/header-fields.ts'

/**
 * Parses `Name: value` as a header, and `@file` as a file with one header per line. A file keeps secrets off the command line, which all
 * users of the machine can see. Error messages never repeat the value, which may be a secret.
 */
export function parseHeaders(texts: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { place, text } of texts.flatMap(listFields)) {
    const colon = text.indexOf(':')
    const name = text.slice(0, Math.max(colon, 0))
    const value = text.slice(colon + 1).trim()
    const isValidName = /^[\w-]+$/.test(name)
    const problem = isValidName ? findFieldProblem(name, value) : "expected 'Name: value'"
    if (problem !== undefined) throw usageError(`${place}: ${problem}`)
    headers[name.toLowerCase()] = value
  }
  return headers
}

interface Field {
  /** Where the header was given, for error messages. */
  readonly place: string
  readonly text: string
}

function listFields(text: string): Field[] {
  // Header names cannot begin with `@`.
  if (!text.startsWith('@')) return [{ place: '--header', text }]
  const lines = readLines(text.slice(1))
  return lines.map((line, i) => ({ place: `--header: line ${i + 1} of the file`, text: line })).filter(isFilled)
}

function isFilled({ text }: Field): boolean {
  return text.trim() !== ''
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    const problem = `--header: the file ${JSON.stringify(file)} ${isMissing ? 'does not exist' : 'cannot be read'}`
    throw new PharosError('USAGE', { problem }, { cause })
  }
}
