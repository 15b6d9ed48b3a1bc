import { type Block, parseBlocks } from '../../src/core/markdown/blocks.ts'
import type { Section } from '../../src/core/model.ts'
import { estimateTokens } from '../../src/core/text/estimate.ts'
import { splitLines } from '../../src/core/text/lines.ts'
import type { PageText } from '../../src/library/ports/store.ts'
import { writeCitation, writeMention } from '../../src/library/search/display-text.ts'
import type { Passage, SearchAnswer } from '../../src/library/search.ts'

/** A stored page as parsed by a Markdown parser. */
export interface ReadPage {
  readonly lines: readonly string[]
  readonly sections: readonly Section[]
  /** Blocks without child blocks. Their line numbers start at 0. */
  readonly leaves: readonly Block[]
}

/** Parses a stored page with a parser that the code for passages does not use. */
export function readPage({ markdown, sections }: Pick<PageText, 'markdown' | 'sections'>): ReadPage {
  const lines = splitLines(markdown)
  return { lines, sections, leaves: leavesOf(lines) }
}

function leavesOf(lines: readonly string[]): Block[] {
  // The page is parsed as a whole, because in parts a list longer than one part would not be recognized.
  return [...parseBlocks(lines, 0, Number.POSITIVE_INFINITY)].flatMap((block) =>
    block.leaves.length > 0 ? block.leaves : [block],
  )
}

/** Problems of an answer. `pageOf` finds the page of a passage. */
export function checkAnswer(answer: SearchAnswer, budget: number, pageOf: (passage: Passage) => ReadPage): string[] {
  const problems: string[] = []
  const { passages, more, moreShown } = answer
  const citations = passages.map((passage) => `[1] ${writeCitation(passage)}\n\n`)
  const blocks = [
    ...citations,
    ...passages.map(({ text }) => `${text}\n\n`),
    ...more.slice(0, moreShown).map((page) => `[1] ${writeMention(page)}\n`),
  ]
  const size = estimateTokens(blocks.join(''))
  const maxSize = budget + estimateTokens(citations[0] ?? '')
  if (size > maxSize) problems.push(`takes ${size} tokens of ${maxSize}`)
  const isClaimWrong = Math.abs(size - answer.tokens) > 4 * blocks.length
  if (isClaimWrong) problems.push(`takes ${size} tokens, but says ${answer.tokens}`)
  for (const passage of passages) {
    const location = `${passage.url} ${passage.startLine}-${passage.endLine}`
    for (const problem of checkPassage(passage, pageOf(passage), budget)) problems.push(`${location} ${problem}`)
  }
  for (const repeated of findRepeated(passages)) problems.push(`${repeated} twice`)
  const shownPages = new Set(passages.map(({ sourceId, url }) => `${sourceId} ${url.replace(/#.*/, '')}`))
  for (const { sourceId, url, line } of more) {
    if (shownPages.has(`${sourceId} ${url}`)) problems.push(`${url} is mentioned and shown`)
    if (line.includes('\n')) problems.push(`${url} is mentioned with several lines`)
  }
  return problems
}

function checkPassage(passage: Passage, page: ReadPage, budget: number): string[] {
  const { text, startLine, endLine, isCut } = passage
  const lines = page.lines.slice(startLine - 1, endLine)
  return [
    ...(isCut || text === lines.join('\n') ? [] : ['is not the text of its lines']),
    ...(text.trim() === '' ? ['is empty'] : []),
    ...checkFences(text),
    ...checkTables(passage, page),
    ...checkHeadings(passage, page),
    ...(isCut ? checkCut(passage, page, budget) : checkWhole(passage, page)),
  ]
}

/** Every fence is closed. */
function checkFences(text: string): string[] {
  const lines = splitLines(text)
  const unclosed = leavesOf(lines).filter((block) => {
    if (block.type !== 'fence') return false
    const last = lines.slice(block.open + 1, block.close).findLast((line) => line.trim() !== '') ?? ''
    return !last.replace(/^[\s>]*/, '').startsWith(block.marker)
  })
  return unclosed.map((block) => `has an open fence in line ${block.open}: ${text.slice(0, 200)}`)
}

/** Table rows of the page are in a table of the passage, under its header. */
function checkTables({ text, startLine, isCut }: Passage, page: ReadPage): string[] {
  const lines = splitLines(text)
  const rows = rowsOf(leavesOf(lines))
  const pageRows = rowsOf(page.leaves)
  return lines.flatMap((line, i) => {
    const isRow = isCut ? /^\s*\|.*\|\s*$/.test(line) : pageRows.has(startLine - 1 + i)
    return isRow && !rows.has(i) ? [`has a row outside of a table in line ${i}: ${line.slice(0, 100)}`] : []
  })
}

function rowsOf(leaves: readonly Block[]): Set<number> {
  const tables = leaves.filter(({ type }) => type === 'table')
  return new Set(tables.flatMap(({ open, close }) => Array.from({ length: close - open }, (_, i) => open + i)))
}

/** The passage names the headings above it. */
function checkHeadings({ headingPath, startLine, endLine }: Passage, { sections }: ReadPage): string[] {
  const path: string[] = []
  for (let level = sections; ; ) {
    const enclosing = level.find((section) => section.startLine <= startLine && endLine <= section.endLine)
    if (enclosing === undefined) break
    path.push(enclosing.title)
    level = enclosing.children
  }
  const isNamed = path.every(
    (title, i) => headingPath[i] !== undefined && title.startsWith(headingPath[i].slice(0, 40)),
  )
  return isNamed ? [] : [`is under ${path.join(' > ')}, but says ${headingPath.join(' > ')}`]
}

/** No block of the page begins outside and ends inside, or the other way round. */
function checkWhole({ startLine, endLine }: Passage, { leaves }: ReadPage): string[] {
  const split = leaves.filter(({ open, close }) => {
    const isInside = open >= startLine - 1 && close <= endLine
    return !isInside && close > startLine - 1 && open < endLine
  })
  return split.map(({ type, open, close }) => `splits a ${type} of lines ${open + 1}-${close}`)
}

/** A block is cut only if it exceeds the budget together with its citation. A cut table has only whole lines of the page. */
function checkCut(passage: Passage, { leaves, lines }: ReadPage, budget: number): string[] {
  const { text, startLine, endLine } = passage
  const block = leaves.find(({ open, close }) => open < endLine && close >= startLine)
  if (block === undefined) return ['is cut, but belongs to no block']
  const whole = lines.slice(block.open, block.close)
  const size = estimateTokens(`${writeCitation(passage)}\n${whole.join('\n')}`)
  const blockLines = new Set(whole)
  const unknownRows = block.type === 'table' ? splitLines(text).filter((line) => !blockLines.has(line)) : []
  return [
    ...(size > budget ? [] : [`is cut, but its block takes only ${size} tokens with its citation`]),
    ...unknownRows.map((row) => `has a row that is not in the page: ${row.slice(0, 100)}`),
  ]
}

/** Chunks, lines and texts that are in an answer more than once. */
function findRepeated(passages: readonly Passage[]): string[] {
  const chunks = passages.flatMap(({ sourceId, chunkIds }) => chunkIds.map((id) => `chunk ${sourceId}/${id}`))
  const texts = passages.map(({ text }) => `text ${text.replace(/\s+/g, ' ').trim()}`)
  const ranges = passages.flatMap((a, i) => {
    const isOverlapped = passages.slice(i + 1).some((b) => {
      const isSamePage = a.sourceId === b.sourceId && a.url.replace(/#.*/, '') === b.url.replace(/#.*/, '')
      return isSamePage && a.startLine <= b.endLine && b.startLine <= a.endLine
    })
    return isOverlapped ? [`lines of ${a.url} ${a.startLine}-${a.endLine}`] : []
  })
  const seen = new Set<string>()
  const repeated = [...chunks, ...texts].filter((one) => seen.size === seen.add(one).size)
  return [...repeated, ...ranges]
}
