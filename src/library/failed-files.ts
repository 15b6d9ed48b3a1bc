/** How long after a failure a file is read again, the first time, the second time and so on; then only when it has changed. */
const RETRY_WAITS_MS: readonly number[] = [5000, 30_000, 180_000, 900_000]

/** A file that could not be read. */
export interface FailedFile {
  /** How often it was read again in vain since it last changed. */
  readonly retries: number
  /** When it is read again; null when only a change of it can help. */
  readonly retryAt: number | null
  /** What a change of it is told by; null where it could not be looked at. */
  readonly stamp: string | null
}

/** Remembers which files could not be read, and when it is time to try again. */
export class FailedFiles {
  readonly #waitsMs: readonly number[]
  readonly #files = new Map<string, FailedFile>()

  constructor(waitsMs: readonly number[] = RETRY_WAITS_MS) {
    this.#waitsMs = waitsMs
  }

  /** It failed. One that has changed is tried anew; one that was read before it was time, for whatever reason, goes on waiting. */
  fail(path: string, now: number, stamp: string | null): FailedFile {
    const before = this.#files.get(path)
    const isSame = before !== undefined && before.stamp === stamp
    if (isSame && (before.retryAt ?? Infinity) > now) return before
    const retries = isSame ? before.retries + 1 : 0
    const waitMs = this.#waitsMs[retries]
    const failed = { retries, retryAt: waitMs === undefined ? null : now + waitMs, stamp }
    this.#files.set(path, failed)
    return failed
  }

  /** It was read, or is gone: what is to be said of it no more; undefined where nothing was. */
  heal(path: string): FailedFile | undefined {
    const failed = this.#files.get(path)
    this.#files.delete(path)
    return failed
  }

  /** All of them. */
  get paths(): readonly string[] {
    return [...this.#files.keys()]
  }

  /** When the next one is to be tried again; null without any. */
  nextAt(): number | null {
    const times = [...this.#files.values()].flatMap(({ retryAt }) => retryAt ?? [])
    return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b))
  }

  /** Those that are to be tried again by now. */
  due(now: number): string[] {
    return [...this.#files].filter(([, { retryAt }]) => retryAt !== null && retryAt <= now).map(([path]) => path)
  }
}
