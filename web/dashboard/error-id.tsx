import type { JSX } from 'preact'
import type { Refusal } from './request.ts'

/** By what the log of the server knows a failure. Whoever was only refused needs no log. */
export function ErrorId({ refusal: { status, id } }: { readonly refusal: Refusal }): JSX.Element | null {
  return status < 500 || id === null ? null : <span class="quiet"> (error {id})</span>
}
