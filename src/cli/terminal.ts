import { createColors } from 'picocolors'
import { writeShowable } from '../core/text/showable.ts'

export { countOf, writeNumber } from '../core/text/count.ts'

/** How much a verb says besides its answer. */
export interface Manners {
  readonly json?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
}

/** Where text goes. The streams of a process are such. */
export interface Output {
  write(text: string): unknown
  /** Whether somebody looks at it. */
  readonly isTTY?: boolean
  /** Its width in columns. */
  readonly columns?: number
  /** Its height in lines. */
  readonly rows?: number
  /** Whether it shows colours, and they are wanted. */
  hasColors?(): boolean
  /** Whether it makes links clickable that are hidden behind their text. */
  hasLinks?(): boolean
}

/** The two streams a program writes to. */
export interface Streams {
  readonly stdout: Output
  readonly stderr: Output
}

/** Functions that colour text, or leave it alone. */
export type Colors = ReturnType<typeof createColors>

/** The answer goes to stdout, all else to stderr, so that a pipe carries the answer only. */
export class Terminal {
  /** Colours for the answer. */
  readonly answerColors: Colors
  /** Colours for notes. */
  readonly noteColors: Colors
  readonly #manners: Manners
  readonly #streams: Streams
  /** The lines of the live block as they stand on the screen. */
  #liveLines: readonly string[] = []
  #drawnAt = Number.NEGATIVE_INFINITY

  constructor(manners: Manners, streams: Streams) {
    this.#manners = manners
    this.#streams = streams
    this.answerColors = colorsFor(streams.stdout)
    this.noteColors = colorsFor(streams.stderr)
  }

  get isJson(): boolean {
    return this.#manners.json === true
  }

  /** Whether only the answer is wanted. */
  get isQuiet(): boolean {
    return this.#manners.quiet === true
  }

  get isVerbose(): boolean {
    return this.#manners.verbose === true
  }

  /** Whether a person reads the answer, not a program. */
  get isRead(): boolean {
    return this.#streams.stdout.isTTY === true && !this.isJson
  }

  /** Whether links in the answer can be clicked though only their text is seen. */
  get hasLinks(): boolean {
    return this.isRead && this.#streams.stdout.hasLinks?.() === true
  }

  /** The width of what the answer is read on. */
  get columns(): number {
    return this.#streams.stdout.columns || 80
  }

  /** The answer: text for people, or the same as JSON. */
  answer(text: string, value: unknown): void {
    this.clear()
    this.#streams.stdout.write(this.isJson ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }

  /** Something besides the answer. */
  note(text: string): void {
    this.clear()
    if (!this.#manners.quiet && !this.isJson) this.#streams.stderr.write(`${text}\n`)
  }

  /** Something that whoever waits for the answer has to know, whatever form that has. */
  notice(text: string): void {
    this.clear()
    if (!this.#manners.quiet) this.#streams.stderr.write(`${text}\n`)
  }

  /** Something only a curious reader wants. */
  detail(text: string): void {
    if (this.isVerbose) this.note(this.noteColors.dim(text))
  }

  /** Whether a person sees notices. */
  get isWatched(): boolean {
    return this.#streams.stderr.isTTY === true && !this.#manners.quiet
  }

  /** Whether a live block is seen. */
  get isLive(): boolean {
    return this.isWatched && !this.isJson
  }

  /**
   * A line or a few that are drawn over and over while work goes on; at most ten times a second. The first one counts most,
   * the others are dimmed.
   */
  live(text: string): void {
    if (!this.isLive) return
    const now = performance.now()
    if (now - this.#drawnAt < 100) return
    this.#drawnAt = now
    const { stderr } = this.#streams
    // A block as high as the screen would scroll, and could not be drawn over.
    const lines = text.split('\n').slice(0, Math.max(1, (stderr.rows || 24) - 1))
    const fitting = lines.map((line) => fitWidth(line, (stderr.columns || 80) - 1))
    const shown = fitting.map((line, i) => `${ERASE_LINE}${i === 0 ? line : this.noteColors.dim(line)}`)
    const height = this.#liveHeight
    // Everything in one piece, so that nothing flickers.
    stderr.write(`${toStart(height)}${shown.join('\n')}${height > lines.length ? ERASE_BELOW : ''}`)
    this.#liveLines = fitting
  }

  /** Takes the live block away. */
  clear(): void {
    const height = this.#liveHeight
    if (height > 0) this.#streams.stderr.write(`${toStart(height)}${height === 1 ? ERASE_LINE : ERASE_BELOW}`)
    this.#liveLines = []
  }

  /** Lines on the screen that the live block takes: more than it has, where the window was made narrower since. */
  get #liveHeight(): number {
    const columns = this.#streams.stderr.columns || 80
    return this.#liveLines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
  }
}

const ERASE_LINE = '\x1b[2K'
const ERASE_BELOW = '\x1b[J'

/** From the last line of a block to the beginning of its first. */
function toStart(height: number): string {
  return height > 1 ? `\r\x1b[${height - 1}A` : '\r'
}

/** Colours only for a stream somebody looks at. */
export function colorsFor(stream: Output): Colors {
  return createColors(stream.isTTY === true && stream.hasColors?.() === true)
}

/**
 * Makes text from a stranger's file safe to print: no control character reaches the terminal, nor one that reorders
 * what is shown. Lines and tabs stay.
 */
export function printable(text: string): string {
  return writeShowable(text)
}

/** As {@link printable}, for what has to stay on one line: paths, headings, names. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, '\u{fffd}')
}

/** Text with an address behind it, for a terminal that takes it so. */
export function writeLink(text: string, url: string): string {
  return `\x1b]8;;${printableLine(url)}\x1b\\${text}\x1b]8;;\x1b\\`
}

/** A word as a shell has to be given it: in quotes, unless it has only characters that mean nothing to any shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Characters that take two columns, and those that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u

/** How many columns a text takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += columnsOf(char)
  return width
}

/** How many columns a character takes. */
export function columnsOf(char: string): number {
  return WIDE.test(char) ? 2 : NARROW.test(char) ? 0 : 1
}

/** Cuts a line to so many columns: a line that wraps could not be drawn over. */
function fitWidth(text: string, columns: number): string {
  let width = 0
  let fitting = ''
  for (const char of text) {
    width += columnsOf(char)
    if (width > columns) return `${fitting}…`
    // One column is kept for the mark that something is missing.
    if (width < columns) fitting += char
    else if (fitting.length + char.length === text.length) return text
  }
  return text
}
