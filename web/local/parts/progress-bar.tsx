import type { JSX } from 'preact'

/** The progress of an operation. Without a total the bar is indeterminate. */
export interface ProgressInput {
  readonly label: string
  readonly done: number
  readonly total?: number | undefined
}

/** A progress bar. */
export function ProgressBar({ label, done, total }: ProgressInput): JSX.Element {
  const share = total === undefined || total === 0 ? undefined : Math.min(100, Math.floor((100 * done) / total))
  return (
    <>
      <div
        class={share === undefined ? 'progress endless' : 'progress'}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share}
      >
        <span style={share === undefined ? undefined : { width: `${share}%` }} />
      </div>
      {/* Announced to screen readers in steps of ten percent. */}
      <p class="unseen" role="status">
        {share === undefined ? label : `${label}: ${share - (share % 10)} %`}
      </p>
    </>
  )
}
