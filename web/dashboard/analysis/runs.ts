import { type Signal, signal } from '@preact/signals'
import type { RunEvent, RunItem, RunList } from '../api.ts'
import { request } from '../request.ts'

/** Number of runs in the panel; the server-rendered page lists all of them. */
const MAX_SHOWN = 4

/** The latest analysis runs, newest first; null until the first response. */
export const runs: Signal<readonly RunItem[] | null> = signal(null)

/** Fetches the latest runs. */
export async function readRuns(): Promise<void> {
  const answer = await request<RunList>(`/api/analysis?limit=${MAX_SHOWN}`)
  if ('value' in answer) runs.value = answer.value.items
}

/** Applies an `analysis` event. A run that is new or has ended is fetched again in full. */
export function applyRunEvent({ runId, status, stage, lastProgress }: RunEvent): void {
  // The list stays null until the panel fetches it, so earlier events can be ignored.
  if (runs.value === null) return
  if (status !== 'running' || runs.value.every(({ id }) => id !== runId)) void readRuns()
  runs.value = runs.value.map((run) => (run.id === runId ? { ...run, status, stage, lastProgress } : run))
}
