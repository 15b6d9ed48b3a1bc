/**
 * Who may ask a host, where several processes share a library. One process has a host at a time; what follows is all that ever changes that.
 * When a host may be asked is a matter of its clock, which everybody shares.
 */
export interface HostLease {
  /** The process that has it, or had it last; null for one that nobody had yet. */
  readonly holder: string | null
  /** Grows whenever the host changes hands. What was taken under another one is not its taker's any more. */
  readonly token: number
  /** Until when it is the holder's without a further sign of life; 0 once it was given back. */
  readonly leasedUntil: number
  /** Since when the holder has it. */
  readonly takenAt: number
  /** When another process last wanted it; 0 where none did since it was taken. */
  readonly wantedAt: number
}

/** Stands for the host of what has none: files are nobody's, and may be read by all at once. */
export const NO_HOST = ''

/** A host that nobody had yet. */
export const FREE_LEASE: HostLease = { holder: null, token: 0, leasedUntil: 0, takenAt: 0, wantedAt: 0 }

/** So long a host that others want stays with whoever has it. */
export const TURN_MS = 5000
/** A wish that was not repeated for so long is nobody's any more. */
export const WISH_MS = 3000
/** So often a wish is repeated at most. */
export const WISH_AGAIN_MS = 1000
/** Nobody takes a host for longer: what points further ahead was written by a clock that was wrong. */
export const MOST_LEASE_MS = 600_000

/**
 * How a host stands to a process. `ours`: it may go on with it. `free`: it may take it. `others`: another process has it. `yielded`: others
 * want it and its turn is over, so that it begins nothing new there, and gives it back when nothing is under way any more.
 */
export type HostStanding = 'ours' | 'free' | 'others' | 'yielded'

/** Tells how a host stands to a process. */
export function judgeHost(lease: HostLease, asking: string, now: number): HostStanding {
  if (lease.holder !== asking) return isHostHeld(lease, now) ? 'others' : 'free'
  const isGivenBack = lease.leasedUntil === 0
  // Whoever has given it back because others want it leaves it to them.
  if (isWanted(lease, now) && (isGivenBack || now - lease.takenAt >= TURN_MS)) return 'yielded'
  // One that ran out and that nobody has taken since is still its holder's.
  return isGivenBack ? 'free' : 'ours'
}

/** Whether somebody has a host at a moment. */
export function isHostHeld({ holder, leasedUntil }: HostLease, now: number): boolean {
  return holder !== null && leasedUntil > now && leasedUntil - now <= MOST_LEASE_MS
}

/** Takes a host, or keeps it: one that is free, or the process has. It changes hands where another process had it before. */
export function takeHost(lease: HostLease, asking: string, now: number, until: number): HostLease {
  const isItsOwn = lease.holder === asking
  if (isItsOwn && lease.leasedUntil > 0) return { ...lease, leasedUntil: until }
  const token = isItsOwn ? lease.token : lease.token + 1
  return { holder: asking, token, leasedUntil: until, takenAt: now, wantedAt: 0 }
}

/** Says that another process wants a host. The same lease where that was said a moment ago. */
export function wantHost(lease: HostLease, now: number): HostLease {
  return Math.abs(now - lease.wantedAt) < WISH_AGAIN_MS ? lease : { ...lease, wantedAt: now }
}

/** Gives a host back, once nothing of it is under way. */
export function giveHostBack(lease: HostLease): HostLease {
  return { ...lease, leasedUntil: 0 }
}

/** Takes a host from a process that is gone: whatever it does from now on is too late. */
export function freeHost({ token }: HostLease): HostLease {
  return { ...FREE_LEASE, token: token + 1 }
}

function isWanted({ wantedAt }: HostLease, now: number): boolean {
  return wantedAt > 0 && Math.abs(now - wantedAt) < WISH_MS
}
