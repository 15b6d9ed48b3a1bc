import { type ErrorEntry, PharosError } from '../core/errors.ts'

/** An error with more specific advice than the table of errors has: the exact command that helps. */
export class AdvisedError extends PharosError {
  readonly #advice: string

  constructor({ code, details, cause }: PharosError, advice: string) {
    super(code, details, { cause })
    this.#advice = advice
  }

  override get entry(): ErrorEntry {
    return { ...super.entry, advice: this.#advice }
  }
}
