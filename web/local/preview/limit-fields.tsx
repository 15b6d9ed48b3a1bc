import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { DEFAULT_LIMITS, type Limits } from '../../../src/core/limits.ts'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { prepared as current, type Prepared } from '../desk.ts'
import type { Survey } from '../work/operations.ts'

const MEGABYTE = 2 ** 20

type Name = 'maxFileBytes' | 'maxTotalBytes'

/** What exceeds the limits, and the limits themselves. */
export function LimitFields({ prepared }: { readonly prepared: Prepared }): JSX.Element {
  const { survey, limits } = prepared
  const { count, isAtLeast } = countOversized(survey, limits)
  const isTooMuch = survey.bytes > limits.maxTotalBytes
  return (
    <>
      {count === 0 ? null : (
        <p class="exceeds" id="exceeds-file">
          {isAtLeast ? 'At least ' : ''}
          {countOf(count, 'file')} of more than {writeBytes(limits.maxFileBytes)} will be left out, with a warning each.
        </p>
      )}
      {isTooMuch ? (
        <p class="exceeds" id="exceeds-total">
          Together they are more than {writeBytes(limits.maxTotalBytes)}: in the order of their paths, what comes beyond
          that will be left out, with a warning each.
        </p>
      ) : null}
      <details>
        <summary>Limits</summary>
        <div class="filters">
          <LimitField name="maxFileBytes" label="Largest file, in MB" prepared={prepared} />
          <LimitField name="maxTotalBytes" label="All files together, in MB" prepared={prepared} />
        </div>
        <p class="field-note">Larger limits take more memory and time.</p>
      </details>
    </>
  )
}

function LimitField(props: { readonly name: Name; readonly label: string; readonly prepared: Prepared }): JSX.Element {
  const { name, label, prepared } = props
  const problem = useSignal('')
  const id = `limit-${name}`
  return (
    <label for={id}>
      {label}
      <input
        id={id}
        inputMode="decimal"
        autocomplete="off"
        defaultValue={String(prepared.limits[name] / MEGABYTE)}
        aria-invalid={problem.value !== ''}
        aria-describedby={`${id}-problem`}
        onInput={(event) => {
          const bytes = Math.round(Number(event.currentTarget.value.trim().replace(',', '.')) * MEGABYTE)
          const isGood = Number.isSafeInteger(bytes) && bytes > 0
          problem.value = isGood ? '' : `Write a number above 0, such as ${DEFAULT_LIMITS[name] / MEGABYTE}.`
          if (isGood) current.value = { ...prepared, limits: { ...prepared.limits, [name]: bytes } }
        }}
      />
      <span class="field-problem" id={`${id}-problem`} role="status">
        {problem.value}
      </span>
    </label>
  )
}

/** How many files are too large: of those that are known by size, which are the largest. */
export function countOversized(
  { largest, files }: Survey,
  { maxFileBytes }: Limits,
): { readonly count: number; readonly isAtLeast: boolean } {
  const count = largest.filter(({ bytes }) => bytes > maxFileBytes).length
  return { count, isAtLeast: count === largest.length && files > count }
}
