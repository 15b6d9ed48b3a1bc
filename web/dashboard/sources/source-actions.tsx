import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { SourceItem } from '../api.ts'
import { ConfirmDialog } from '../dialog.tsx'
import { countOf } from '../format.ts'
import { readJobs } from '../live.ts'
import { type Refusal, request, send } from '../request.ts'

/** What can be done to a source. */
interface ActionsInput {
  readonly item: SourceItem
  /** Called when something was done. */
  readonly onChange: () => void
  readonly onRemoved?: () => void
}

/** Buttons that crawl a source again, or remove it. */
export function SourceActions({ item, onChange, onRemoved }: ActionsInput): JSX.Element {
  const isAsked = useSignal(false)
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  const path = `/api/sources/${encodeURIComponent(item.id)}`
  const crawl = async (verb: 'recrawl' | 'refresh') => {
    isBusy.value = true
    const answer = await send(`${path}/${verb}`)
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    await readJobs()
    onChange()
  }
  const remove = async () => {
    isBusy.value = true
    const answer = await request(path, { method: 'DELETE' })
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    if ('value' in answer) onRemoved?.()
    onChange()
  }
  return (
    <div class="source-actions">
      <button
        type="button"
        disabled={isBusy.value}
        onClick={() => void crawl('recrawl')}
        title="Follow all links again"
      >
        Recrawl
      </button>
      <button
        type="button"
        disabled={isBusy.value}
        onClick={() => void crawl('refresh')}
        title="Ask only the pages that are known"
      >
        Refresh
      </button>
      <button
        type="button"
        class="danger"
        disabled={isBusy.value}
        onClick={() => {
          isAsked.value = true
        }}
      >
        Remove
      </button>
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
      <ConfirmDialog
        isOpen={isAsked}
        title={`Remove ${item.name}?`}
        action="Remove it"
        typed={item.name}
        onConfirm={() => void remove()}
      >
        <p>
          {countOf(item.pages, 'page')} and {countOf(item.chunks, 'chunk')} will be gone, with everything that is known
          of its addresses. This cannot be undone.
        </p>
      </ConfirmDialog>
    </div>
  )
}
