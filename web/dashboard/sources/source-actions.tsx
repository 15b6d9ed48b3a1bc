import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { ConfirmDialog } from '../../shared/dialog.tsx'
import type { SourceItem } from '../api.ts'
import { readJobs } from '../live.ts'
import { type Refusal, request, send } from '../request.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'
import { isImported } from './source-state.ts'

/** The source that the actions apply to. */
interface ActionsInput {
  readonly item: SourceItem
  /** Whether a crawl of the source runs or is queued; the server would reject a second one. */
  readonly isBusy: boolean
  /** Called after each action. */
  readonly onChange: () => void
  readonly onRemoved?: () => void
}

/** Buttons that crawl a source again or remove it. Actions that are not possible now are hidden. */
export function SourceActions({ item, isBusy: isBeingCrawled, onChange, onRemoved }: ActionsInput): JSX.Element {
  const isConfirming = useSignal(false)
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  const path = `/api/sources/${encodeURIComponent(item.id)}`
  useClearOnReconnect(refusal)
  const crawl = async ({ verb, maxPages }: Action) => {
    isBusy.value = true
    const answer = await send(`${path}/${verb}`, maxPages === undefined ? undefined : { scope: { maxPages } })
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    await readJobs()
    onChange()
  }
  const remove = async () => {
    isBusy.value = true
    const answer = await request(`${path}${isBeingCrawled ? '?force=1' : ''}`, { method: 'DELETE' })
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    if ('value' in answer) onRemoved?.()
    onChange()
  }
  return (
    <div class="source-actions">
      {isBeingCrawled ? (
        <a class="button" href="#/" title="Show the progress">
          Watch
        </a>
      ) : (
        listActions(item).map((action) => (
          <button
            key={action.label}
            type="button"
            disabled={isBusy.value}
            onClick={() => void crawl(action)}
            title={action.title}
          >
            {action.label}
          </button>
        ))
      )}
      <button
        type="button"
        class="danger"
        disabled={isBusy.value}
        onClick={() => {
          isConfirming.value = true
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
        isOpen={isConfirming}
        title={`Remove ${item.name}?`}
        action="Remove it"
        typed={item.name}
        onConfirm={() => void remove()}
      >
        <p>
          {countOf(item.pages, 'page')} and {countOf(item.chunks, 'chunk')} will be deleted, with everything known about
          its addresses. {isBeingCrawled ? 'Its crawl is stopped first. ' : ''}This cannot be undone.
        </p>
      </ConfirmDialog>
    </div>
  )
}

/** A crawl that the user can start. */
interface Action {
  readonly verb: 'recrawl' | 'refresh' | 'retry'
  readonly label: string
  readonly title: string
  /** The page limit of this run. @default that of the source */
  readonly maxPages?: number
}

/** The actions that apply to a source, most useful first. */
function listActions(item: SourceItem): readonly Action[] {
  if (isImported(item)) return []
  const { isInterrupted, balance, partial } = item
  const { failed, indexed, unchanged } = balance
  const [maxPages] = (partial?.complete ?? []).flatMap(({ body }) => body.scope?.maxPages ?? [])
  const all: readonly (Action & { readonly isAvailable: boolean })[] = [
    ...(maxPages === undefined
      ? []
      : [
          {
            verb: 'recrawl',
            label: 'Read more',
            title: `Crawl it again, up to ${countOf(maxPages, 'page')}`,
            maxPages,
            isAvailable: true,
          } as const,
        ]),
    {
      verb: 'recrawl',
      label: 'Recrawl',
      title: isInterrupted ? 'Continue where it stopped' : 'Follow all links again',
      isAvailable: true,
    },
    { verb: 'refresh', label: 'Refresh', title: 'Request known pages only', isAvailable: indexed + unchanged > 0 },
    {
      verb: 'retry',
      label: 'Retry',
      title: `Retry the failed addresses (${failed})`,
      isAvailable: failed > 0,
    },
  ]
  return all.filter(({ isAvailable }) => isAvailable)
}
