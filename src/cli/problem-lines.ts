import type { CrawlEvent } from '../crawl/events.ts'
import type { Hint } from './library.ts'
import { printableLine, type Terminal, writeNumber } from './terminal.ts'

/** Problems that get a line of their own; a site may have hundreds. */
const MAX_LINES = 10

/** Problems of which there are many, each a small matter: only a curious reader wants them. */
const SMALL: ReadonlySet<string> = new Set(['unknown-pattern'])

/** Tells the problems of a crawl: the first few in a line each, and how many others there were. */
export class ProblemLines {
  readonly #terminal: Terminal
  #told = 0
  #others = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  tell({ kind, message }: Extract<CrawlEvent, { type: 'problem' }>): void {
    const line = printableLine(`${kind}: ${message}`)
    if (SMALL.has(kind)) this.#terminal.detail(line)
    else if (this.#told < MAX_LINES || this.#terminal.isVerbose) {
      this.#told++
      this.#terminal.notice(line)
    } else this.#others++
  }

  /** Tells how many were left out, once there are no more to come. */
  end(hint: Hint): void {
    if (this.#others === 0) return
    const more = `and ${writeNumber(this.#others)} more problems`
    this.#terminal.notice(`${more}: ${hint('serve')} shows all of them, at /problems/ssr`)
  }
}
