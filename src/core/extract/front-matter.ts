import { isBlank } from '../text/lines.ts'

/** The front matter of a Markdown file, and the lines after it. */
export interface FrontMatter {
  /** Text values by the names of their fields in lower case. */
  readonly fields: ReadonlyMap<string, string>
  /** All lines if the file has no front matter. */
  readonly lines: readonly string[]
}

/** Front matter is short; a longer block is not front matter. */
const MAX_LINES = 200

/** How front matter is written: as YAML between hyphens, or as TOML between plus signs. */
const FORMS = [
  { open: /^---\s*$/, close: /^(?:---|\.\.\.)\s*$/, field: /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/ },
  { open: /^\+\+\+\s*$/, close: /^\+\+\+\s*$/, field: /^([A-Za-z_][\w-]*)\s*=\s*(.*)$/ },
]

/** Cuts front matter off a text. Only text values are read, on one line or on several; lists and nested values are skipped. */
export function cutFrontMatter(lines: readonly string[]): FrontMatter {
  const none = { fields: new Map<string, string>(), lines }
  const form = FORMS.find(({ open }) => open.test(lines[0] ?? ''))
  if (form === undefined) return none
  const end = lines.slice(0, MAX_LINES).findIndex((line, i) => i > 0 && form.close.test(line))
  if (end < 0) return none
  const fields = new Map<string, string>()
  let fieldCount = 0
  for (let at = 1; at < end; at++) {
    const [, name, value = ''] = form.field.exec(lines[at] ?? '') ?? []
    if (name === undefined) continue
    fieldCount++
    const text = BLOCK_MARKER.test(value.trim()) ? readBlock(lines.slice(at + 1, end)) : plainValue(value.trim())
    if (text !== '') fields.set(name.toLowerCase(), text)
  }
  // Two horizontal rules around text without fields are not front matter.
  return fieldCount === 0 ? none : { fields, lines: lines.slice(end + 1) }
}

/** `>-` or `|`: the text of the value is on the indented lines below. */
const BLOCK_MARKER = /^[>|][+-]?\d?[+-]?$/

/** The text of indented lines as one line. */
function readBlock(lines: readonly string[]): string {
  const end = lines.findIndex((line) => !isBlank(line) && !/^\s/.test(line))
  return (end < 0 ? lines : lines.slice(0, end))
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

/** A value without its quotes or a comment; '' for a list, a block or an anchor. */
function plainValue(value: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:#.*)?$/.exec(value) ?? []
  if (double !== undefined) return double.replace(/\\(.)/g, '$1')
  if (single !== undefined) return single.replaceAll("''", "'")
  if (/^[[{|>&*!%@`"']/.test(value)) return ''
  // The pattern has a single `\s`, because a pattern that begins with `\s+` would take quadratic time.
  const comment = value.search(/\s#/)
  return comment < 0 ? value : value.slice(0, comment).trimEnd()
}
