import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import type { SkippedGroup } from '../work/operations.ts'

/** Some example files, each with the ignore rule that excluded it, if any. */
export function Examples({ count, examples }: Pick<SkippedGroup, 'count' | 'examples'>): JSX.Element {
  return (
    <ul class="examples small">
      {examples.map(({ path, rule }) => (
        <li key={path}>
          <span class="path">{path}</span>
          {rule === null ? null : (
            <span class="quiet">
              rule: <code>{rule}</code>
            </span>
          )}
        </li>
      ))}
      {count > examples.length ? <li class="quiet">and {countOf(count - examples.length, 'other')}</li> : null}
    </ul>
  )
}
