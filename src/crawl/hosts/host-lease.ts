/**
 * Which process may send requests to a host when several share a library. One process holds a host at a time; only the functions below
 * change that. The host clock, which all processes share, decides when a request may be sent.
 */
export interface HostLease {
  /** The process that holds the host, or held it last; null if no process has held it. */
  readonly holder: string | null
  /** Grows whenever the host changes hands. Slots taken under an older token are void. */
  readonly token: number
  /** End of the lease unless it is renewed; 0 once it was given back. */
  readonly leasedUntil: number
  /** When the holder took the host. */
  readonly takenAt: number
  /** When another process last asked for the host; 0 if none has since it was taken. */
  readonly wantedAt: number
}

/** Host of addresses without one: files need no lease, so all processes may read them at once. */
export const NO_HOST = ''

/** The lease of a host that no process has held. */
export const FREE_LEASE: HostLease = { holder: null, token: 0, leasedUntil: 0, takenAt: 0, wantedAt: 0 }

/** How long the holder keeps a host that other processes want. */
export const CONTESTED_LEASE_MS = 5000
/** The wish of a process for a held host expires after this time unless it is repeated. */
export const WANT_EXPIRY_MS = 3000
/** Minimum interval between repeated wishes. */
export const WANT_INTERVAL_MS = 1000
/** Maximum lease. A longer lease comes from a machine with a wrong time. */
export const MAX_LEASE_MS = 600_000

/**
 * Relation of a host to a process. `ours`: the process may continue. `free`: it may take the host. `others`: another process holds it.
 * `yielded`: others want it and the turn of this process is over, so it starts nothing new there and gives the host back when its requests
 * are done.
 */
export type HostOwnership = 'ours' | 'free' | 'others' | 'yielded'

/** Determines how a host relates to a process. */
export function judgeHostOwnership(lease: HostLease, processId: string, now: number): HostOwnership {
  if (lease.holder !== processId) return isHostHeld(lease, now) ? 'others' : 'free'
  const isGivenBack = lease.leasedUntil === 0
  // A process that gave a host back because others want it must leave it to them.
  if (isWanted(lease, now) && (isGivenBack || now - lease.takenAt >= CONTESTED_LEASE_MS)) return 'yielded'
  // An expired lease that no other process has taken still belongs to its holder.
  return isGivenBack ? 'free' : 'ours'
}

/** Whether a process holds the host at the time `now`. */
export function isHostHeld({ holder, leasedUntil }: HostLease, now: number): boolean {
  return holder !== null && leasedUntil > now && leasedUntil - now <= MAX_LEASE_MS
}

/** Takes a free host, or renews the lease of its holder. The token grows if another process held the host before. */
export function takeHost(lease: HostLease, processId: string, now: number, until: number): HostLease {
  const isHolder = lease.holder === processId
  if (isHolder && lease.leasedUntil > 0) return { ...lease, leasedUntil: until }
  const token = isHolder ? lease.token : lease.token + 1
  return { holder: processId, token, leasedUntil: until, takenAt: now, wantedAt: 0 }
}

/** Records that another process wants a host. Returns the same lease if that was recorded a moment ago. */
export function wantHost(lease: HostLease, now: number): HostLease {
  return Math.abs(now - lease.wantedAt) < WANT_INTERVAL_MS ? lease : { ...lease, wantedAt: now }
}

/** Gives a host back. Called once no request to the host is in progress. */
export function releaseHost(lease: HostLease): HostLease {
  return { ...lease, leasedUntil: 0 }
}

/** Takes a host from a dead process; the new token voids everything that process may still do. */
export function revokeHost({ token }: HostLease): HostLease {
  return { ...FREE_LEASE, token: token + 1 }
}

function isWanted({ wantedAt }: HostLease, now: number): boolean {
  return wantedAt > 0 && Math.abs(now - wantedAt) < WANT_EXPIRY_MS
}
