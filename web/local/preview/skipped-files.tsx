import type { JSX } from 'preact'
import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { SkippedGroup } from '../work/operations.ts'
import { Examples } from './examples.tsx'

/** Title and explanation of each reason. */
const REASONS: Readonly<Record<SkipReason, readonly [title: string, why: string]>> = {
  ignored: ['Ignored', 'A pattern in an ignore file, such as .gitignore, or under “Leave files out” matches.'],
  'build-folder': [
    'Made by tools',
    'Tools download or create them, as in node_modules or .git; you did not write them.',
  ],
  binary: [
    'PDF, office files, archives, media, programs',
    'Their endings show that they are not plain text. The program reads documents such as PDF; this page does not.',
  ],
  link: ['Links', 'They may lead out of the folder.'],
  special: ['Neither file nor folder', 'They have no content that could be read.'],
  pack: ['Packs', 'They were exported before; open them as a pack instead.'],
  unreadable: ['Not readable', 'The system denies access to them. The index has a warning for each.'],
  name: ['Names that are not valid text', 'No path could refer to them. The index has a warning for each.'],
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
