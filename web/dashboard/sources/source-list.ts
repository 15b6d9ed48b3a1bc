import { type Signal, signal } from '@preact/signals'
import type { SourceItem, SourceList } from '../api.ts'
import { type Refusal, request } from '../request.ts'

/** All sources, as last fetched; null until the first response. */
export const sources: Signal<readonly SourceItem[] | null> = signal(null)

/** Why the last request for the sources failed. */
export const sourcesRefusal: Signal<Refusal | null> = signal(null)

/** Fetches all sources. */
export async function readSources(): Promise<void> {
  const answer = await request<SourceList>('/api/sources')
  if ('value' in answer) sources.value = answer.value.items
  sourcesRefusal.value = 'refusal' in answer ? answer.refusal : null
}
