import { type Signal, useSignal } from '@preact/signals'
import type { JSX, RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { ConfirmDialog, Modal } from '../../shared/dialog.tsx'
import type { StoredIndex } from '../keep/index-store.ts'
import { attempt, remove, rename, surveyFolder } from '../page-state.ts'
import { canChooseFolder, chooseFolder, FolderInput, toGivenFolder } from '../start/choose.tsx'

/** Buttons that update, rename or delete a kept index. */
export function IndexActions({ kept }: { readonly kept: StoredIndex }): JSX.Element {
  const isRenaming = useSignal(false)
  const isDeleting = useSignal(false)
  const folder = useRef<HTMLInputElement>(null)
  const { name } = kept
  return (
    <>
      {canChooseFolder() ? (
        <button
          type="button"
          aria-label={`Update ${name}`}
          title={kept.handle === null ? `Choose ${kept.root} again` : `Scan ${kept.root} again`}
          onClick={() => void update(kept, folder)}
        >
          Update
        </button>
      ) : null}
      <button type="button" aria-label={`Rename ${name}`} onClick={() => (isRenaming.value = true)}>
        Rename
      </button>
      <button type="button" class="danger" aria-label={`Delete ${name}`} onClick={() => (isDeleting.value = true)}>
        Delete
      </button>
      <FolderInput input={folder} update={kept} />
      <RenameDialog isOpen={isRenaming} kept={kept} />
      <ConfirmDialog
        isOpen={isDeleting}
        title={`Delete ${name}?`}
        action="Delete"
        back="Cancel"
        onConfirm={() => void remove(kept)}
      >
        <p>The index is removed from this browser for good. The folder that it was made from is not changed.</p>
      </ConfirmDialog>
    </>
  )
}

/** Updates from the stored folder handle if the browser grants permission; otherwise the user chooses the folder again. */
async function update(kept: StoredIndex, folder: RefObject<HTMLInputElement | null>): Promise<void> {
  const { handle } = kept
  if (handle === null || !(await mayRead(handle))) return chooseFolder(folder, kept)
  await attempt(() => surveyFolder(toGivenFolder(handle), kept))
}

async function mayRead(handle: FileSystemDirectoryHandle): Promise<boolean> {
  try {
    return ((await handle.requestPermission?.({ mode: 'read' })) ?? 'granted') === 'granted'
  } catch {
    // The browser cannot ask for permission now, or the folder is gone. The user can still choose the folder again.
    return false
  }
}

function RenameDialog({ isOpen, kept }: { readonly isOpen: Signal<boolean>; readonly kept: StoredIndex }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const close = () => {
    isOpen.value = false
  }
  return (
    <Modal
      isOpen={isOpen.value}
      title={`Rename ${kept.name}`}
      onClose={close}
      onSubmit={() => {
        const name = field.current?.value.trim() ?? ''
        if (name !== '' && name !== kept.name) void rename(kept.id, name)
      }}
    >
      <label class="field">
        <span>Name</span>
        <input ref={field} defaultValue={kept.name} maxLength={200} autocomplete="off" />
      </label>
      <div class="dialog-buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary">
          Rename
        </button>
      </div>
    </Modal>
  )
}
