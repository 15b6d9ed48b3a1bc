import { isBlank, trimBlank } from '../../core/text/lines.ts'
import { dedent, indentOf, minIndent } from '../indent.ts'
import { type Block, type Blocks, createCode, type Field, type Term } from './blocks.ts'
import type { RstContext } from './context.ts'
import { parseExplicit } from './explicit.ts'
import { endOfIndented } from './lines.ts'
import { isGridBorder, isSimpleBorder, parseGrid, parseSimple } from './tables.ts'

/** Nesting limit of blocks; deeper blocks stay text. */
const MAX_DEPTH = 40

/** Parsed blocks, and the line after them. */
export interface ParsedBlocks {
  readonly blocks: Blocks
  readonly end: number
}

/** Tries to parse a block at a line; undefined when there is none of its kind. */
type BlockReader = (parser: BlockParser, at: number) => ParsedBlocks | undefined

/** Parses the blocks of a document or of a part of it. */
export class BlockParser {
  readonly lines: readonly string[]
  readonly context: RstContext
  readonly #depth: number

  constructor(lines: readonly string[], context: RstContext, depth = 0) {
    this.lines = lines
    this.context = context
    this.#depth = depth
  }

  /** Whether section titles are allowed here. */
  get isTop(): boolean {
    return this.#depth === 0
  }

  line(at: number): string {
    return this.lines[at] ?? ''
  }

  /** Parses lines that are nested in a block. */
  parseNested(lines: readonly string[]): Blocks {
    const text = trimBlank(lines)
    if (text.length === 0) return []
    if (this.#depth >= MAX_DEPTH) return [{ type: 'paragraph', text: text.join('\n') }]
    return new BlockParser(text, this.context, this.#depth + 1).parse()
  }

  parse(): Blocks {
    const all: Block[] = []
    for (let at = 0; at < this.lines.length; ) {
      if (isBlank(this.line(at))) {
        at++
        continue
      }
      const { blocks, end } = this.#read(at)
      for (const block of blocks) push(all, block)
      at = Math.max(end, at + 1)
    }
    return all
  }

  #read(at: number): ParsedBlocks {
    for (const read of indentOf(this.line(at)) > 0 ? [readQuote] : READERS) {
      const parsed = read(this, at)
      if (parsed !== undefined) return parsed
    }
    return readParagraph(this, at)
  }
}

/** Adds a block; consecutive terms are joined into one list. */
function push(blocks: Block[], block: Block): void {
  const last = blocks.at(-1)
  if (block.type === 'terms' && last?.type === 'terms') for (const item of block.items) last.items.push(item)
  else blocks.push(block)
}

const readQuote: BlockReader = (parser, at) => {
  const end = endOfIndented(parser.lines, at, 1)
  return { blocks: [{ type: 'quote', blocks: parser.parseNested(dedent(parser.lines.slice(at, end))) }], end }
}

/** A line of one repeated punctuation character. */
const RULE = /^([!-/:-@[-`{-~])\1*$/

function isRule(line: string, minLength: number): boolean {
  return line.length >= minLength && RULE.test(line)
}

const MAX_TITLE = 500

const readTitle: BlockReader = (parser, at) => {
  const line = parser.line(at)
  if (isRule(line, 1)) {
    const title = parser.line(at + 1)
    const isOverlined =
      line.length > 1 && !isBlank(title) && !isRule(title, 4) && parser.line(at + 2) === line && parser.isTop
    if (isOverlined) return createTitle(parser, title, `${line[0]}${line[0]}`, at + 3)
    return line.length >= 4 && isBlank(title) ? { blocks: [{ type: 'rule' }], end: at + 1 } : undefined
  }
  const underline = parser.line(at + 1)
  if (!parser.isTop || line.length > MAX_TITLE || !isRule(underline, 1)) return undefined
  if (underline.length < Math.min(line.length, 4)) return undefined
  return createTitle(parser, line, underline.charAt(0), at + 2)
}

const MAX_LEVEL = 6

function createTitle({ context }: BlockParser, title: string, style: string, end: number): ParsedBlocks {
  if (!context.titleStyles.includes(style)) context.titleStyles.push(style)
  const level = Math.min(context.titleStyles.indexOf(style) + 1, MAX_LEVEL)
  return { blocks: [{ type: 'heading', level, text: title.trim(), names: [] }], end }
}

const BULLET = /^([*+\-•‣⁃])(\s+|$)/
const NUMBERED = /^\(?(\d{1,9}|[a-zA-Z]|[ivxlcdmIVXLCDM]{1,12}|#)[.)](\s+|$)/

const readBullets: BlockReader = (parser, at) => {
  const [, sign] = BULLET.exec(parser.line(at)) ?? []
  if (sign === undefined) return undefined
  const { items, end } = readItems(parser, at, (line) => {
    const [marker = '', lineSign] = BULLET.exec(line) ?? []
    return lineSign === sign ? marker : undefined
  })
  return { blocks: [{ type: 'list', start: null, items }], end }
}

const readNumbers: BlockReader = (parser, at) => {
  const line = parser.line(at)
  const [marker, number = ''] = NUMBERED.exec(line) ?? []
  if (marker === undefined) return undefined
  // `A. Miller` on the first line of a paragraph is not a list item.
  const next = parser.line(at + 1)
  if (!isBlank(next) && indentOf(next) === 0 && !NUMBERED.test(next)) return undefined
  const shape = shapeOf(line)
  const { items, end } = readItems(parser, at, (other) => {
    const [otherMarker] = NUMBERED.exec(other) ?? []
    return otherMarker === undefined || shapeOf(other) !== shape ? undefined : otherMarker
  })
  return { blocks: [{ type: 'list', start: /^\d+$/.test(number) ? Number(number) : 1, items }], end }
}

/** The punctuation around an item's number, and whether it is a number or a letter. */
function shapeOf(line: string): string {
  const isLetter = /^\(?[a-zA-Z]/.test(line)
  return `${line.startsWith('(')}${isLetter}${/[.)]/.exec(line)?.[0]}`
}

/** Parses the items of a list. `markerOf` returns the marker of an item, undefined for other lines. */
function readItems(
  parser: BlockParser,
  start: number,
  markerOf: (line: string) => string | undefined,
): { readonly items: Blocks[]; readonly end: number } {
  const items: Blocks[] = []
  let end = start
  for (let at = start; at < parser.lines.length; ) {
    const line = parser.line(at)
    if (isBlank(line)) {
      at++
      continue
    }
    const marker = markerOf(line)
    if (marker === undefined) break
    const rest = line.slice(marker.length)
    end = endOfIndented(parser.lines, at + 1, rest === '' ? 1 : marker.length)
    const body = parser.lines.slice(at + 1, end)
    items.push(parser.parseNested([rest, ...dedent(body, rest === '' ? minIndent(body) : marker.length)]))
    at = end
  }
  return { items, end }
}

/** `:name: value`, but not `:role:`text``. */
const FIELD = /^:(?![: ])((?:[^:\\]|\\.|:(?![ `]|$))+):(?:\s+|$)/

const readFields: BlockReader = (parser, start) => {
  const items: Field[] = []
  let end = start
  for (let at = start; at < parser.lines.length; at++) {
    if (isBlank(parser.line(at))) continue
    const [marker, name = ''] = FIELD.exec(parser.line(at)) ?? []
    if (marker === undefined) break
    end = endOfIndented(parser.lines, at + 1, 1)
    const body = dedent(parser.lines.slice(at + 1, end))
    items.push({ name, blocks: parser.parseNested([parser.line(at).slice(marker.length), ...body]) })
    at = end - 1
  }
  return items.length === 0 ? undefined : { blocks: [{ type: 'fields', items }], end }
}

/** `-a, --all=FILE  description`, or the description on the lines below. */
const OPTION =
  /^(?:-{1,2}|\+|\/)[A-Za-z\d][\w-]*(?:[ =][\w<>[\]|.-]+)?(?:, (?:-{1,2}|\+|\/)[A-Za-z\d][\w-]*(?:[ =][\w<>[\]|.-]+)?)*(?: {2,}|$)/

const readOptions: BlockReader = (parser, start) => {
  const items: Term[] = []
  let end = start
  for (let at = start; at < parser.lines.length; at++) {
    const line = parser.line(at)
    if (isBlank(line)) continue
    const [options] = OPTION.exec(line) ?? []
    if (options === undefined) break
    const bodyEnd = endOfIndented(parser.lines, at + 1, 1)
    if (options.length === line.length && bodyEnd === at + 1) break
    end = bodyEnd
    const body = dedent(parser.lines.slice(at + 1, end))
    const blocks = parser.parseNested([line.slice(options.length), ...body])
    items.push({ term: options.trim(), isCode: true, blocks })
    at = end - 1
  }
  return items.length === 0 ? undefined : { blocks: [{ type: 'terms', items }], end }
}

const readDoctest: BlockReader = (parser, at) => {
  if (!/^>>>(?: |$)/.test(parser.line(at))) return undefined
  const end = endOfText(parser, at)
  return { blocks: [createCode(parser.lines.slice(at, end), 'pycon')], end }
}

const readLineBlock: BlockReader = (parser, at) => {
  if (!/^\|(?: |$)/.test(parser.line(at))) return undefined
  const end = endOfText(parser, at)
  const lines: string[] = []
  for (const line of parser.lines.slice(at, end)) {
    if (/^\|(?: |$)/.test(line)) lines.push(line.slice(2))
    else lines.push(`${lines.pop() ?? ''} ${line.trim()}`)
  }
  return { blocks: [{ type: 'lines', lines }], end }
}

const readGrid: BlockReader = (parser, at) => {
  if (!isGridBorder(parser.line(at))) return undefined
  let end = at
  while (end < parser.lines.length && /^[+|]/.test(parser.line(end))) end++
  const lines = parser.lines.slice(at, end)
  const table = parseGrid(lines, (cell) => parser.parseNested(dedent(cell)))
  return { blocks: [table === undefined ? createCode(lines, '') : { type: 'table', table, caption: '' }], end }
}

const readSimple: BlockReader = (parser, at) => {
  if (!isSimpleBorder(parser.line(at))) return undefined
  const parsed = parseSimple(parser.lines, at, (cell) => parser.parseNested(dedent(cell)))
  if (parsed === undefined) return undefined
  return { blocks: [{ type: 'table', table: parsed.table, caption: '' }], end: parsed.end }
}

const readExplicit: BlockReader = (parser, at) => parseExplicit(parser, at)

const READERS: readonly BlockReader[] = [
  readExplicit,
  readGrid,
  readSimple,
  readTitle,
  readBullets,
  readNumbers,
  readFields,
  readOptions,
  readDoctest,
  readLineBlock,
]

/** End of consecutive text lines. */
function endOfText(parser: BlockParser, at: number): number {
  let end = at
  while (end < parser.lines.length && !isBlank(parser.line(end))) end++
  return end
}

function readParagraph(parser: BlockParser, at: number): ParsedBlocks {
  let end = at + 1
  while (end < parser.lines.length && !isBlank(parser.line(end)) && indentOf(parser.line(end)) === 0) end++
  const isTerm = end === at + 1 && !isBlank(parser.line(end)) && !parser.line(at).endsWith('::')
  if (isTerm) return readTerm(parser, at)
  const text = parser.lines.slice(at, end).join('\n')
  if (!text.endsWith('::')) return { blocks: [{ type: 'paragraph', text }], end }
  const { blocks, end: after } = readLiteral(parser, end)
  const words = text.slice(0, -2)
  // After white space both colons are only markup.
  const intro = /(?:^|[\s:])$/.test(words.slice(-1)) ? words.trimEnd() : `${words}:`
  return { blocks: intro === '' ? blocks : [{ type: 'paragraph', text: intro }, ...blocks], end: after }
}

function readTerm(parser: BlockParser, at: number): ParsedBlocks {
  const end = endOfIndented(parser.lines, at + 1, 1)
  const blocks = parser.parseNested(dedent(parser.lines.slice(at + 1, end)))
  return { blocks: [{ type: 'terms', items: [{ term: parser.line(at), isCode: false, blocks }] }], end }
}

/** The code after a paragraph that ends in `::`: indented, or with the same character at the start of every line. */
function readLiteral(parser: BlockParser, from: number): ParsedBlocks {
  let at = from
  while (at < parser.lines.length && isBlank(parser.line(at))) at++
  const line = parser.line(at)
  let end = endOfIndented(parser.lines, at, 1)
  if (indentOf(line) === 0) {
    end = at
    const sign = /^[!-/:-@[-`{-~]/.exec(line)?.[0]
    while (sign !== undefined && end < parser.lines.length && parser.line(end).startsWith(sign)) end++
  }
  if (end <= at) return { blocks: [], end: from }
  return { blocks: [createCode(dedent(parser.lines.slice(at, end)), parser.context.language)], end }
}
