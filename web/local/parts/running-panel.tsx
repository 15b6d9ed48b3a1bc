import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { runningOperation } from '../page-state.ts'
import type { Progress } from '../work/operations.ts'
import { PageTitle } from './page-title.tsx'
import { ProgressBar } from './progress-bar.tsx'

/** The running operation, its progress, and a button that cancels it. */
export function RunningPanel(): JSX.Element | null {
  const { value } = runningOperation
  if (value === null) return null
  const { title, progress, stop } = value
  return (
    <section class="panel running" aria-labelledby="running-title" aria-busy="true">
      <PageTitle id="running-title">{title}</PageTitle>
      {/* The progress within a single file is unknown, so the bar is indeterminate. */}
      <ProgressBar
        label={title}
        done={progress?.done ?? 0}
        total={progress?.total === 1 ? undefined : progress?.total}
      />
      <p class="number" id="running-count">
        {writeCount(progress)}
      </p>
      <p class="cut quiet small" id="running-path">
        {progress?.path ?? '\u00a0'}
      </p>
      <p>
        <button type="button" onClick={stop}>
          Cancel
        </button>
      </p>
    </section>
  )
}

function writeCount(progress: Progress | null): string {
  if (progress === null) return 'Starting…'
  const { stage, done, total, chunks = 0 } = progress
  if (stage === 'taking') return `${writeNumber(done)} of ${countOf(total ?? done, 'file')} received`
  if (stage === 'looking') return `${countOf(done, 'file')} found`
  if (stage === 'reading')
    return `${writeNumber(done)} of ${countOf(total ?? done, 'file')}, ${countOf(chunks, 'chunk')}`
  if (stage === 'keeping') return 'Keeping it in this browser…'
  return 'Working…'
}
