import pc from 'picocolors'

/** How much a verb says besides its answer. */
export interface Manners {
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
}

/** The answer goes to stdout, all else to stderr, so that a pipe carries the answer only. */
export class Terminal {
  readonly #manners: Manners
  readonly #hasLiveLine: boolean
  #liveLine = ''
  #drawnAt = 0

  constructor(manners: Manners) {
    this.#manners = manners
    this.#hasLiveLine = process.stderr.isTTY && !manners.quiet && !manners.json
  }

  get isJson(): boolean {
    return this.#manners.json
  }

  get isVerbose(): boolean {
    return this.#manners.verbose
  }

  /** The answer: text for people, or the same as JSON. */
  answer(text: string, value: unknown): void {
    this.clear()
    process.stdout.write(this.#manners.json ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }

  /** Something besides the answer. */
  note(text: string): void {
    this.clear()
    if (!this.#manners.quiet && !this.#manners.json) process.stderr.write(`${text}\n`)
  }

  /** Something only a curious reader wants. */
  detail(text: string): void {
    if (this.#manners.verbose) this.note(pc.dim(text))
  }

  /** One line that is drawn over and over while work goes on; at most ten times a second. */
  live(text: string): void {
    const now = performance.now()
    if (!this.#hasLiveLine || now - this.#drawnAt < 100) return
    this.#drawnAt = now
    const width = process.stderr.columns - 1
    this.#liveLine = text.length > width ? `${text.slice(0, width - 1)}…` : text
    process.stderr.write(`\r\x1b[2K${this.#liveLine}`)
  }

  /** Takes the live line away. */
  clear(): void {
    if (this.#liveLine !== '') process.stderr.write('\r\x1b[2K')
    this.#liveLine = ''
  }
}

/** Makes text from a stranger's file safe to print: no control character reaches the terminal. */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '\u{fffd}')
}

/** `1 file`, `2 files` */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
