import { escapeHtml } from '../../core/html/escape.ts'
import { characterOf, characterOfCode } from './characters.ts'

/* Text of roff: words, and escapes that start with a backslash. */

/** Font of a text: roman, bold, italic or constant width. */
export type Font = 'R' | 'B' | 'I' | 'C'

export type Run = { readonly font: Font; readonly text: string }

/** Text in runs of one font each. */
export interface Runs {
  readonly runs: readonly Run[]
  /** Whether the next line follows without a space. */
  readonly isJoined: boolean
}

const FONTS: ReadonlyMap<string, Font> = new Map(
  Object.entries({
    B: 'B',
    I: 'I',
    R: 'R',
    '1': 'R',
    '2': 'I',
    '3': 'B',
    '4': 'B',
    BI: 'B',
    CW: 'C',
    CR: 'C',
    C: 'C',
    CB: 'C',
    CI: 'C',
    CO: 'C',
    L: 'C',
    TT: 'C',
  }),
)

/** Escapes whose argument is between two equal delimiters. */
const QUOTED = new Set('hvwlLXxAbBDHRSC')
/** Escapes that are followed by a name: `\n(xx`. */
const NAMED = new Set('ngkmMFYVO$')
/** Escapes that produce nothing, or only hint at line breaks. */
const EMPTY_ESCAPES = new Set('|^&%:/,)!?adurpz{}')
const LITERALS: Readonly<Record<string, string>> = {
  '-': '-',
  "'": "'",
  '`': '`',
  e: '\\',
  E: '\\',
  '~': ' ',
  '0': ' ',
  t: '\t',
}

/** Reads text with its escapes. The font stays set for the next text. */
export class TextReader {
  #font: Font = 'R'
  #previousFont: Font = 'R'

  setFont(name: string): void {
    const next = name === 'P' || name === '' ? this.#previousFont : (FONTS.get(name) ?? 'R')
    this.#previousFont = this.#font
    this.#font = next
  }

  /** Resets the font, as every section and paragraph does. */
  reset(): void {
    this.#font = 'R'
    this.#previousFont = 'R'
  }

  read(text: string): Runs {
    const runs: { font: Font; text: string }[] = []
    const add = (part: string) => {
      const last = runs.at(-1)
      if (last?.font === this.#font) last.text += part
      else if (part !== '') runs.push({ font: this.#font, text: part })
    }
    for (let at = 0; at < text.length; ) {
      const sign = text.indexOf('\\', at)
      add(text.slice(at, sign < 0 ? text.length : sign))
      if (sign < 0) break
      const kind = text[sign + 1] ?? ''
      if (kind === 'c') return { runs, isJoined: true }
      if (kind === '"' || kind === '#') break
      at = this.#readEscape(text, sign + 1, add)
    }
    return { runs, isJoined: false }
  }

  /** Reads the escape at a position, and returns the position after it. */
  #readEscape(text: string, at: number, add: (part: string) => void): number {
    const sign = text[at] ?? ''
    if (sign === 'f') {
      const { name, end } = readName(text, at + 1)
      this.setFont(name)
      return end
    }
    if (sign === '(' || sign === '[') {
      const { name, end } = readName(text, at)
      add(characterOf(name))
      return end
    }
    if (sign === 's') return endOfSize(text, at + 1)
    if (sign === '*' || NAMED.has(sign)) return readName(text, at + 1).end
    if (QUOTED.has(sign)) return readQuoted(text, at + 1).end
    if (sign === 'N' || sign === 'o' || sign === 'Z') {
      const { value, end } = readQuoted(text, at + 1)
      if (sign === 'N') add(characterOfCode(Number(value)))
      else add(sign === 'o' ? value.charAt(0) : value)
      return end
    }
    if (!EMPTY_ESCAPES.has(sign)) add(LITERALS[sign] ?? sign)
    return at + 1
  }
}

/** A name after an escape: one character, two after `(`, any number in `[]`. */
export function readName(text: string, at: number): { readonly name: string; readonly end: number } {
  if (text[at] === '(') return { name: text.slice(at + 1, at + 3), end: at + 3 }
  if (text[at] !== '[') return { name: text[at] ?? '', end: at + 1 }
  const close = text.slice(at, at + MAX_NAME).indexOf(']')
  return close < 0 ? { name: '', end: at + 1 } : { name: text.slice(at + 1, at + close), end: at + close + 1 }
}

const MAX_NAME = 100

function readQuoted(text: string, at: number): { readonly value: string; readonly end: number } {
  const close = text.slice(at + 1, at + MAX_QUOTED).indexOf(text[at] ?? "'")
  return close < 0 ? { value: '', end: at } : { value: text.slice(at + 1, at + 1 + close), end: at + close + 2 }
}

const MAX_QUOTED = 200
const SIZE = /[-+]?(?:\([-+]?\d\d|\[[-+]?\d{1,4}\]|'[-+]?\d{1,4}'|[1-3]\d|\d)/y

function endOfSize(text: string, at: number): number {
  SIZE.lastIndex = at
  return at + (SIZE.exec(text)?.[0].length ?? 0)
}

const FONT_ELEMENTS: Readonly<Record<Font, string>> = { R: '', B: 'strong', I: 'em', C: 'code' }

/** Writes runs as HTML. White space around marked words stays outside of the marks. */
export function writeRuns(runs: readonly Run[]): string {
  return runs.map(writeRun).join('')
}

function writeRun({ font, text }: Run): string {
  const element = FONT_ELEMENTS[font]
  const inner = text.trim()
  if (element === '' || inner === '') return escapeHtml(text)
  const start = text.indexOf(inner)
  const before = text.slice(0, start)
  return `${before}<${element}>${escapeHtml(inner)}</${element}>${text.slice(start + inner.length)}`
}

/** The plain text of runs. */
export function plainRuns(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join('')
}
