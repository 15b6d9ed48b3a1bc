/** Slows down whoever guesses tokens. */
export interface LoginPace {
  /** How long nobody may try, in milliseconds; 0 when one may. */
  waitMs(): number
  note(isRight: boolean): void
}

/** So many may be wrong before anybody has to wait. */
const FREE_TRIES = 5
const FIRST_WAIT_MS = 1000
/** Whoever has the right token waits no longer than this either. */
const LONGEST_WAIT_MS = 30_000

/**
 * Creates it. It holds for everybody together: who asks from where cannot be told behind a proxy, and needs nothing to be
 * remembered. What comes while all wait is not counted, so that nobody can make the wait longer by not waiting.
 */
export function createLoginPace(now: () => number): LoginPace {
  let wrong = 0
  let until = 0
  return {
    waitMs: () => Math.max(0, until - now()),
    note(isRight) {
      wrong = isRight ? 0 : wrong + 1
      const doublings = Math.min(wrong - FREE_TRIES, 10)
      if (doublings >= 0) until = now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** doublings)
    },
  }
}
