import type { JSX } from 'preact'
import type { Told } from '../trouble.ts'

/** What a trouble is shown with. */
export interface TroubleInput {
  readonly told: Told | null
  /** Left out where it goes away by itself. */
  readonly onClose?: () => void
}

/** What went wrong, and what to do about it. */
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
