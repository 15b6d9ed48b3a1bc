import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type PreparedFolder, repeatSurvey } from '../page-state.ts'

/** Debounce delay for typing. */
const DEBOUNCE_MS = 300

/** A field for exclusion patterns, in the syntax of ignore files. */
export function ExclusionsField({ prepared }: { readonly prepared: PreparedFolder }): JSX.Element {
  const { survey, update } = prepared
  const typed = useSignal(survey.leaveOut)
  const timer = useRef(0)
  // Used only as the initial state; after that the user opens and closes the details.
  const isOpen = useRef(survey.leaveOut !== '')
  useEffect(() => () => clearTimeout(timer.current), [])
  const applyTyped = () => {
    clearTimeout(timer.current)
    if (typed.value !== survey.leaveOut) void repeatSurvey(typed.value, update)
  }
  return (
    <details open={isOpen.current}>
      <summary>Leave files out</summary>
      <label class="field leave-out" for="leave-out">
        One pattern per line, as in a .gitignore file. The patterns also apply when the index is updated.
        <textarea
          id="leave-out"
          rows={4}
          spellcheck={false}
          autocomplete="off"
          placeholder={'.env\n*.pem\ndrafts/'}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
            clearTimeout(timer.current)
            timer.current = setTimeout(applyTyped, DEBOUNCE_MS)
          }}
          // Applies pending input at once when the field loses the focus. Requests run in order, so a read that starts then uses it.
          onBlur={applyTyped}
        />
      </label>
    </details>
  )
}
