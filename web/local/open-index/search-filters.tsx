import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Kind } from '../../../src/core/model.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { Options } from '../../shared/options.tsx'
import { replaceQuery } from '../route.ts'
import { FILTERS } from './query-results.ts'

const LABELS: Readonly<Record<(typeof FILTERS)[number], readonly [label: string, example: string]>> = {
  path: ['Path begins with', 'docs/'],
  kind: ['Kind', ''],
  heading: ['Heading begins with', 'Guide/Install'],
  symbol: ['Symbol begins with', 'Parser.'],
}

/** The current query, and the kinds in the index. */
export interface FiltersInput {
  readonly query: URLSearchParams
  readonly kinds: readonly Kind[]
}

/** The filters of a search. The address of the page keeps the selection. */
export function SearchFilters({ query, kinds }: FiltersInput): JSX.Element {
  const usedCount = FILTERS.filter((name) => query.has(name)).length
  // Used only as the initial state; after that the user opens and closes the details.
  const isOpen = useRef(usedCount > 0)
  return (
    <details class="search-filters" open={isOpen.current}>
      <summary>Filters{usedCount === 0 ? '' : ` (${usedCount})`}</summary>
      <div class="filters">
        {FILTERS.map((name) => (
          <label key={name} for={`filter-${name}`}>
            {LABELS[name][0]}
            {name === 'kind' ? (
              <select
                id="filter-kind"
                value={query.get(name) ?? ''}
                onInput={(event) => replaceQuery({ [name]: event.currentTarget.value })}
              >
                <option value="">any</option>
                <Options of={kinds.map((kind) => [kind, nameOfKind(kind)])} />
              </select>
            ) : (
              <input
                id={`filter-${name}`}
                value={query.get(name) ?? ''}
                placeholder={LABELS[name][1]}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => replaceQuery({ [name]: event.currentTarget.value })}
              />
            )}
          </label>
        ))}
        {usedCount === 0 ? null : (
          <button
            type="button"
            class="link"
            onClick={() => replaceQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
          >
            Clear the filters
          </button>
        )}
      </div>
    </details>
  )
}
