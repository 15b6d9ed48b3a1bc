import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { indexHref } from '../route.ts'
import type { OpenedIndex } from '../work/operations.ts'

/** Number of files named in the note. */
const MAX_NAMED = 3

/** Names files that may contain secrets, with a link to all warnings about them. */
export function SecretsNote({ index }: { readonly index: OpenedIndex }): JSX.Element {
  const { id } = index.stored
  const { count, examples } = index.summary.secrets
  const named = examples.slice(0, MAX_NAMED)
  return (
    <>
      {named.map((path, i) => (
        <span key={path}>
          {i === 0 ? '' : ', '}
          <a class="path" href={indexHref(id, 'files', { path })}>
            {path}
          </a>
        </span>
      ))}
      {count > named.length ? (
        <>
          {' and '}
          <a href={indexHref(id, 'warnings')}>{countOf(count - named.length, 'other')}</a>
        </>
      ) : null}
    </>
  )
}
