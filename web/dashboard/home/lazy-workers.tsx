import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import type { WorkerList } from '../api.ts'
import { libraryOutage } from '../library-outage.ts'
import { connection } from '../live.ts'
import { request } from '../request.ts'

/** Loads the workers panel only where workers can exist: most libraries are local files without a queue. */
export function LazyWorkers(): JSX.Element | null {
  const loaded = useSignal<{ readonly Panel: () => JSX.Element | null } | null>(null)
  useSignalEffect(() => {
    const isUnavailable = connection.value === 'lost' || libraryOutage.value !== null
    if (isUnavailable || loaded.peek() !== null) return
    void request<WorkerList>('/api/workers').then(async (answer) => {
      if (!('value' in answer) || !answer.value.isShared) return
      const { WorkersPanel: Panel } = await import('./workers-panel.tsx')
      loaded.value = { Panel }
    })
  })
  return loaded.value === null ? null : <loaded.value.Panel />
}
