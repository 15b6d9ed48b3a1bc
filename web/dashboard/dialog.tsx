import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'

/** What is asked before something that cannot be taken back. */
export interface ConfirmInput {
  readonly isOpen: Signal<boolean>
  readonly title: string
  /** What the button says. */
  readonly action: string
  /** Has to be typed before the button works. */
  readonly typed?: string
  readonly onConfirm: () => void
  readonly children: ComponentChildren
}

/** Asks first. */
export function ConfirmDialog({ isOpen, title, action, typed, onConfirm, children }: ConfirmInput): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const text = useSignal('')
  const id = useId()
  useSignalEffect(() => {
    if (isOpen.value) {
      text.value = ''
      if (dialog.current?.open === false) dialog.current.showModal()
    } else dialog.current?.close()
  })
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={() => {
        isOpen.value = false
      }}
    >
      <form
        method="dialog"
        onSubmit={() => {
          if (typed === undefined || text.value === typed) onConfirm()
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        {typed === undefined ? null : (
          <label class="field">
            <span>
              Type <b>{typed}</b> to confirm
            </span>
            <input
              value={text.value}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          </label>
        )}
        <div class="dialog-buttons">
          <button
            type="button"
            onClick={() => {
              isOpen.value = false
            }}
          >
            Back
          </button>
          <button type="submit" class="danger" disabled={typed !== undefined && text.value !== typed}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
