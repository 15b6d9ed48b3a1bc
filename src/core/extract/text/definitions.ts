import MarkdownIt, { type StateBlock } from 'markdown-it'
import { isBlank } from '../../text/lines.ts'

/** Lines whose link definitions hold no hidden text, and the number of removed characters. */
export interface PlainDefinitions {
  readonly lines: readonly string[]
  readonly hiddenChars: number
}

interface Definition {
  /** Index of the first line. */
  readonly start: number
  /** Index of the line after the last. */
  readonly end: number
}

/**
 * Removes the invisible parts of link definitions from Markdown: unused definitions, which serve as comments (`[//]: # (…)`), and the
 * titles of all others. Line numbers do not change. `code` has the first line and the line after the last of every code block.
 */
export function cleanDefinitions(
  lines: readonly string[],
  code: readonly (readonly [number, number])[],
): PlainDefinitions {
  if (!lines.some(mayDefine)) return { lines, hiddenChars: 0 }
  const definitions = [...findDefinitions(lines, code)]
  if (definitions.length === 0) return { lines, hiddenChars: 0 }
  const usedLabels = listLabels(lines, definitions)
  const cleaned = [...lines]
  let hiddenChars = 0
  for (const { start, end } of definitions) {
    const text = lines.slice(start, end).join('\n')
    const [kept = '', label = ''] = DEFINITION.exec(text) ?? []
    // The text of a footnote is visible.
    if (label.startsWith('^')) continue
    const visible = usedLabels.has(keyOf(label)) ? kept : ''
    hiddenChars += text.length - visible.length
    const rest = visible.split('\n')
    for (let i = start; i < end; i++) cleaned[i] = rest[i - start] ?? ''
  }
  return { lines: cleaned, hiddenChars }
}

/** A definition up to the start of its title; its label has the length limit of CommonMark. */
const DEFINITION = /^[^[]*\[((?:[^[\]\\]|\\.){1,999})\]:\s*(?:<[^<>\n]*>|\S+)/s
const LABEL = /\[((?:[^[\]\\]|\\.){1,999})\]/gs

function mayDefine(line: string): boolean {
  return line.includes(']:')
}

/** Finds the definitions in each run of lines between blank lines, because no definition crosses a blank line. */
function* findDefinitions(
  lines: readonly string[],
  code: readonly (readonly [number, number])[],
): Generator<Definition> {
  let from = 0
  for (const [start, end] of [...code, [lines.length, lines.length] as const]) {
    for (let i = from; i < start; i++) {
      if (isBlank(lines[i] ?? '')) from = i + 1
      else if (i + 1 === start || isBlank(lines[i + 1] ?? '')) {
        yield* findInStretch(lines.slice(from, i + 1), from)
        from = i + 1
      }
    }
    from = end
  }
}

function* findInStretch(stretch: readonly string[], first: number): Generator<Definition> {
  if (!stretch.some(mayDefine)) return
  // Indentation from a surrounding list does not make code.
  const indent = /^[ \t]*/.exec(stretch[0] ?? '')?.[0] ?? ''
  const dedented = stretch.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
  const found: Definition[] = []
  parser.block.parse(dedented.join('\n'), parser, { found }, [])
  for (const { start, end } of found) yield { start: first + start, end: first + end }
}

/** The labels by which links may refer to definitions. */
function listLabels(lines: readonly string[], definitions: readonly Definition[]): ReadonlySet<string> {
  const definitionLines = new Set(
    definitions.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)),
  )
  const text = lines.filter((_, i) => !definitionLines.has(i)).join('\n')
  return new Set(Array.from(text.matchAll(LABEL), ([, label = '']) => keyOf(label)))
}

function keyOf(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase()
}

const parser = createParser()

/** A parser that records where definitions are. */
function createParser(): InstanceType<typeof MarkdownIt> {
  const { ruler } = new MarkdownIt().block
  ruler.enableOnly('reference')
  const [parseDefinition] = ruler.getRules('')
  const recorder = new MarkdownIt({ html: true })
  recorder.block.ruler.at('reference', (state: StateBlock, startLine: number, endLine: number, silent: boolean) => {
    if (parseDefinition?.(state, startLine, endLine, silent) !== true) return false
    // The cast is safe, because `findInStretch` passes `found` as the environment.
    if (!silent) (state.env as { found: Definition[] }).found.push({ start: startLine, end: state.line })
    return true
  })
  return recorder
}
