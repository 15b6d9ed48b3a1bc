/** Delays before each retry of a failed file; after the last retry, only a change of the file triggers another. */
const RETRY_DELAYS_MS: readonly number[] = [5000, 30_000, 180_000, 900_000]

/** A file that could not be read. */
export interface FailedFile {
  /** Failed retries since the file last changed. */
  readonly retries: number
  /** Time of the next retry; null if only a change of the file can help. */
  readonly retryAt: number | null
  /** Value that changes with the file; null if the file could not be inspected. */
  readonly stamp: string | null
}

/** Tracks files that could not be read, and when to retry them. */
export class FailedFiles {
  readonly #delaysMs: readonly number[]
  readonly #files = new Map<string, FailedFile>()

  constructor(delaysMs: readonly number[] = RETRY_DELAYS_MS) {
    this.#delaysMs = delaysMs
  }

  /** Records a failure. A changed file starts over; a file read before its retry time keeps that time. */
  fail(path: string, now: number, stamp: string | null): FailedFile {
    const before = this.#files.get(path)
    const isUnchanged = before !== undefined && before.stamp === stamp
    if (isUnchanged && (before.retryAt ?? Infinity) > now) return before
    const retries = isUnchanged ? before.retries + 1 : 0
    const delayMs = this.#delaysMs[retries]
    const failed = { retries, retryAt: delayMs === undefined ? null : now + delayMs, stamp }
    this.#files.set(path, failed)
    return failed
  }

  /** Removes a file that was read or deleted; returns its entry, or undefined if it had not failed. */
  remove(path: string): FailedFile | undefined {
    const failed = this.#files.get(path)
    this.#files.delete(path)
    return failed
  }

  /** Paths of all failed files. */
  get paths(): readonly string[] {
    return [...this.#files.keys()]
  }

  /** Time of the next retry; null if there is none. */
  nextAt(): number | null {
    const times = [...this.#files.values()].flatMap(({ retryAt }) => retryAt ?? [])
    return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b))
  }

  /** Lists files whose retry time has come. */
  listDue(now: number): string[] {
    return [...this.#files].filter(([, { retryAt }]) => retryAt !== null && retryAt <= now).map(([path]) => path)
  }
}
