import type { JSX } from 'preact'
import type { Refusal } from './request.ts'

/** Says why the server refused a request; nothing without a refusal. */
export function RefusalNote(props: {
  readonly refusal: Refusal | null
  /** Whether the id of a server error is shown, to look it up in the log. */
  readonly showsId?: boolean
}): JSX.Element | null {
  const { refusal, showsId = false } = props
  if (refusal === null) return null
  const { message, status, id } = refusal
  // A rejected request (below 500) has no log entry to look up.
  return (
    <p class="field-problem" role="alert">
      {message}
      {showsId && status >= 500 && id !== null ? <span class="quiet"> (error {id})</span> : null}
    </p>
  )
}
