import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'

/** What a list is narrowed down with. */
export interface MatchInput {
  readonly match: Signal<string>
  /** What one of its entries is called. */
  readonly noun: string
  /** How many there are with these letters; null while nobody knows. */
  readonly total: number | null
}

/** A field for letters that an entry must have, and how many have them. */
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
