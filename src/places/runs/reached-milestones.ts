import type { NoteFrame } from '../../library/jobs/events/frames.ts'
import { ANALYSIS_JOB_ID } from '../../library/ports/job-log.ts'
import type { HostAchievements } from '../ports/analyses.ts'

const KINDS: readonly {
  readonly kind: string
  readonly counted: Exclude<keyof HostAchievements, 'host'>
  readonly minimum: number
  readonly words: string
}[] = [
  { kind: 'downloads-1k', counted: 'downloads', minimum: 1000, words: 'addresses returned a page or a redirect' },
  { kind: 'depth2-coverage', counted: 'depth2', minimum: 10, words: 'pages two links away from the start are stored' },
  { kind: 'articles-identified-1k', counted: 'articles', minimum: 1000, words: 'pages are articles' },
  { kind: 'articles-identified-10k', counted: 'articles', minimum: 10_000, words: 'pages are articles' },
]

/** Lists the milestones that hosts have reached. */
export function listReached(hosts: readonly HostAchievements[], runId: string): NoteFrame[] {
  return hosts.flatMap((host) =>
    KINDS.filter(({ counted, minimum }) => host[counted] >= minimum).map(({ kind, counted, words }) => ({
      kind,
      scope: host.host,
      target: null,
      message: `${host[counted]} ${words}`,
      details: { source: ANALYSIS_JOB_ID, runId, [counted]: host[counted] },
    })),
  )
}
