import type { JSX } from 'preact'
import { KINDS } from '../../../src/core/model.ts'
import { CONTENT_TYPES } from '../../../src/core/retrieval/content-type.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { Options } from '../../shared/options.tsx'
import { writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'

/** The filters of a search besides source and version; the names are those of the API. */
const FILTERS: readonly {
  readonly name: string
  readonly label: string
  readonly choices?: readonly string[]
  /** The label of the empty choice. @default 'any' */
  readonly empty?: string
}[] = [
  { name: 'path', label: 'Path' },
  { name: 'kind', label: 'Kind', choices: KINDS },
  { name: 'heading', label: 'Heading' },
  { name: 'symbol', label: 'Symbol' },
  { name: 'language', label: 'Language', empty: 'auto' },
  { name: 'contentType', label: 'Content', choices: CONTENT_TYPES },
  { name: 'duplicates', label: 'Duplicates', choices: ['show'], empty: 'group' },
]

/** The names of all parameters of a search. */
export const SEARCH_PARAMETERS: readonly string[] = ['q', 'source', 'version', ...FILTERS.map(({ name }) => name)]

/** Further filters of a search. The address of the page keeps the selection; each one in use is a chip that removes it. */
export function SearchFilters(): JSX.Element {
  const { query } = route.value
  const used = FILTERS.filter(({ name }) => query.has(name))
  return (
    <>
      {used.length === 0 ? null : (
        <fieldset class="chips" aria-label="Filters in use">
          {used.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-label={`Remove the filter ${label} ${query.get(name)}`}
              onClick={() => replaceQuery({ [name]: '' })}
            >
              {label}: {query.get(name)} <span aria-hidden="true">✕</span>
            </button>
          ))}
        </fieldset>
      )}
      <details class="search-filters">
        <summary>More filters</summary>
        <div class="filters">
          {FILTERS.map(({ name, label, choices, empty = 'any' }) => (
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
                  <Options
                    of={withChosen(choices, query.get(name)).map((choice) => [
                      choice,
                      name === 'kind' ? nameOfKind(choice) : choice,
                    ])}
                  />
                </select>
              )}
            </label>
          ))}
          <a href={`#/duplicates${writeQuery({ source: query.get('source') })}`}>list duplicates</a>
        </div>
      </details>
    </>
  )
}

/** The selected value is listed even if it is none of the choices. */
function withChosen(choices: readonly string[], chosen: string | null): readonly string[] {
  return chosen === null || choices.includes(chosen) ? choices : [chosen, ...choices]
}
