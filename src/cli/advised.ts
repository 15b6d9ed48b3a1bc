import { type ErrorEntry, PharosError } from '../core/errors.ts'

/** A failure with better advice than the table has: it knows the very command that helps. */
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
