import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { Changes } from '../work/operations.ts'
import { Examples } from './examples.tsx'

/** Lists the changes since an index was made. `readsAll` says whether unchanged files are read again too. */
export function ChangeList(props: { readonly changes: Changes; readonly readsAll: boolean }): JSX.Element {
  const { changes, readsAll } = props
  const { added, changed, removed, same } = changes
  const groups = [
    ['new', added],
    ['changed', changed],
    ['removed', removed],
  ] as const
  const isSame = groups.every(([, { count }]) => count === 0)
  return (
    <>
      <p id="changes">
        {groups.map(([word, { count }]) => (
          <span key={word}>
            <strong class="number">{writeNumber(count)}</strong> {word},{' '}
          </span>
        ))}
        <strong class="number">{writeNumber(same)}</strong> unchanged
        {readsAll
          ? '. All files are read again, because the index was made with other limits, or not by this version of the page.'
          : isSame
            ? ': the index is up to date.'
            : '. Only new and changed files are read.'}
      </p>
      {groups.map(([word, { count, examples }]) =>
        count === 0 ? null : (
          <details key={word}>
            <summary>
              {word.charAt(0).toUpperCase() + word.slice(1)} <span class="number">{writeNumber(count)}</span>
            </summary>
            <Examples count={count} examples={examples.map((path) => ({ path, rule: null }))} />
          </details>
        ),
      )}
    </>
  )
}
