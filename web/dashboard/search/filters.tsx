import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { KINDS } from '../../../src/core/model.ts'
import { CONTENT_TYPES } from '../../../src/core/retrieval/content-type.ts'
import type { SourceList } from '../api.ts'
import { request, writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'

/** The filters of a search; the names are those of the API. */
export const FILTERS: readonly {
  readonly name: string
  readonly label: string
  readonly choices?: readonly string[]
  /** The label of the empty choice. @default 'any' */
  readonly empty?: string
}[] = [
  { name: 'source', label: 'Source' },
  { name: 'version', label: 'Version' },
  { name: 'path', label: 'Path' },
  { name: 'kind', label: 'Kind', choices: KINDS },
  { name: 'heading', label: 'Heading' },
  { name: 'symbol', label: 'Symbol' },
  { name: 'language', label: 'Language', empty: 'auto' },
  { name: 'contentType', label: 'Content', choices: CONTENT_TYPES },
  { name: 'duplicates', label: 'Duplicates', choices: ['show'], empty: 'group' },
]

/** The filters of a search. The address of the page keeps the selection. */
export function SearchFilters(): JSX.Element {
  const names = useSignal<readonly string[]>([])
  useEffect(() => {
    void request<SourceList>('/api/sources').then((answer) => {
      if ('value' in answer) names.value = answer.value.items.map(({ label }) => label)
    })
  }, [])
  const { query } = route.value
  const usedCount = FILTERS.filter(({ name }) => query.has(name)).length
  return (
    <details class="search-filters" open={usedCount > 0}>
      <summary>Filters{usedCount === 0 ? '' : ` (${usedCount})`}</summary>
      <div class="filters">
        {FILTERS.map(({ name, label, choices = name === 'source' ? names.value : undefined, empty = 'any' }) => (
          <label key={name} for={`filter-${name}`}>
            {label}
            {choices === undefined ? (
              <input
                id={`filter-${name}`}
                value={query.get(name) ?? ''}
                placeholder={empty}
                autocomplete="off"
                spellcheck={false}
                onChange={(event) => replaceQuery({ [name]: event.currentTarget.value.trim() })}
              />
            ) : (
              <select
                id={`filter-${name}`}
                value={query.get(name) ?? ''}
                onInput={(event) => replaceQuery({ [name]: event.currentTarget.value })}
              >
                <option value="">{empty}</option>
                {withChosen(choices, query.get(name)).map((choice) => (
                  <option key={choice} value={choice}>
                    {choice}
                  </option>
                ))}
              </select>
            )}
          </label>
        ))}
        <a href={`#/duplicates${writeQuery({ source: query.get('source') })}`}>list duplicates</a>
        {usedCount === 0 ? null : (
          <button
            type="button"
            class="link"
            onClick={() => replaceQuery(Object.fromEntries(FILTERS.map(({ name }) => [name, ''])))}
          >
            Clear
          </button>
        )}
      </div>
    </details>
  )
}

/** The selected value is listed even before the choices have loaded. */
function withChosen(choices: readonly string[], chosen: string | null): readonly string[] {
  return chosen === null || choices.includes(chosen) ? choices : [chosen, ...choices]
}
