import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { ConfirmDialog } from '../../shared/dialog.tsx'
import type { SourceItem } from '../api.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { request } from '../request.ts'
import { useAction } from '../use-action.ts'
import { ActionButton } from './action-button.tsx'
import { findRemedy, listActions } from './source-state.ts'

/** The source that the actions apply to. */
interface ActionsInput {
  readonly item: SourceItem
  /** Whether a crawl of the source runs or is queued; the server would reject a second one. */
  readonly isBusy: boolean
  /** Called after each action. */
  readonly onChange: () => void
  readonly onRemoved?: () => void
  /** Whether all actions are shown; in a list the less frequent ones are in a menu. */
  readonly isPage?: boolean
}

/** Buttons that crawl a source again or remove it. Actions that are not possible now are hidden. */
export function SourceActions({
  item,
  isBusy: isBeingCrawled,
  onChange,
  onRemoved,
  isPage = false,
}: ActionsInput): JSX.Element {
  const isConfirming = useSignal(false)
  const { isBusy, refusal, run } = useAction()
  const path = `/api/sources/${encodeURIComponent(item.id)}`
  const remove = async () => {
    const answer = await run(() => request(`${path}${isBeingCrawled ? '?force=1' : ''}`, { method: 'DELETE' }))
    if ('value' in answer) onRemoved?.()
    onChange()
  }
  const remedy = isBeingCrawled ? undefined : findRemedy(item)
  return (
    <div class="source-actions">
      {isBeingCrawled ? (
        <a class="button" href="#/" title="Show the progress">
          Watch
        </a>
      ) : null}
      {remedy === undefined ? null : (
        <ActionButton id={item.id} action={remedy} class={isPage ? 'primary' : ''} onDone={onChange} />
      )}
      <Menu isOpen={isPage} name={item.name}>
        {isBeingCrawled
          ? null
          : listActions(item).map((action) => (
              <ActionButton key={action.label} id={item.id} action={action} onDone={onChange} />
            ))}
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
      </Menu>
      <RefusalNote refusal={refusal.value} />
      <ConfirmDialog
        isOpen={isConfirming}
        title={`Remove ${item.name}?`}
        action="Remove it"
        typed={item.name}
        onConfirm={() => void remove()}
      >
        <p>
          {countOf(item.pages, 'page')} and {countOf(item.chunks, 'passage')} will be deleted, with everything known
          about its addresses. {isBeingCrawled ? 'Its crawl is stopped first. ' : ''}This cannot be undone.
        </p>
      </ConfirmDialog>
    </div>
  )
}

/** Shows its buttons side by side, or folded away behind one. */
function Menu(props: { readonly isOpen: boolean; readonly name: string; readonly children: ComponentChildren }) {
  const { isOpen, name, children } = props
  if (isOpen) return <>{children}</>
  return (
    <details class="menu">
      <summary class="button">
        More<span class="unseen"> about {name}</span>
      </summary>
      <div class="menu-items">{children}</div>
    </details>
  )
}
