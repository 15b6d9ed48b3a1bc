import { closesFence, type Fence, readFence } from '../markdown/fences.ts'
import { CODE_INDENT, indentOf, isBlank } from '../text/lines.ts'
import { isDefinitionLine } from './definitions.ts'

/** A block of Markdown, reduced to the facts that passages need. Lines count from 0. */
export interface PassageBlock {
  readonly type: 'heading' | 'fence' | 'table' | 'text'
  readonly start: number
  /** The line after the last line of the block; the last line is never blank. */
  readonly end: number
  /** Index of the block that opens the list item which this block continues; -1 if there is none. */
  readonly parent: number
  /** Whether the block states a name that the next blocks describe. */
  readonly isSignature: boolean
  /** Whether the block says little without the next one: a heading, a signature, a line that ends with a colon. */
  readonly isLeadIn: boolean
}

const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/
const ITEM = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))/
const QUOTE = /^ {0,3}>/
/** The row under the header of a table, and one of its cells. */
const DELIMITERS = /^[-|: \t]+$/
const DELIMITER = /^:?-+:?$/

/** A list item that may still go on. */
interface OpenItem {
  readonly block: number
  /** Column where its content begins. */
  readonly indent: number
}

/**
 * Finds the blocks in lines, the first of which must begin a block. It finds only where a passage must not be cut, which takes one pass
 * over the lines: parsing a whole page would take longer than the search.
 */
export function scanBlocks(lines: readonly string[]): PassageBlock[] {
  const blocks: PassageBlock[] = []
  const items: OpenItem[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    if (isBlank(line)) {
      at++
      continue
    }
    const indent = indentOf(line)
    while ((items.at(-1)?.indent ?? 0) > indent) items.pop()
    const parent = items.at(-1)?.block ?? -1
    const base = items.at(-1)?.indent ?? 0
    const marker = ITEM.exec(line)
    const text = marker === null ? line : ' '.repeat(marker[0].length) + line.slice(marker[0].length)
    if (marker !== null && indent < base + CODE_INDENT)
      items.push({ block: blocks.length, indent: indent + (marker[2] ?? '').length })
    const [type, end] = readBlock(lines, at, text, items.at(-1)?.indent ?? 0)
    blocks.push(new ScannedBlock(type, lines, at, end, parent))
    at = end
  }
  return blocks
}

/** The block that begins at a line, whose list marker is replaced by spaces, and its end. */
function readBlock(lines: readonly string[], at: number, text: string, base: number): [PassageBlock['type'], number] {
  const fence = readFence(text)
  if (fence !== undefined && isBlank(fence.indent) && fence.indent.length < base + CODE_INDENT)
    return ['fence', endOfFence(lines, at, fence, base)]
  if (HEADING.test(text)) return ['heading', at + 1]
  if (QUOTE.test(text.trimStart())) return ['text', endOfRun(lines, at, isOutsideQuote)]
  if (isTableAt(lines, at, text)) return ['table', endOfRun(lines, at + 1, endsTable)]
  return ['text', endOfRun(lines, at, isNewBlock)]
}

/** The line after a fence. An unclosed fence continues to the end of its list item, or of the text. */
function endOfFence(lines: readonly string[], at: number, fence: Fence, base: number): number {
  let last = at
  for (let i = at + 1; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (isBlank(line)) continue
    if (indentOf(line) < base) break
    last = i
    if (closesFence(line, fence)) break
  }
  return last + 1
}

/** The end of the run of lines that begins at `at`: a blank line, or a line for which `isEnd` is true. */
function endOfRun(
  lines: readonly string[],
  at: number,
  isEnd: (line: string, lines: readonly string[], at: number) => boolean,
): number {
  let end = at + 1
  while (end < lines.length && !isBlank(lines[end] ?? '') && !isEnd(lines[end] ?? '', lines, end)) end++
  return end
}

function isTableAt(lines: readonly string[], at: number, text: string): boolean {
  return text.includes('|') && isDelimiterRow(lines[at + 1] ?? '')
}

/**
 * Whether a line is the row under the header of a table: with at least one bar, otherwise it is a rule or the underline of a heading. A
 * single regular expression would backtrack at each of many spaces.
 */
function isDelimiterRow(line: string): boolean {
  if (!line.includes('|') || !DELIMITERS.test(line)) return false
  const row = line.trim()
  const cells = row.slice(row.startsWith('|') ? 1 : 0, row.endsWith('|') ? -1 : undefined).split('|')
  return cells.every((cell) => DELIMITER.test(cell.trim()))
}

function isOutsideQuote(line: string): boolean {
  return !line.trimStart().startsWith('>')
}

function endsTable(line: string): boolean {
  return HEADING.test(line) || readFence(line) !== undefined || QUOTE.test(line)
}

function isNewBlock(line: string, lines: readonly string[], at: number): boolean {
  return endsTable(line) || ITEM.test(line) || isTableAt(lines, at, line)
}

/** A block of lines. Its properties are computed on demand, because only the few blocks next to a hit need them. */
class ScannedBlock implements PassageBlock {
  readonly type: PassageBlock['type']
  readonly start: number
  readonly end: number
  readonly parent: number
  readonly #lines: readonly string[]

  constructor(type: PassageBlock['type'], lines: readonly string[], start: number, end: number, parent: number) {
    this.type = type
    this.start = start
    this.end = end
    this.parent = parent
    this.#lines = lines
  }

  get isSignature(): boolean {
    return (this.type === 'text' || this.type === 'heading') && statesName(this.#lines[this.start] ?? '')
  }

  get isLeadIn(): boolean {
    if (this.type === 'heading') return true
    return this.type === 'text' && (this.isSignature || endsWithColon(this.#lines[this.end - 1] ?? ''))
  }
}

/** First characters of a line that states a name; this rules out most lines. */
const MAYBE_DEFINITION = /^[ \t]*[`*#+-]/

function statesName(line: string): boolean {
  return MAYBE_DEFINITION.test(line) && isDefinitionLine(line)
}

function endsWithColon(line: string): boolean {
  const text = line.trimEnd()
  return text.endsWith(':') || text.endsWith('：')
}
