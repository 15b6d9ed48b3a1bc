import MarkdownIt, { type Token } from 'markdown-it'
import { isBlank } from '../text/lines.ts'
import { tableRule } from './table-rule.ts'

/** A top-level block of a Markdown document, or one of the blocks inside a list or quote. Lines are from 0. */
export interface Block {
  readonly type: 'heading' | 'fence' | 'table' | 'other'
  /** First line of the block. */
  readonly start: number
  /** The line after its last. Blank lines that follow belong to it. */
  readonly end: number
  /** Its own first line: after the blank lines or the empty list item that `start` counts in. */
  readonly open: number
  /** The line after its own last one. */
  readonly close: number
  /** Heading level, 1 to 6; 0 for other blocks. */
  readonly level: number
  /** A heading's text without inline markup; empty for other blocks. */
  readonly text: string
  /** A fence's marker (three or more backticks or tildes); empty for other blocks. */
  readonly marker: string
  /** Blocks inside a list or quote, outermost structure removed. Empty for every other block. */
  readonly leaves: readonly Block[]
}

/** As much of a heading as is read; its callers keep less. */
const MAX_HEADING_SOURCE = 1000

const parser = new MarkdownIt({ html: true })
parser.block.ruler.at('table', tableRule, { alt: ['paragraph', 'reference'] })

/**
 * Reads the block structure of Markdown: CommonMark plus GFM tables. Inline markup is read for headings only.
 * Every line is covered by exactly one block, unless there is none.
 */
export function parseBlocks(lines: readonly string[]): Block[] {
  const tokens: Token[] = []
  parser.block.parse(lines.join('\n'), parser, {}, tokens)
  return collectBlocks(tokens, lines)
}

function collectBlocks(tokens: readonly Token[], lines: readonly string[]): Block[] {
  const starts: number[] = []
  tokens.forEach((token, i) => {
    if (token.level === 0 && token.map !== null && token.nesting !== -1) starts.push(i)
  })
  return starts.map((from, n) => {
    const next = starts[n + 1] ?? tokens.length
    const block = createBlock(tokens, from, next, tokens[next]?.map?.[0] ?? lines.length, lines)
    return n === 0 ? { ...block, start: 0 } : block
  })
}

function createBlock(
  tokens: readonly Token[],
  from: number,
  next: number,
  end: number,
  lines: readonly string[],
): Block {
  const token = tokens[from]
  const [start, close] = token?.map ?? [0, end]
  const base = { start, end, open: start, close, level: 0, text: '', marker: '', leaves: [] }
  switch (token?.type) {
    case 'heading_open':
      return { ...base, type: 'heading', level: Number(token.tag.slice(1)), text: headingText(tokens[from + 1]) }
    case 'fence':
      return { ...base, type: 'fence', marker: token.markup }
    case 'table_open':
      return { ...base, type: 'table' }
    case 'bullet_list_open':
    case 'ordered_list_open':
    case 'blockquote_open':
      return { ...base, type: 'other', leaves: collectLeaves(tokens.slice(from, next), start, end, lines) }
    default:
      return { ...base, type: 'other' }
  }
}

const LEAF_TYPES = new Set(['heading_open', 'paragraph_open', 'fence', 'code_block', 'html_block', 'hr', 'table_open'])

/**
 * The blocks inside a list or quote, without its structure. Lines between two of them (an empty item, a `>` alone)
 * belong to the second, blank ones to the first.
 */
function collectLeaves(tokens: readonly Token[], start: number, end: number, lines: readonly string[]): Block[] {
  const leaves: Block[] = []
  for (const { type, map, markup } of tokens) {
    const last = leaves.at(-1)
    if (map === null || !LEAF_TYPES.has(type) || map[0] <= (last?.open ?? -1)) continue
    let from = last?.close ?? start
    while (from < map[0] && isBlank(lines[from] ?? '')) from++
    const leafType = type === 'fence' ? 'fence' : type === 'table_open' ? 'table' : 'other'
    const marker = type === 'fence' ? markup : ''
    leaves.push({
      type: leafType,
      start: last === undefined ? start : Math.min(from, map[0]),
      end,
      open: map[0],
      close: map[1],
      level: 0,
      text: '',
      marker,
      leaves: [],
    })
  }
  return leaves.map((leaf, i) => ({ ...leaf, end: leaves[i + 1]?.start ?? end }))
}

/** Text of a heading: links, code and emphasis reduced to what is read, attribute suffixes (`{#id}`) dropped. */
function headingText(inline: Token | undefined): string {
  const source = (inline?.content ?? '').slice(0, MAX_HEADING_SOURCE)
  const plain = /[\\`*_[\]<>&!~]/.test(source) ? inlineText(source) : source
  return plain
    .replace(/\s*\{[#.][^{}]*\}\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function inlineText(source: string): string {
  const tokens: Token[] = []
  parser.inline.parse(source, parser, {}, tokens)
  return tokens
    .map((token) => {
      if (token.type === 'softbreak' || token.type === 'hardbreak') return ' '
      return token.type === 'html_inline' ? '' : token.content
    })
    .join('')
}
