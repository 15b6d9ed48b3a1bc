import { type Signal, signal } from '@preact/signals'
import type { RunEvent, RunItem, RunList } from '../api.ts'
import { request } from '../request.ts'

/** So many are shown; the page of the server has all of them. */
const SHOWN = 4

/** The last analysis runs, newest first; null while nothing is known. */
export const runs: Signal<readonly RunItem[] | null> = signal(null)

/** Asks for the last runs. */
export async function readRuns(): Promise<void> {
  const answer = await request<RunList>(`/api/analysis?limit=${SHOWN}`)
  if ('value' in answer) runs.value = answer.value.items
}

/** Takes what was told of a run. One that is not known yet, or is over, is read as a whole. */
export function takeRunEvent({ runId, status, stage, lastProgress }: RunEvent): void {
  // Whoever shows runs has asked for them; before, nobody needs to know.
  if (runs.value === null) return
  if (status !== 'running' || runs.value.every(({ id }) => id !== runId)) void readRuns()
  runs.value = runs.value.map((run) => (run.id === runId ? { ...run, status, stage, lastProgress } : run))
}
