import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { labelOfCode, STATE_LABELS } from '../../../src/core/address-labels.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { Options } from '../../shared/options.tsx'
import { replaceQuery } from '../route.ts'
import { STATES } from './coverage.ts'

/** Debounce delay for typing. */
const DEBOUNCE_MS = 250

/** The selected filters, and the reasons to choose from. */
interface FiltersInput {
  readonly reasons: Readonly<Record<string, number>>
  readonly state: string
  readonly reason: string
  readonly text: string
  /** The number of links that lead out of the scope, and whether they are listed. */
  readonly outsideCount: number
  readonly hasOutside: boolean
}

/** Filters the addresses. The address of the page keeps the selection. */
export function UrlFilters({ reasons, state, reason, text, outsideCount, hasOutside }: FiltersInput): JSX.Element {
  const typed = useSignal(text)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const matching = Object.keys(reasons).flatMap((name) => {
    const [ofState, ofReason] = name.split('/', 2)
    return ofReason !== undefined && (state === '' || ofState === state) ? [ofReason] : []
  })
  const choices = [...new Set(matching)].sort((a, b) => a.localeCompare(b))
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        State
        <select value={state} onInput={(event) => replaceQuery({ state: event.currentTarget.value, reason: '' })}>
          <option value="">any</option>
          <Options of={STATES.map((name) => [name, STATE_LABELS[name]])} />
        </select>
      </label>
      <label>
        Reason
        <select value={reason} onInput={(event) => replaceQuery({ reason: event.currentTarget.value })}>
          <option value="">any</option>
          <Options of={choices.map((name) => [name, labelOfCode(name)])} />
        </select>
      </label>
      <label class="grow">
        Part of the address
        <input
          type="search"
          value={typed.value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            typed.value = event.currentTarget.value
            clearTimeout(timer.current)
            timer.current = setTimeout(() => replaceQuery({ text: typed.value.trim() }), DEBOUNCE_MS)
          }}
        />
      </label>
      {outsideCount === 0 ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={hasOutside}
            onInput={(event) => replaceQuery({ outside: event.currentTarget.checked ? '1' : '' })}
          />
          {countOf(outsideCount, 'link')} out of the scope
        </label>
      )}
    </form>
  )
}
