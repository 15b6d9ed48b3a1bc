import type { JSX } from 'preact'
import type { Refusal } from './request.ts'

/** The id of a server error, to look it up in the log. A rejected request (below 500) has no log entry to look up. */
export function ErrorId({ refusal: { status, id } }: { readonly refusal: Refusal }): JSX.Element | null {
  return status < 500 || id === null ? null : <span class="quiet"> (error {id})</span>
}
