import type { JSX } from 'preact'
import { writeList } from '../../../src/core/text/list.ts'
import type { SearchPage } from '../api.ts'
import { replaceQuery, route } from '../route.ts'

/** Says how well the answer fits the question and, unless it fits well, what to do. */
export function RelevanceNote({ page }: { readonly page: SearchPage }): JSX.Element | null {
  const { relevance, uncovered, elsewhere } = page
  if (relevance === 'strong') return null
  const isNone = relevance === 'none'
  const words = writeList(
    uncovered.map((word) => `“${word}”`),
    'or',
  )
  const why =
    uncovered.length > 0
      ? `None of the best matches mentions ${words}.`
      : isNone
        ? 'Nothing found is close to the question.'
        : 'Found by its meaning, without any word of the question.'
  const hasFilters = [...route.value.query.keys()].some((name) => name !== 'q')
  return (
    <div class={`panel relevance ${relevance}`} role="status">
      <p>
        <b>{isNone ? 'No good match.' : 'Weak match.'}</b> {why}
      </p>
      <p class="small">
        {elsewhere.length === 0 ? null : (
          <>
            Search in{' '}
            {elsewhere.map((name) => (
              <button key={name} type="button" class="chip" onClick={() => replaceQuery({ source: name, version: '' })}>
                {name}
              </button>
            ))}{' '}
            or{' '}
          </>
        )}
        {elsewhere.length === 0 ? 'Try other words' : 'try other words'}
        {hasFilters ? (
          <>
            ,{' '}
            <button type="button" class="link" onClick={clearFilters}>
              search without filters
            </button>
          </>
        ) : null}{' '}
        or <a href="#/sources?add=1">add a source</a> that has the answer.
      </p>
    </div>
  )
}

function clearFilters(): void {
  const names = [...route.value.query.keys()].filter((name) => name !== 'q')
  replaceQuery(Object.fromEntries(names.map((name) => [name, ''])))
}
