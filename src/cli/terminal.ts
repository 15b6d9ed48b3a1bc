import { createColors } from 'picocolors'

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
  /** Whether it shows colours, and they are wanted. */
  hasColors?(): boolean
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
  #liveLine = ''
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

  get isVerbose(): boolean {
    return this.#manners.verbose === true
  }

  /** Whether a person reads the answer, not a program. */
  get isRead(): boolean {
    return this.#streams.stdout.isTTY === true && !this.isJson
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

  /** Something only a curious reader wants. */
  detail(text: string): void {
    if (this.isVerbose) this.note(this.noteColors.dim(text))
  }

  /** One line that is drawn over and over while work goes on; at most ten times a second. */
  live(text: string): void {
    const { stderr } = this.#streams
    if (stderr.isTTY !== true || this.#manners.quiet || this.isJson) return
    const now = performance.now()
    if (now - this.#drawnAt < 100) return
    this.#drawnAt = now
    this.#liveLine = fitWidth(text, (stderr.columns || 80) - 1)
    stderr.write(`${CLEAR_LINE}${this.#liveLine}`)
  }

  /** Takes the live line away. */
  clear(): void {
    if (this.#liveLine !== '') this.#streams.stderr.write(CLEAR_LINE)
    this.#liveLine = ''
  }
}

const CLEAR_LINE = '\r\x1b[2K'

/** Colours only for a stream somebody looks at. */
export function colorsFor(stream: Output): Colors {
  return createColors(stream.isTTY === true && stream.hasColors?.() === true)
}

/**
 * Makes text from a stranger's file safe to print: no control character reaches the terminal, nor one that reorders
 * what is shown. Lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}')
}

/** As {@link printable}, for what has to stay on one line: paths, headings, names. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t\u2028\u2029]/g, '\u{fffd}')
}

/** A word as a shell has to be given it: in quotes, unless it has only characters that mean nothing to any shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** `1 file`, `2 files` */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Characters that take two columns, and those that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u

/** Cuts a line to so many columns: a line that wraps could not be drawn over. */
function fitWidth(text: string, columns: number): string {
  let width = 0
  let fitting = ''
  for (const char of text) {
    width += WIDE.test(char) ? 2 : NARROW.test(char) ? 0 : 1
    if (width > columns) return `${fitting}…`
    // One column is kept for the mark that something is missing.
    if (width < columns) fitting += char
    else if (fitting.length + char.length === text.length) return text
  }
  return text
}
