import type { JSX } from 'preact'
import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { SkippedGroup } from '../work/operations.ts'
import { Examples } from './examples.tsx'

/** Explains each reason to users who do not know the terms. */
const REASONS: Readonly<Record<SkipReason, readonly [title: string, why: string]>> = {
  ignored: ['Ignored', 'A line of an ignore file, such as .gitignore, says so, or one under “Leave files out”.'],
  'build-folder': ['Made by tools', 'What tools fetch or make, as in node_modules or .git, is not what you wrote.'],
  binary: [
    'PDF, office files, archives, media, programs',
    'By their endings they are no plain text, and this page reads nothing else. The program reads documents such as PDF.',
  ],
  link: ['Links', 'They lead elsewhere, perhaps out of the folder.'],
  special: ['Neither file nor folder', 'There is nothing in them that could be read.'],
  pack: ['Packs', 'They were exported before; open them as a pack instead.'],
  unreadable: ['Not readable', 'The system does not let them be read. The index has a warning for each.'],
  name: ['Names that are no text', 'Nobody could ask for them. The index has a warning for each.'],
}

/** The skipped files by reason, with examples. */
export function SkippedFiles({ groups }: { readonly groups: readonly SkippedGroup[] }): JSX.Element | null {
  if (groups.length === 0) return null
  return (
    <section aria-labelledby="passed-title">
      <h2 id="passed-title">Not read</h2>
      <div class="panel groups">
        {groups.map(({ reason, count, examples }) => (
          <details key={reason}>
            <summary>
              <strong>{REASONS[reason][0]}</strong> <span class="number">{writeNumber(count)}</span>
            </summary>
            <p class="quiet small">{REASONS[reason][1]}</p>
            <Examples count={count} examples={examples} />
          </details>
        ))}
      </div>
    </section>
  )
}
