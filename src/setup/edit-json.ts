import { maskComments } from '../core/json/mask-comments.ts'
import { JsonSyntaxError, type Member, scanJson, scanMembers } from '../core/json/scan.ts'
import { ConfigSyntaxError } from './config-syntax-error.ts'

/* Edits JSON with comments and trailing commas. Everything outside the edited entry stays byte for byte. */

/**
 * Sets the value at a path of keys and returns the new text. Objects that are missing on the way are created. The value of an existing key
 * is replaced where it stands.
 * @throws {ConfigSyntaxError} if the text is not such JSON, or the way leads through something that is no object
 */
export function setJsonEntry(text: string, path: readonly string[], value: unknown): string {
  const body = maskComments(text)
  if (body.trim() === '') return insertDocument(text, path, value)
  const style = findStyle(text)
  let { start } = scanRoot(text, body)
  for (const [depth, key] of path.entries()) {
    if (body[start] !== '{') throw new ConfigSyntaxError(text, start, `${describePath(path, depth)} is not an object`)
    const members = [...scanMembers(body, start)]
    const member = members.findLast((one) => one.key === key)
    const rest = nest(path.slice(depth + 1), value)
    if (member === undefined) return insertMember(text, start, members, { key, value: rest, depth, style })
    if (depth === path.length - 1) {
      return replace(text, member.value.start, member.value.end, writeValue(value, depth + 1, style))
    }
    start = member.value.start
  }
  return text
}

/** Removes the entry at a path of keys, with its comma and its line. Returns the text unchanged if there is no such entry. */
export function removeJsonEntry(text: string, path: readonly string[]): string {
  const body = maskComments(text)
  if (body.trim() === '') return text
  let { start } = scanRoot(text, body)
  for (const [depth, key] of path.entries()) {
    if (body[start] !== '{') return text
    const members = [...scanMembers(body, start)]
    const index = members.findLastIndex((one) => one.key === key)
    const member = members[index]
    if (member === undefined) return text
    if (depth === path.length - 1) return cutMember(text, members, index)
    start = member.value.start
  }
  return text
}

/** The value at a path of keys; undefined if there is none. */
export function readJsonEntry(text: string, path: readonly string[]): unknown {
  const body = maskComments(text)
  if (body.trim() === '') return undefined
  scanRoot(text, body)
  let value: unknown = JSON.parse(body)
  for (const key of path) {
    value =
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([name]) => name === key)?.[1]
        : undefined
  }
  return value
}

interface Style {
  readonly indent: string
  readonly newline: string
  /** Whether the text is written in one line. */
  readonly isCompact: boolean
  /** Space after a comma or colon in one line. */
  readonly gap: '' | ' '
}

interface NewMember {
  readonly key: string
  readonly value: unknown
  /** How many objects contain the new member, without the outermost. */
  readonly depth: number
  readonly style: Style
}

/** The indentation and line ends of a text. */
function findStyle(text: string): Style {
  return {
    indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ',
    newline: text.includes('\r\n') ? '\r\n' : '\n',
    isCompact: !text.trim().includes('\n') && text.trim() !== '{}',
    gap: text.includes('": ') ? ' ' : '',
  }
}

function insertMember(
  text: string,
  objectStart: number,
  members: readonly Member[],
  { key, value, depth, style }: NewMember,
): string {
  const written = `${JSON.stringify(key)}:${style.isCompact ? style.gap : ' '}${writeValue(value, depth + 1, style)}`
  const lineStart = style.isCompact ? '' : style.newline + style.indent.repeat(depth + 1)
  const last = members.at(-1)
  if (last === undefined) {
    const inside = findNext(text, objectStart + 1).start
    const isOneLine = !text.slice(objectStart, inside).includes('\n')
    const lineEnd = style.isCompact || !isOneLine ? '' : style.newline + style.indent.repeat(depth)
    // Comments inside the empty object stay before the new member.
    const end = objectStart + 1 + text.slice(objectStart + 1, inside).trimEnd().length
    return replace(text, end, end, lineStart + written + lineEnd)
  }
  const next = findNext(text, last.end)
  const separator = style.isCompact ? style.gap : lineStart
  const [comma, end] = next.character === ',' ? ['', next.start + 1] : [',', last.end]
  // A comment on the same line belongs to the member before.
  const lineRest =
    /^[ \t]*(?:\/\/[^\r\n]*|(?:\/\*(?:[^*\r\n]|\*(?!\/))*\*\/[ \t]*)*)(?=\r?\n)/.exec(text.slice(end))?.[0] ?? ''
  return replace(
    text,
    end,
    end + lineRest.length,
    `${comma}${lineRest}${separator}${written}${comma === '' ? ',' : ''}`,
  )
}

/** Cuts a member with its comma, and the line that becomes empty. */
function cutMember(text: string, members: readonly Member[], index: number): string {
  const { start, end } = members[index] ?? { start: 0, end: 0 }
  const next = findNext(text, end)
  const lineStart = start - (/(?:\r?\n|(?<![ \t]))[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0)
  // A line comment would swallow what follows on the same line.
  const from = next.character === '}' || !/^[ \t]*\r?\n/.test(text.slice(next.start + 1)) ? start : lineStart
  if (next.character === ',') return replace(text, from, next.start + 1, '')
  const previous = members[index - 1]
  const cut = replace(text, start, end, '')
  if (previous === undefined) return cut
  const comma = findNext(text, previous.end).start
  return replace(cut, comma, comma + 1, '')
}

/** The first character from an offset on that is neither white space nor part of a comment. */
function findNext(text: string, from: number): { readonly start: number; readonly character: string | undefined } {
  const skipped = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(from))?.[0].length ?? 0
  return { start: from + skipped, character: text[from + skipped] }
}

function insertDocument(text: string, path: readonly string[], value: unknown): string {
  const { newline } = findStyle(text)
  const written = JSON.stringify(nest(path, value), null, 2).replaceAll('\n', newline) + newline
  const isBlank = text.trim() === ''
  return isBlank ? written : `${text.trimEnd()}${newline}${written}`
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), value)
}

function writeValue(value: unknown, depth: number, { indent, newline, isCompact, gap }: Style): string {
  if (isCompact) return JSON.stringify(value, null, gap).replaceAll(/\n */g, gap)
  return JSON.stringify(value, null, indent).replaceAll('\n', newline + indent.repeat(depth))
}

function scanRoot(text: string, body: string): { readonly start: number } {
  try {
    return scanJson(body)
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ConfigSyntaxError(text, error.offset, 'it is not valid JSON')
    throw error
  }
}

function describePath(path: readonly string[], depth: number): string {
  return depth === 0 ? 'the file' : JSON.stringify(path[depth - 1])
}

function replace(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end)
}
