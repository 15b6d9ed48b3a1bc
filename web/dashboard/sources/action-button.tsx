import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { readJobs } from '../live.ts'
import { type Refusal, send } from '../request.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'
import { readSources } from './source-list.ts'
import type { SourceAction } from './source-state.ts'

/** A button that starts or resumes a crawl of a source, and shows why the server refused it. */
export function ActionButton(props: {
  readonly id: string
  readonly action: SourceAction
  readonly class?: string
  readonly onDone?: () => void
}): JSX.Element {
  const { id, action, class: className = '', onDone } = props
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  useClearOnReconnect(refusal)
  const run = async () => {
    isBusy.value = true
    const ask = (verb: string, body?: unknown) => send(`/api/sources/${encodeURIComponent(id)}/${verb}`, body)
    const resumed = action.endsPauses === true ? await ask('resume') : undefined
    const answer = resumed !== undefined && 'refusal' in resumed ? resumed : await ask(action.verb, action.body)
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    await Promise.all([readJobs(), readSources()])
    onDone?.()
  }
  return (
    <>
      <button type="button" class={className} disabled={isBusy.value} title={action.title} onClick={() => void run()}>
        {action.label}
      </button>
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
    </>
  )
}
