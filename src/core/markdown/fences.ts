import { CODE_INDENT, indentOf, splitLines } from '../text/lines.ts'

/** The fence that a line opens. */
export interface Fence {
  /** What precedes the marker: white space, list markers, `>`. */
  readonly indent: string
  /** Three or more backticks or tildes. */
  readonly marker: string
  readonly info: string
}

// The flag `s` lets the rest match any character, so that no line is tried again with a shorter fence.
const OPENING = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*)(`{3,}|~{3,})(.*)$/s
const CLOSING = /^([ \t>]*)(`+|~+|:+)\s*$/

/** Parses the opening line of a fence; undefined for another line. */
export function readFence(line: string): Fence | undefined {
  const [, indent = '', marker, info = ''] = OPENING.exec(line) ?? []
  if (marker === undefined || (marker.startsWith('`') && info.includes('`'))) return undefined
  return { indent, marker, info }
}

/** Whether a line closes a fence: as long a marker or a longer one, alone, in the same quote. */
export function closesFence(line: string, { indent, marker }: Fence): boolean {
  const [, lead = '', run = ''] = CLOSING.exec(line) ?? []
  if (!run.startsWith(marker) || countQuotes(lead) !== countQuotes(indent)) return false
  return columnsOf(lead) - columnsOf(indent) < CODE_INDENT
}

/** Follows the fenced code blocks of a text, which is read line by line. */
export class FenceReader {
  #fence: Fence | undefined

  /** The fence that is still open after the lines read so far. */
  get fence(): Fence | undefined {
    return this.#fence
  }

  /** Reads the next line; undefined for a line outside of code. A fence in a quote ends with the quote at the latest. */
  read(line: string): 'open' | 'code' | 'close' | undefined {
    const fence = this.#fence
    // Most lines are no fences, and searching for a marker takes less time than a pattern.
    if (fence === undefined && !line.includes('```') && !line.includes('~~~')) return undefined
    if (fence !== undefined && isInQuoteOf(line, fence)) {
      if (!line.includes(fence.marker) || !closesFence(line, fence)) return 'code'
      this.#fence = undefined
      return 'close'
    }
    this.#fence = readFence(line)
    return this.#fence === undefined ? undefined : 'open'
  }
}

/** Closes the fence that a text leaves open, so that following text is not part of it. */
export function closeFences(text: string): string {
  const fences = new FenceReader()
  for (const line of splitLines(text)) fences.read(line)
  return fences.fence === undefined ? text : `${text}\n${continueQuote(fences.fence.indent)}${fences.fence.marker}`
}

/** The prefix of later lines of a block inside a list or quote: list markers become spaces. */
export function continueQuote(prefix: string): string {
  return prefix.replace(/[^>\s]/g, ' ')
}

function isInQuoteOf(line: string, { indent }: Fence): boolean {
  return !indent.includes('>') || countQuotes(/^[ \t>]*/.exec(line)?.[0] ?? '') >= countQuotes(indent)
}

function countQuotes(prefix: string): number {
  return prefix.split('>').length
}

function columnsOf(prefix: string): number {
  return indentOf(prefix.replace(/\S/g, ' '))
}
