import { closeFences, FenceReader } from '../markdown/fences.ts'

/** A part of a doc comment: its text, or what follows a tag. */
interface DocPart {
  /** Name of the tag; empty for the text before the first one. */
  readonly tag: string
  readonly text: string
}

/** Tags of parameters, which become a list. */
const PARAMETER_TAGS: ReadonlySet<string> = new Set(['param', 'arg', 'argument', 'property'])

/** How the other tags are written. A tag that is not listed is no tag, but text. */
const TAGS: Readonly<Record<string, (text: string) => string>> = {
  ...each(['', 'description', 'remarks', 'summary'], (text) => text),
  example: (text) => (text.includes('```') || text === '' ? text : `\`\`\`ts\n${text}\n\`\`\``),
  ...each(['returns', 'return'], (text) => (text === '' ? '' : `Returns ${withoutType(text)}`)),
  ...each(['throws', 'exception'], (text) => (text === '' ? '' : `Throws ${text}`)),
  deprecated: (text) => `**Deprecated.** ${text}`.trim(),
  ...each(['default', 'defaultValue', 'defaultvalue'], (text) => `Default: ${text}`),
  since: (text) => `Since ${text}`,
  see: (text) => `See ${text}`,
  ...each(['internal', 'public', 'private', 'category', 'group', 'type', 'typeParam', 'template'], () => ''),
  ...each(['module', 'packageDocumentation', 'class', 'function', 'method', 'name', 'memberof', 'async'], () => ''),
}

function each<T>(names: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]))
}

/** Writes the text of a doc comment as Markdown: tags become sentences, lists and code. Its markup cannot change the page around it. */
export function writeDoc(doc: string): string {
  if (doc === '') return ''
  const blocks: string[] = []
  const parameters: string[] = []
  for (const { tag, text } of splitDoc(doc)) {
    if (PARAMETER_TAGS.has(tag)) {
      const [, name, rest = ''] = /^(\[[^\]]*\]|\S+)\s*-?\s*([\s\S]*)$/.exec(withoutType(text)) ?? []
      if (name !== undefined) parameters.push(`- \`${name}\`${rest === '' ? '' : `: ${rest}`}`)
    } else blocks.push(TAGS[tag]?.(writeLinks(text)) ?? '')
  }
  const [before = '', ...after] = blocks
  return tame([before, parameters.join('\n'), ...after].filter((block) => block !== '').join('\n\n'))
}

/** `{@link a}` becomes code, `{@link a b}` the text b. */
function writeLinks(text: string): string {
  return text.replace(
    /\{@(?:link|linkcode|linkplain)\s+([^{}|\s]+)(?:[\s|]+(?![\s|])([^{}]*))?\}/g,
    (_, target, label) => {
      return label === undefined || label === '' ? `\`${target}\`` : String(label).trim()
    },
  )
}

/** Removes a type in braces from the beginning: `{Promise<{ a: string }>} text`. */
function withoutType(text: string): string {
  if (!text.startsWith('{')) return text
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return text.slice(at + 1).trimStart()
  }
  return text
}

/** Outside of code, escapes what would become HTML or a heading; closes a code block that is still open at the end. */
function tame(markdown: string): string {
  const fences = new FenceReader()
  const lines = markdown.split('\n').map((line) => (fences.read(line) === undefined ? tameLine(line) : line))
  return closeFences(lines.join('\n'))
}

function tameLine(line: string): string {
  const parts = line.split(/(`+[^`]*`+)/)
  const escaped = parts.map((part, i) => (i % 2 === 1 ? part : part.replace(/<(?=[a-z!/])/gi, '\\<')))
  return escaped
    .join('')
    .replace(/^(\s*)(?=#{1,6}\s)/, '$1\\')
    .replace(/^(\s*)(?=(?:=+|-+)\s*$)/, '$1\\')
}

/** Splits at known tags that begin a line, except within code and examples. */
function splitDoc(doc: string): DocPart[] {
  const parts: DocPart[] = []
  let tag = ''
  let lines: string[] = []
  const fences = new FenceReader()
  const end = () => parts.push({ tag, text: lines.join('\n').trim() })
  for (const line of doc.split('\n')) {
    const isCode = fences.read(line) !== undefined
    const [, name = '', rest = ''] = (isCode ? null : /^\s*@(\w+)(?![\w/])\s*(.*)$/.exec(line)) ?? []
    if (!Object.hasOwn(TAGS, name) && !PARAMETER_TAGS.has(name)) lines.push(line)
    else if (name === '') lines.push(line)
    else {
      end()
      tag = name
      lines = [rest]
    }
  }
  end()
  return parts
}
