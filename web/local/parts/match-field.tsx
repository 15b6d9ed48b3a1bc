import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'

/** The filter of a list. */
export interface MatchInput {
  readonly match: Signal<string>
  /** The noun for one entry. */
  readonly noun: string
  /** The number of matching entries; null while loading. */
  readonly total: number | null
}

/** A text field that filters a list, with the number of matches. */
export function MatchField({ match, noun, total }: MatchInput): JSX.Element {
  return (
    <div class="match">
      <input
        type="search"
        id="match"
        aria-label={`Only ${noun}s with`}
        placeholder={`Only ${noun}s with…`}
        autocomplete="off"
        spellcheck={false}
        value={match.value}
        onInput={(event) => {
          match.value = event.currentTarget.value
        }}
      />
      <span class="quiet small" role="status" id="match-count">
        {total === null ? '' : countOf(total, noun)}
      </span>
    </div>
  )
}
