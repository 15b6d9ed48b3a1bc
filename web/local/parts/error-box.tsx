import type { JSX } from 'preact'
import type { ErrorMessage } from '../user-error.ts'

/** The error to show. */
export interface ErrorBoxInput {
  readonly error: ErrorMessage | null
  /** Omitted if the error disappears by itself. */
  readonly onClose?: () => void
}

/** An error message with advice. */
export function ErrorBox({ error, onClose }: ErrorBoxInput): JSX.Element | null {
  if (error === null) return null
  return (
    <div class="panel trouble" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      <p>{error.advice}</p>
      {onClose === undefined ? null : (
        <button type="button" class="trouble-close" aria-label="Dismiss" title="Dismiss" onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      )}
    </div>
  )
}
