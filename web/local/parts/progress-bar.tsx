import type { JSX } from 'preact'

/** How far something is. Without a total nobody knows, and the bar only says that it goes on. */
export interface ProgressInput {
  readonly label: string
  readonly done: number
  readonly total?: number | undefined
}

/** A bar that fills. */
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
      {/* Said at every tenth, not at every step. */}
      <p class="unseen" role="status">
        {share === undefined ? label : `${label}: ${share - (share % 10)} %`}
      </p>
    </>
  )
}
