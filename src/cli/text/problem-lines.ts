import type { CrawlEvent } from '../../crawl/events.ts'
import type { Hint } from '../library.ts'
import { printableLine, type Terminal, writeNumber } from '../terminal.ts'

/** Maximum number of problems printed without `--verbose`; a site may have hundreds. */
const MAX_LINES = 10

/** Frequent but minor problems, which are only printed with `--verbose`. */
const MINOR_KINDS: ReadonlySet<string> = new Set(['unknown-pattern'])

/** Prints the first problems of a crawl, and counts the others. */
export class ProblemLines {
  readonly #terminal: Terminal
  #printed = 0
  #others = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  print({ kind, message }: Extract<CrawlEvent, { type: 'problem' }>): void {
    const line = printableLine(`${kind}: ${message}`)
    if (MINOR_KINDS.has(kind)) this.#terminal.detail(line)
    else if (this.#printed < MAX_LINES || this.#terminal.isVerbose) {
      this.#printed++
      this.#terminal.notice(line)
    } else this.#others++
  }

  /** Prints how many problems were left out, at the end of the crawl. */
  printRest(hint: Hint): void {
    if (this.#others === 0) return
    const more = `and ${writeNumber(this.#others)} more problems`
    this.#terminal.notice(`${more}: ${hint('serve')} shows all of them, at /problems/ssr`)
  }
}
