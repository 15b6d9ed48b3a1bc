import type { JSX } from 'preact'
import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { SkippedGroup } from '../work/operations.ts'

/** What each reason means to somebody who never heard of it. */
const REASONS: Readonly<Record<SkipReason, readonly [title: string, why: string]>> = {
  ignored: ['Ignored', 'A line of an ignore file, such as .gitignore, says so.'],
  'build-folder': ['Folders of tools', 'What tools fetch or make is not what you wrote.'],
  binary: ['Without text', 'Programs, archives, sounds and the like have no text to search.'],
  link: ['Links', 'They lead elsewhere, perhaps out of the folder.'],
  special: ['Neither file nor folder', 'There is nothing in them that could be read.'],
  pack: ['Packs', 'They were exported before; open them as a pack instead.'],
  unreadable: ['Not readable', 'The system does not let them be read. The index has a warning for each.'],
  name: ['Names that are no text', 'Nobody could ask for them. The index has a warning for each.'],
}

/** What is not read, by reason, with examples. */
export function PassedOver({ groups }: { readonly groups: readonly SkippedGroup[] }): JSX.Element | null {
  if (groups.length === 0) return null
  return (
    <section aria-labelledby="passed-title">
      <h2 id="passed-title">Passed over</h2>
      <div class="panel groups">
        {groups.map(({ reason, count, examples }) => (
          <details key={reason}>
            <summary>
              <strong>{REASONS[reason][0]}</strong> <span class="number">{writeNumber(count)}</span>
            </summary>
            <p class="quiet small">{REASONS[reason][1]}</p>
            <ul class="examples small">
              {examples.map(({ path, rule }) => (
                <li key={path}>
                  <span class="path">{path}</span>
                  {rule === null ? null : (
                    <span class="quiet">
                      by <code>{rule}</code>
                    </span>
                  )}
                </li>
              ))}
              {count > examples.length ? <li class="quiet">and {countOf(count - examples.length, 'other')}</li> : null}
            </ul>
          </details>
        ))}
      </div>
    </section>
  )
}
