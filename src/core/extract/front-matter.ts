/** A Markdown file without the facts that stand before it. */
export interface FrontMatter {
  /** Facts by their names in lower case, where they are a text on one line. */
  readonly fields: ReadonlyMap<string, string>
  readonly lines: readonly string[]
}

/** Front matter is short; what never ends is something else. */
const MAX_LINES = 200
const FIELD = /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/

/** Cuts front matter in YAML off a text. Only `key: value` is read; lists and nested values are passed over. */
export function cutFrontMatter(lines: readonly string[]): FrontMatter {
  const none = { fields: new Map<string, string>(), lines }
  if (lines[0]?.trimEnd() !== '---') return none
  const end = lines.slice(0, MAX_LINES).findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)\s*$/.test(line))
  if (end < 0) return none
  const fields = new Map<string, string>()
  let count = 0
  for (const line of lines.slice(1, end)) {
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (name === undefined) continue
    count++
    const text = plainValue(value.trim())
    if (text !== '') fields.set(name.toLowerCase(), text)
  }
  // Two rules around some text are not front matter.
  return count === 0 ? none : { fields, lines: lines.slice(end + 1) }
}

/** A value without its quotes or a comment; '' for what is a list, a block or an anchor. */
function plainValue(value: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:#.*)?$/.exec(value) ?? []
  if (double !== undefined) return double.replace(/\\(.)/g, '$1')
  if (single !== undefined) return single.replaceAll("''", "'")
  if (/^[[{|>&*!%@`"']/.test(value)) return ''
  // Looked for at the sign: an expression that begins with the white space takes time in the square of its length.
  const comment = value.search(/\s#/)
  return comment < 0 ? value : value.slice(0, comment).trimEnd()
}
