import type { FetchOutcome, FetchRequest } from '../ports.ts'

/** Permission to send a request to a host in a slot. */
export interface SendPermit {
  readonly host: string
  readonly slot: number
  /** Extra delay allowed beyond the usual one. */
  readonly extraDelayMs: number
  /** Lease of the visit, if the permission is for a visit. */
  readonly lease: string | undefined
  /** When the permission was given. */
  readonly givenAt: number
  /** Time of the last request to the host before the permission was given. */
  readonly previousRequestAt: number
}

/** Result of waiting for a host. `later`: not in this slot. `parked`: not in this crawl. */
export type Turn = SendPermit | 'later' | 'parked'

/** Sends requests with a permission of the pacer. */
export interface PacedFetcher {
  fetch(request: FetchRequest, permit: SendPermit): Promise<FetchOutcome>
}

/** A request that was sent in a slot, or not at all (`isUnsent`). */
export interface SentRequest {
  readonly outcome: FetchOutcome
  readonly sentAt: number
}

/** Outcome for a host that gets no more requests. */
export const HOST_PARKED_OUTCOME: FetchOutcome = {
  type: 'failed',
  status: null,
  reason: 'host-parked',
  detail: 'its host gets no more requests for now',
  isTransient: false,
  retryAfterMs: null,
}

/** Outcome of a request that must be repeated later from the beginning. */
export const POSTPONED_OUTCOME: FetchOutcome = { ...HOST_PARKED_OUTCOME, isTransient: true }

/** Whether no request was sent. */
export function isUnsent(outcome: FetchOutcome): boolean {
  return outcome === HOST_PARKED_OUTCOME || outcome === POSTPONED_OUTCOME
}
