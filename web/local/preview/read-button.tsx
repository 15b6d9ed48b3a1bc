import type { JSX } from 'preact'
import { countRefused } from '../../../src/core/folder/byte-budget.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { type PreparedFolder, readPreparedFolder } from '../page-state.ts'
import { indexHref } from '../route.ts'

/** Starts reading, and says how much there is to read. */
export function ReadButton({ prepared }: { readonly prepared: PreparedFolder }): JSX.Element | null {
  const { survey, update, limits } = prepared
  if (survey.files === 0) return null
  const { tooLarge, tooMuch } = countRefused(survey.sizes, limits)
  const readableCount = survey.files - tooLarge - tooMuch
  const counts = countChanges(prepared)
  const label =
    counts === null
      ? `Read ${countOf(readableCount, 'file')}`
      : counts.read > 0
        ? `Read ${countOf(counts.read, 'new or changed file')}`
        : counts.removed > 0
          ? `Remove ${countOf(counts.removed, 'file')}`
          : 'Read again anyway'
  const isUpToDate = update !== null && counts !== null && counts.read + counts.removed === 0
  return (
    <>
      {isUpToDate ? (
        <a class="button primary" href={indexHref(update.id)}>
          Open the index
        </a>
      ) : null}
      <button
        type="button"
        class={isUpToDate ? '' : 'primary'}
        disabled={readableCount === 0}
        onClick={() => void readPreparedFolder()}
      >
        {label}
      </button>
    </>
  )
}

/** Counts the files that an update reads and removes; null if all files are read. */
export function countChanges({
  survey,
  update,
  limits,
}: PreparedFolder): { readonly read: number; readonly removed: number } | null {
  const { changes } = survey
  if (changes === undefined || changes.isOtherBuild) return null
  // Other limits can change how any file is cut.
  if (JSON.stringify(update?.limits) !== JSON.stringify(limits)) return null
  return { read: changes.added.count + changes.changed.count, removed: changes.removed.count }
}
