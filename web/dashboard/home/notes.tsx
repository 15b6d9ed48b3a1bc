import type { JSX } from 'preact'
import { findNoteUrl, withoutCodes, writeNoteTitle } from '../../../src/core/note-title.ts'
import { capitalize } from '../../../src/core/text/capitalize.ts'
import { writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import { now } from '../clock.ts'
import { ExternalLink } from '../external-link.tsx'
import type { LiveJob, Note } from '../live.ts'
import { writeQuery } from '../request.ts'

/** Number of problems shown; there can be hundreds. */
const MAX_SHOWN = 6

/** The milestones of a job, and its problems. */
export function Notes({ job }: { readonly job: LiveJob }): JSX.Element | null {
  const [milestones, problems] = [job.milestones.value, job.problems.value]
  if (milestones.length + problems.length === 0) return null
  const query = writeQuery({ job: job.id })
  return (
    <div class="job-body">
      {milestones.length === 0 ? null : (
        <div class="notes">
          <h4>
            Milestones <a href={`/milestones/ssr${query}`}>{writeNumber(milestones.length)}</a>
          </h4>
          <ul>
            {milestones.map((note) => (
              <NoteLine key={`${note.kind} ${note.target}`} note={note} />
            ))}
          </ul>
        </div>
      )}
      {problems.length === 0 ? null : (
        <div class="notes">
          <h4>
            Problems <a href={`/problems/ssr${query}`}>{writeKinds(problems)}</a>
          </h4>
          <ul>
            {problems.slice(0, MAX_SHOWN).map((note) => (
              <NoteLine key={`${note.kind} ${note.target}`} note={note} />
            ))}
            {problems.length > MAX_SHOWN ? (
              <li class="quiet">and {writeNumber(problems.length - MAX_SHOWN)} more</li>
            ) : null}
          </ul>
        </div>
      )}
    </div>
  )
}

function NoteLine({ note: { type, at, kind, severity, message, target } }: { readonly note: Note }): JSX.Element {
  const isWarning = severity === 'warn'
  return (
    <li>
      <Pill word={writeNoteTitle(kind)} tone={type === 'milestone' ? 'good' : isWarning ? 'warn' : 'info'} />
      <span class="note-text">
        {type === 'problem' ? <span class="unseen">{isWarning ? 'Warning: ' : 'For information: '}</span> : null}
        {type === 'problem' ? <NoteText message={withoutCodes(message)} target={target} /> : message}
      </span>
      <span class="quiet number" title={writeMoment(at)}>
        {writeAgo(at, now.value)}
      </span>
    </li>
  )
}

/**
 * Turns the target of a problem into a link: in place if the message contains it, otherwise after the message. An address of the message
 * that begins with the target is linked as a whole.
 */
function NoteText({ message, target }: { readonly message: string; readonly target: string }): JSX.Element {
  if (target === '') return <>{message}</>
  const { at, url } = findNoteUrl(message, target)
  const [before, after] =
    at === -1 ? [message === '' ? '' : `${message} · `, ''] : [message.slice(0, at), message.slice(at + url.length)]
  return (
    <>
      {before}
      <ExternalLink url={url} />
      {after}
    </>
  )
}

/** `Missing hub 12, unknown pattern 3`; a single kind is only counted, because the list names it. */
function writeKinds(problems: readonly Note[]): string {
  const kinds = [...new Set(problems.map(({ kind }) => kind))]
  if (kinds.length === 1) return writeNumber(problems.length)
  const words = kinds.map(
    (kind) => `${writeNoteTitle(kind).toLowerCase()} ${problems.filter((problem) => problem.kind === kind).length}`,
  )
  return capitalize(words.join(', '))
}
