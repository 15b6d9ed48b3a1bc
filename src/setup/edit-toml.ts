import { parse, stringify, TomlError } from 'smol-toml'
import { ConfigSyntaxError } from './config-syntax-error.ts'

/* Edits one table of a TOML file. Everything outside of it stays byte for byte. */

/**
 * Writes a table at a path of keys: at the end of the file, or in place of the table that is there.
 * @throws {ConfigSyntaxError} if the text is not TOML, or has the table in a form that cannot be replaced
 */
export function setTomlTable(text: string, path: readonly string[], table: object): string {
  const present = readTomlTable(text, path)
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const block = stringify(nest(path, table)).trim().replaceAll('\n', newline) + newline
  if (present !== undefined) {
    const { start, end } = findTable(text, path)
    return text.slice(0, start) + block + text.slice(end)
  }
  if (text.trim() === '') return block
  const separator = text.endsWith('\n') ? newline : newline + newline
  const edited = text + separator + block
  // An inline table cannot be extended.
  if (!isToml(edited)) throw createFormError(path.slice(0, -1))
  return edited
}

/** Removes the table at a path of keys, with the empty line before it. */
export function removeTomlTable(text: string, path: readonly string[]): string {
  if (readTomlTable(text, path) === undefined) return text
  const { start, end } = findTable(text, path)
  const before = text.slice(0, start)
  const rest = text.slice(end)
  // One of the two empty lines around the table goes with it.
  if (rest === '') return before.replace(/\r?\n\r?\n$/, (gap) => gap.slice(0, gap.length / 2))
  return before + rest.replace(/^\r?\n/, '')
}

/** The table at a path of keys; undefined if there is none. */
export function readTomlTable(text: string, path: readonly string[]): unknown {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.split('\n')
    throw new ConfigSyntaxError('\n'.repeat(error.line - 1), error.line, problem)
  }
  for (const key of path) {
    value =
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([name]) => name === key)?.[1]
        : undefined
  }
  // The parser makes objects without a prototype.
  return structuredClone(value)
}

/** The part of the text from the header of a table to its last key. Comments and empty lines after that belong to what follows. */
function findTable(text: string, path: readonly string[]): { readonly start: number; readonly end: number } {
  const headers = findHeaders(text)
  const first = headers.findIndex(({ keys }) => keys.length === path.length && isInside(keys, path))
  const header = headers[first]
  if (header === undefined) throw createFormError(path)
  const next = headers.slice(first + 1).find(({ keys }) => !isInside(keys, path))
  const body = text.slice(header.index, next?.index ?? text.length)
  return { start: header.index, end: header.index + lengthWithoutTail(body) }
}

function isToml(text: string): boolean {
  try {
    parse(text)
    return true
  } catch (error) {
    if (error instanceof TomlError) return false
    throw error
  }
}

/** The length of a text without the comments and empty lines at its end. */
function lengthWithoutTail(text: string): number {
  const lines = text.split(/(?<=\n)/)
  while (lines.length > 1 && /^\s*(?:#.*\n?)?$/.test(lines.at(-1) ?? '')) lines.pop()
  return lines.join('').length
}

function findHeaders(text: string): { readonly index: number; readonly keys: readonly string[] }[] {
  return [...text.matchAll(/^[ \t]*\[\[?([^\]\r\n]+)\]\]?[^\r\n]*$/gm)].map(({ 1: name = '', index }) => {
    const keys = name.match(/"[^"]*"|'[^']*'|[^.\s]+/g) ?? []
    return { index, keys: keys.map((key) => key.replaceAll(/^["']|["']$/g, '')) }
  })
}

function isInside(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((key, i) => keys[i] === key)
}

function createFormError(path: readonly string[]): ConfigSyntaxError {
  return new ConfigSyntaxError('', 0, `${path.join('.')} is not a table with a header of its own; change it by hand`)
}

function nest(path: readonly string[], value: object): object {
  return path.toReversed().reduce<object>((inner, key) => ({ [key]: inner }), value)
}
