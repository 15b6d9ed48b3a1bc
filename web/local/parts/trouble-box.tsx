import type { JSX } from 'preact'
import type { Told } from '../trouble.ts'

/** The error to show. */
export interface TroubleInput {
  readonly told: Told | null
  /** Omitted if the error disappears by itself. */
  readonly onClose?: () => void
}

/** An error message with advice. */
export function TroubleBox({ told, onClose }: TroubleInput): JSX.Element | null {
  if (told === null) return null
  return (
    <div class="panel trouble" role="alert">
      <p>
        <strong>{told.message}</strong>
      </p>
      <p>{told.advice}</p>
      {onClose === undefined ? null : (
        <button type="button" class="trouble-close" aria-label="Dismiss" title="Dismiss" onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      )}
    </div>
  )
}
