import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

/** A modal dialog. */
export interface ModalInput {
  readonly isOpen: boolean
  readonly title: string
  readonly onClose: () => void
  readonly onSubmit: (event: Event) => void
  readonly children: ComponentChildren
}

/** A form in a modal dialog. Escape closes it. */
export function Modal({ isOpen, title, onClose, onSubmit, children }: ModalInput): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    if (!isOpen) dialog.current?.close()
    else if (dialog.current?.open === false) dialog.current.showModal()
  }, [isOpen])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <form method="dialog" noValidate onSubmit={onSubmit}>
        <h2 id={id}>{title}</h2>
        {children}
      </form>
    </dialog>
  )
}

/** The confirmation of an action that cannot be undone. */
export interface ConfirmInput {
  readonly isOpen: Signal<boolean>
  readonly title: string
  /** The label of the confirm button. */
  readonly action: string
  /** The label of the cancel button. @default 'Back' */
  readonly back?: string
  /** Text that the user must type to enable the confirm button. */
  readonly typed?: string
  readonly onConfirm: () => void
  readonly children: ComponentChildren
}

/** Asks for confirmation. */
export function ConfirmDialog(props: ConfirmInput): JSX.Element {
  const { isOpen, title, action, back = 'Back', typed, onConfirm, children } = props
  const text = useSignal('')
  useSignalEffect(() => {
    if (isOpen.value) text.value = ''
  })
  return (
    <Modal
      isOpen={isOpen.value}
      title={title}
      onClose={() => {
        isOpen.value = false
      }}
      onSubmit={() => {
        if (typed === undefined || text.value === typed) onConfirm()
      }}
    >
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
          {back}
        </button>
        <button type="submit" class="danger" disabled={typed !== undefined && text.value !== typed}>
          {action}
        </button>
      </div>
    </Modal>
  )
}
