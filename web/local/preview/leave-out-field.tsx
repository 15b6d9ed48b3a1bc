import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Prepared, revise } from '../desk.ts'

/** Typing is over when nothing was typed for so long. */
const PAUSE_MS = 300

/** Names files and folders that are not to be read, in the words of an ignore file. */
export function LeaveOutField({ prepared }: { readonly prepared: Prepared }): JSX.Element {
  const { survey, update } = prepared
  const typed = useSignal(survey.leaveOut)
  const timer = useRef(0)
  // From then on it is the reader who opens and closes it.
  const isOpen = useRef(survey.leaveOut !== '')
  useEffect(() => () => clearTimeout(timer.current), [])
  const take = () => {
    clearTimeout(timer.current)
    if (typed.value !== survey.leaveOut) void revise(typed.value, update)
  }
  return (
    <details open={isOpen.current}>
      <summary>Leave files out</summary>
      <label class="field leave-out" for="leave-out">
        One pattern a line, as in a .gitignore file. They hold for this index, also when it is updated.
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
            timer.current = setTimeout(take, PAUSE_MS)
          }}
          // Whoever goes on to read does not wait for the pause; what is asked first is done first.
          onBlur={take}
        />
      </label>
    </details>
  )
}
