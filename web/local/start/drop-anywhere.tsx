import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Modal } from '../../shared/dialog.tsx'
import { folderOfDrop } from '../folder/input-folder.ts'
import { attempt, importFile, runningOperation, surveyFolder } from '../page-state.ts'
import { route } from '../route.ts'
import { UserError } from '../user-error.ts'
import { folderOfFiles } from './choose.tsx'

/** Accepts drops anywhere on the page. */
export function DropAnywhere(): JSX.Element {
  const isOver = useSignal(false)
  const pack = useSignal<File | null>(null)
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      // Without this the browser would navigate to the dropped file.
      event.preventDefault()
      isOver.value = true
    }
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) isOver.value = false
    }
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      isOver.value = false
      if (runningOperation.value !== null) return
      const file = packOf(event.dataTransfer)
      if (file !== undefined) pack.value = file
      else void takeDrop(event.dataTransfer)
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [])
  const close = () => {
    pack.value = null
  }
  // Navigation closes the dialog, because its question belongs to the previous page.
  useEffect(close, [route.value])
  return (
    <>
      {isOver.value ? (
        <div class="drop-over" aria-hidden="true">
          <p>{runningOperation.value === null ? 'Drop it here' : 'Wait until this is done, or cancel it'}</p>
        </div>
      ) : null}
      <Modal
        isOpen={pack.value !== null}
        title={`Open ${pack.value?.name ?? ''}?`}
        onClose={close}
        onSubmit={() => {
          if (pack.value !== null) void importFile(pack.value)
        }}
      >
        <p>It looks like an index that was exported before. Open it to search and export it again.</p>
        <div class="dialog-buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button
            type="button"
            onClick={() => {
              const given = pack.value === null ? undefined : folderOfFiles([pack.value])
              close()
              if (given !== undefined) void surveyFolder(given)
            }}
          >
            Read it as a file
          </button>
          <button type="submit" class="primary">
            Open it
          </button>
        </div>
      </Modal>
    </>
  )
}

/** Returns a single dropped file that is probably a pack: an archive, which cannot be read as a file, or an `index.json`. */
function packOf(data: DataTransfer): File | undefined {
  const [file] = data.files
  const isFile = data.items[0]?.webkitGetAsEntry?.()?.isDirectory !== true
  const isPack = file !== undefined && /^index\.json$|\.zip$/i.test(file.name)
  return data.files.length === 1 && isFile && isPack ? file : undefined
}

async function takeDrop(data: DataTransfer): Promise<void> {
  // The dropped items must be read before the event ends.
  const isFile = data.files.length === 1 && data.items[0]?.webkitGetAsEntry?.()?.isFile === true
  const dropped = isFile ? Promise.resolve(folderOfFiles([...data.files])) : folderOfDrop(data)
  await attempt(async () => {
    const given = await dropped
    if (given === undefined) throw new UserError('The dropped items cannot be read.', 'Drop a folder, or files.')
    await surveyFolder(given)
  })
}
