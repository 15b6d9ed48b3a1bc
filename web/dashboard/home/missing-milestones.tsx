import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeNoteTitle } from '../../../src/core/note-title.ts'
import { Pill } from '../../shared/pill.tsx'
import type { MilestonesMet } from '../api.ts'
import { request, writeQuery } from '../request.ts'

/** The milestones that a site needs before its history can be crawled, with an explanation of each. */
const REQUIRED_MILESTONES = [
  ['full-understanding', 'a pattern leads to confirmed hubs of nearly all countries'],
  ['depth2-coverage', 'pages two links away from the start were read'],
  ['articles-identified-1k', 'a thousand pages were recognized as articles'],
] as const

/** The host to check, and the callback that starts the crawl anyway. */
interface MissingMilestonesInput {
  readonly host: string
  readonly onForce: () => void
}

/** Shows which milestones are missing before the history of a site can be crawled, and offers to crawl anyway. */
export function MissingMilestones({ host, onForce }: MissingMilestonesInput): JSX.Element {
  const met = useSignal<readonly string[]>([])
  useEffect(() => {
    const query = writeQuery({ host, kinds: REQUIRED_MILESTONES.map(([kind]) => kind).join(',') })
    void request<MilestonesMet>(`/api/milestones/met${query}`).then((answer) => {
      if ('value' in answer) met.value = answer.value.met
    })
  }, [host])
  return (
    <section class="unprepared" aria-label="Required milestones">
      <ul>
        {REQUIRED_MILESTONES.map(([kind, words]) => {
          const isMet = met.value.includes(kind)
          return (
            <li key={kind}>
              <Pill word={isMet ? 'reached' : 'not yet'} tone={isMet ? 'good' : 'warn'} /> <b>{writeNoteTitle(kind)}</b>
              <span class="quiet">: {words}</span>
            </li>
          )
        })}
      </ul>
      <p class="small">A crawl of type “intelligent” can reach them.</p>
      <button type="button" onClick={onForce}>
        Start anyway
      </button>
    </section>
  )
}
