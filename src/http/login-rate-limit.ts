/** Rate limit against guessing tokens. */
export interface LoginRateLimit {
  /** How long all logins stay blocked, in milliseconds; 0 when a login is allowed. */
  waitMs(): number
  recordAttempt(isRight: boolean): void
}

/** Number of wrong tokens before the first wait. */
const FREE_ATTEMPTS = 5
const FIRST_WAIT_MS = 1000
/** Upper limit of the wait, because it also blocks the owner of the right token. */
const MAX_WAIT_MS = 30_000

/**
 * Creates the rate limit. It is global, because client addresses are unreliable behind a proxy; so it keeps no state per client. Attempts
 * during a wait are not counted, so no client can extend the wait.
 */
export function createLoginRateLimit(now: () => number): LoginRateLimit {
  let wrong = 0
  let until = 0
  return {
    waitMs: () => Math.max(0, until - now()),
    recordAttempt(isRight) {
      wrong = isRight ? 0 : wrong + 1
      const doublings = Math.min(wrong - FREE_ATTEMPTS, 10)
      if (doublings >= 0) until = now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** doublings)
    },
  }
}
