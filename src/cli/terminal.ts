import { createColors } from 'picocolors'
import { sanitizeText } from '../core/text/sanitize-text.ts'

export { countOf, writeNumber } from '../core/text/count.ts'

/** How much a command prints besides its answer. */
export interface OutputFlags {
  readonly json?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  /** False with `--no-color`. */
  readonly color?: boolean
}

/** A text output, such as a stream of the process. */
export interface Output {
  write(text: string): unknown
  /** Whether the output is a terminal. */
  readonly isTTY?: boolean
  /** The width in columns. */
  readonly columns?: number
  /** The height in lines. */
  readonly rows?: number
  /** Whether the output supports colors, and the user has not disabled them. */
  hasColors?(): boolean
  /** Whether the user wants colors even if the output is not a terminal. */
  readonly forcesColors?: boolean
  /** Whether the output supports hyperlinks behind a text. */
  hasLinks?(): boolean
}

/** The output streams of the program. */
export interface Streams {
  readonly stdout: Output
  readonly stderr: Output
}

/** Functions that color text, or return it unchanged. */
export type Colors = ReturnType<typeof createColors>

/** Prints the answer to stdout and everything else to stderr, so that a pipe carries the answer only. */
export class Terminal {
  /** Colors for the answer. */
  readonly answerColors: Colors
  /** Colors for notes. */
  readonly noteColors: Colors
  readonly #flags: OutputFlags
  readonly #streams: Streams
  /** The lines of the live block that are on the screen. */
  #liveLines: readonly string[] = []
  #drawnAt = Number.NEGATIVE_INFINITY

  constructor(flags: OutputFlags, streams: Streams) {
    this.#flags = flags
    this.#streams = streams
    this.answerColors = colorsFor(streams.stdout, flags)
    this.noteColors = colorsFor(streams.stderr, flags)
  }

  get isJson(): boolean {
    return this.#flags.json === true
  }

  /** Whether only the answer is printed. */
  get isQuiet(): boolean {
    return this.#flags.quiet === true
  }

  get isVerbose(): boolean {
    return this.#flags.verbose === true
  }

  /** Whether a user reads the answer at a terminal, rather than a program. */
  get isAnswerOnTerminal(): boolean {
    return this.#streams.stdout.isTTY === true && !this.isJson
  }

  /** Whether the answer can contain hyperlinks behind a text. */
  get hasLinks(): boolean {
    return this.isAnswerOnTerminal && this.#streams.stdout.hasLinks?.() === true
  }

  /** The width of the terminal that shows the answer. */
  get columns(): number {
    return this.#streams.stdout.columns || 80
  }

  /** Prints the answer, as text or as JSON. */
  answer(text: string, value: unknown): void {
    this.clear()
    this.#streams.stdout.write(this.isJson ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }

  /** Whether notes are printed. */
  get showsNotes(): boolean {
    return !this.isQuiet && !this.isJson
  }

  /** Prints a note besides the answer. */
  note(text: string): void {
    this.clear()
    if (this.showsNotes) this.#streams.stderr.write(`${text}\n`)
  }

  /** Prints a note that matters even if the answer is JSON. */
  notice(text: string): void {
    this.clear()
    if (!this.#flags.quiet) this.#streams.stderr.write(`${text}\n`)
  }

  /** Prints a note with `--verbose` only. */
  detail(text: string): void {
    if (this.isVerbose) this.note(this.noteColors.dim(text))
  }

  /** Whether a user sees notices at a terminal. */
  get isNoticeOnTerminal(): boolean {
    return this.#streams.stderr.isTTY === true && !this.#flags.quiet
  }

  /** Whether a live block is shown. */
  get isLive(): boolean {
    return this.isNoticeOnTerminal && !this.isJson
  }

  /** Redraws a block of one or a few lines in place, at most ten times a second. All lines but the first are dimmed. */
  live(text: string): void {
    if (!this.isLive) return
    const now = performance.now()
    if (now - this.#drawnAt < 100) return
    this.#drawnAt = now
    const { stderr } = this.#streams
    // A block as high as the screen would scroll, and could not be redrawn in place.
    const lines = text.split('\n').slice(0, Math.max(1, (stderr.rows || 24) - 1))
    const fitting = lines.map((line) => fitWidth(line, (stderr.columns || 80) - 1))
    const drawnLines = fitting.map((line, i) => `${ERASE_LINE}${i === 0 ? line : this.noteColors.dim(line)}`)
    const height = this.#liveHeight
    // One call writes the whole block, so that the block does not flicker.
    stderr.write(`${moveToStart(height)}${drawnLines.join('\n')}${height > lines.length ? ERASE_BELOW : ''}`)
    this.#liveLines = fitting
  }

  /** Erases the live block. */
  clear(): void {
    const height = this.#liveHeight
    if (height > 0) this.#streams.stderr.write(`${moveToStart(height)}${height === 1 ? ERASE_LINE : ERASE_BELOW}`)
    this.#liveLines = []
  }

  /** The height of the live block on the screen, which grows if the window was made narrower since. */
  get #liveHeight(): number {
    const columns = this.#streams.stderr.columns || 80
    return this.#liveLines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
  }
}

const ERASE_LINE = '\x1b[2K'
const ERASE_BELOW = '\x1b[J'

/** Moves the cursor from the last line of a block to the start of its first. */
function moveToStart(height: number): string {
  return height > 1 ? `\r\x1b[${height - 1}A` : '\r'
}

/** Color functions for a stream, which return text unchanged unless the stream is a terminal with colors, or colors are forced. */
export function colorsFor(stream: Output, { color = true }: OutputFlags = {}): Colors {
  const hasColors = stream.isTTY === true && stream.hasColors?.() === true
  return createColors(color && (hasColors || stream.forcesColors === true))
}

/** Makes untrusted text safe to print: replaces control and text-reordering characters by U+FFFD, except line breaks and tabs. */
export function printable(text: string): string {
  return sanitizeText(text)
}

/** Like {@link printable}, for text that must stay on one line: paths, headings, names. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, '\u{fffd}')
}

/** Text with a hyperlink behind it, as an escape sequence. */
export function writeLink(text: string, url: string): string {
  return `\x1b]8;;${printableLine(url)}\x1b\\${text}\x1b]8;;\x1b\\`
}

/** Quotes a word for a shell, unless it has only characters without a special meaning. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A character that takes two columns. */
const WIDE_CHAR =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
/** A character that takes no column. */
const ZERO_WIDTH_CHAR = /[\p{Mn}\p{Me}\p{Cf}]/u

/** The width of a text in columns. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += columnsOf(char)
  return width
}

/** The width of a character in columns. */
export function columnsOf(char: string): number {
  return WIDE_CHAR.test(char) ? 2 : ZERO_WIDTH_CHAR.test(char) ? 0 : 1
}

/** Truncates a line to a number of columns, because a wrapped line could not be redrawn in place. */
function fitWidth(text: string, columns: number): string {
  let width = 0
  let fitting = ''
  for (const char of text) {
    width += columnsOf(char)
    if (width > columns) return `${fitting}…`
    // One column is reserved for the ellipsis.
    if (width < columns) fitting += char
    else if (fitting.length + char.length === text.length) return text
  }
  return text
}
