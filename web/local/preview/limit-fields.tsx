import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { countRefused } from '../../../src/core/folder/byte-budget.ts'
import { DEFAULT_LIMITS } from '../../../src/core/limits.ts'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { preparedFolder as current, type PreparedFolder } from '../page-state.ts'

const MEGABYTE = 2 ** 20

/** The limits that can be changed here, with their labels and units. */
const FIELDS = [
  ['maxFileBytes', 'Largest file, in MB', MEGABYTE],
  ['maxTotalBytes', 'All files together, in MB', MEGABYTE],
  ['maxChunksPerFile', 'Chunk limit per file', 1],
] as const

/** Says how many files exceed the limits, and lets the user change them. */
export function LimitFields({ prepared }: { readonly prepared: PreparedFolder }): JSX.Element {
  const { survey, limits } = prepared
  const { tooLarge, tooMuch } = countRefused(survey.sizes, limits)
  const isNothingLeft = tooLarge + tooMuch === survey.files
  // The details stay open once they are open, so that they do not close while the user raises a limit.
  const isOpen = useRef(false)
  isOpen.current ||= isNothingLeft
  return (
    <>
      {tooLarge === 0 ? null : (
        <p class="exceeds" id="exceeds-file">
          {countOf(tooLarge, 'file')} of more than {writeBytes(limits.maxFileBytes)} will be left out, with a warning
          each.{isNothingLeft ? ' Nothing is left to read: raise the limit below.' : ''}
        </p>
      )}
      {tooMuch === 0 ? null : (
        <p class="exceeds" id="exceeds-total">
          All files together exceed {writeBytes(limits.maxTotalBytes)}: in the order of their paths, the last{' '}
          {countOf(tooMuch, 'file')} will be left out, with a warning each. Raise the limit to read them.
        </p>
      )}
      <details open={isOpen.current}>
        <summary>Limits</summary>
        <div class="filters">
          {FIELDS.map(([name, label, unit]) => (
            <LimitField key={name} name={name} label={label} unit={unit} prepared={prepared} />
          ))}
        </div>
        <p class="field-note">Larger limits take more memory and time.</p>
      </details>
    </>
  )
}

interface LimitInput {
  readonly name: (typeof FIELDS)[number][0]
  readonly label: string
  readonly unit: number
  readonly prepared: PreparedFolder
}

function LimitField({ name, label, unit, prepared }: LimitInput): JSX.Element {
  const problem = useSignal('')
  const id = `limit-${name}`
  return (
    <label for={id}>
      {label}
      <input
        id={id}
        inputMode="decimal"
        autocomplete="off"
        defaultValue={String(prepared.limits[name] / unit)}
        aria-invalid={problem.value !== ''}
        aria-describedby={`${id}-problem`}
        onInput={(event) => {
          const limit = Math.round(Number(event.currentTarget.value.trim().replace(',', '.')) * unit)
          const isValid = Number.isSafeInteger(limit) && limit > 0
          problem.value = isValid ? '' : `Enter a number above 0, such as ${DEFAULT_LIMITS[name] / unit}.`
          if (isValid) current.value = { ...prepared, limits: { ...prepared.limits, [name]: limit } }
        }}
      />
      <span class="field-problem" id={`${id}-problem`} role="status">
        {problem.value}
      </span>
    </label>
  )
}
