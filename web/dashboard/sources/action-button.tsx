import type { JSX } from 'preact'
import { readJobs } from '../live.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { send } from '../request.ts'
import { useAction } from '../use-action.ts'
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
  const { isBusy, refusal, run } = useAction()
  const ask = (verb: string, body?: unknown) => send(`/api/sources/${encodeURIComponent(id)}/${verb}`, body)
  const start = async () => {
    await run(async () => {
      const resumed = action.endsPauses === true ? await ask('resume') : undefined
      return resumed !== undefined && 'refusal' in resumed ? resumed : ask(action.verb, action.body)
    })
    await Promise.all([readJobs(), readSources()])
    onDone?.()
  }
  return (
    <>
      <button type="button" class={className} disabled={isBusy.value} title={action.title} onClick={() => void start()}>
        {action.label}
      </button>
      <RefusalNote refusal={refusal.value} />
    </>
  )
}
