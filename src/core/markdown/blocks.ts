import MarkdownIt, { type Token } from 'markdown-it'
import { isBlank } from '../text/lines.ts'
import { tableRule } from './table-rule.ts'

/** A top-level block of a Markdown document, or one of the blocks inside a list or quote. Lines count from 0. */
export interface Block {
  readonly type: 'heading' | 'fence' | 'table' | 'other'
  /** First line of the block. */
  readonly start: number
  /** The line after the last line. The blank lines after a block belong to it. */
  readonly end: number
  /** First line of the block itself, after the blank lines or the empty list item that `start` includes. */
  readonly open: number
  /** The line after the last line of the block itself, without the blank lines that `end` includes. */
  readonly close: number
  /** Heading level, 1 to 6; 0 for other blocks. */
  readonly level: number
  /** A heading's text without inline markup; empty for other blocks. */
  readonly text: string
  /** A fence's marker (three or more backticks or tildes); empty for other blocks. */
  readonly marker: string
  /** Blocks inside a list or quote, without the list items and quotes around them. Empty for every other block. */
  readonly leaves: readonly Block[]
}

/** Number of characters of a heading that are read; callers keep fewer. */
const MAX_HEADING_SOURCE = 1000

const parser = new MarkdownIt({ html: true })
parser.block.State = class extends parser.block.State {
  /** Creates tokens like the parser, but as plain objects: its own constructor takes most of the time of a parse. */
  override push(type: string, tag: string, nesting: Token['nesting']): Token {
    if (nesting < 0) this.level--
    const fields = {
      type,
      tag,
      nesting,
      level: this.level,
      map: null,
      markup: '',
      content: '',
      info: '',
      hidden: false,
    }
    // No rule for blocks calls a method of a token, and no field but these is read before it is written.
    const token = fields as unknown as Token
    if (nesting > 0) this.level++
    this.tokens.push(token)
    return token
  }
}
parser.block.ruler.at('table', tableRule, { alt: ['paragraph', 'reference'] })

/** Characters that are parsed in one window: the parser's tokens take hundreds of bytes for each block. */
const WINDOW_CHARS = 128 * 1024

/**
 * Parses the block structure of Markdown from a line on: CommonMark plus GFM tables. Inline markup is parsed for headings only. Every line
 * belongs to exactly one block, unless there are no blocks. A long document is parsed window by window. Text from the start of a top-level
 * block on does not depend on earlier text, so the last block of a window, which may continue, is where the next window begins. Only a list
 * or quote longer than a window is returned as several blocks.
 */
export function* parseBlocks(
  lines: readonly string[],
  firstLine = 0,
  windowChars: number = WINDOW_CHARS,
): Generator<Block> {
  let from = firstLine
  let chars = windowChars
  for (;;) {
    const to = windowEnd(lines, from, chars)
    const window = from === 0 && to === lines.length ? lines : lines.slice(from, to)
    const tokens: Token[] = []
    parser.block.parse(window.join('\n'), parser, {}, tokens)
    const blocks = collectBlocks(tokens, window)
    const isLast = to === lines.length
    const complete = isLast ? blocks : completeBlocks(blocks, tokens)
    for (const block of complete) yield shiftBlock(block, from)
    if (isLast) return
    const end = complete.at(-1)?.end
    // If no block is complete, a single block fills the window, so the window must grow.
    chars = end === undefined ? chars * 2 : windowChars
    from += end ?? 0
  }
}

function windowEnd(lines: readonly string[], from: number, chars: number): number {
  let to = from
  for (let size = 0; to < lines.length && size < chars; to++) size += (lines[to]?.length ?? 0) + 1
  return to
}

/** The blocks that text after the window cannot change: all but the last, or the beginning of a single list or quote. */
function completeBlocks(blocks: readonly Block[], tokens: readonly Token[]): Block[] {
  const [only] = blocks
  if (only === undefined || blocks.length > 1) return blocks.slice(0, -1)
  const items = new Set<number>()
  for (const { type, level, map } of tokens) {
    if (type === 'list_item_open' && level === 1 && map !== null) items.add(map[0])
  }
  const isLater = (leaf: Block) => leaf.start > only.start
  const cut = only.leaves.findLast((leaf) => isLater(leaf) && items.has(leaf.start)) ?? only.leaves.findLast(isLater)
  if (cut === undefined) return []
  const leaves = only.leaves.slice(0, only.leaves.indexOf(cut))
  return [{ ...only, end: cut.start, close: Math.min(only.close, cut.start), leaves }]
}

function shiftBlock(block: Block, by: number): Block {
  if (by === 0) return block
  const leaves = block.leaves.map((leaf) => shiftBlock(leaf, by))
  const { start, end, open, close } = block
  return { ...block, start: start + by, end: end + by, open: open + by, close: close + by, leaves }
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
 * belong to the second block, and blank lines to the first.
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

/** Text of a heading: links, code and emphasis reduced to their text, attribute suffixes (`{#id}`) dropped. */
function headingText(inline: Token | undefined): string {
  const source = (inline?.content ?? '').slice(0, MAX_HEADING_SOURCE)
  const plain = /[\\`*_[\]<>&!~]/.test(source) ? inlineText(source) : source
  return plain
    .replace(/(?<!\s)\s*\{[#.][^{}]*\}\s*$/, '')
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
