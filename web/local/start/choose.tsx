import type { JSX, RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import type { GivenFolder } from '../folder/given-folder.ts'
import { folderOfUpload } from '../folder/input-folder.ts'
import type { StoredIndex } from '../keep/index-store.ts'
import { attempt, importFile, isCancelled, surveyFolder } from '../page-state.ts'
import { UserError } from '../user-error.ts'

/** The ways to provide a folder that this browser supports. */
export function Choose(): JSX.Element {
  const folder = useRef<HTMLInputElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const pack = useRef<HTMLInputElement>(null)
  return (
    <section class="choose" aria-labelledby="choose-title">
      <h2 id="choose-title">{canDrop() ? 'Drop a folder or files here' : 'Choose what to read'}</h2>
      <p class="quiet">You see a preview before anything is read.</p>
      <div class="choose-buttons">
        {canChooseFolder() ? (
          <button type="button" class="primary" onClick={() => void chooseFolder(folder)}>
            Choose a folder
          </button>
        ) : null}
        <button type="button" class={canChooseFolder() ? '' : 'primary'} onClick={() => files.current?.click()}>
          Choose files
        </button>
        <button type="button" onClick={() => pack.current?.click()}>
          Open a pack or index.json
        </button>
      </div>
      <FolderInput input={folder} />
      <input
        ref={files}
        id="files-input"
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          const given = folderOfFiles(takeFiles(event.currentTarget))
          if (given !== undefined) void surveyFolder(given)
        }}
      />
      <input
        ref={pack}
        id="pack-input"
        type="file"
        accept=".zip,.json"
        hidden
        aria-label="Pack"
        onChange={(event) => {
          const [file] = takeFiles(event.currentTarget)
          if (file !== undefined) void importFile(file)
        }}
      />
    </section>
  )
}

/** Turns loose files into a folder. A single file gives the index its name. */
export function folderOfFiles(files: readonly File[]): GivenFolder | undefined {
  const given = folderOfUpload(files)
  const [only] = files
  return given !== undefined && files.length === 1 && only !== undefined ? { ...given, name: only.name } : given
}

/** The file input that uploads a folder, for browsers that have no folder picker or refuse to open it. */
export function FolderInput(props: {
  readonly input: RefObject<HTMLInputElement | null>
  readonly update?: StoredIndex
}): JSX.Element | null {
  if (!canUploadFolder()) return null
  return (
    <input
      ref={props.input}
      id={props.update === undefined ? 'folder-input' : `update-input-${props.update.id}`}
      type="file"
      hidden
      aria-label="Folder"
      {...{ webkitdirectory: true }}
      onChange={(event) => {
        const given = folderOfUpload(takeFiles(event.currentTarget))
        if (given !== undefined) void surveyFolder(given, props.update)
      }}
    />
  )
}

/** Whether this browser has any way to choose a folder. */
export function canChooseFolder(): boolean {
  return window.showDirectoryPicker !== undefined || canUploadFolder()
}

/** A browser that refused the folder picker once refuses it every time. */
let isPickerRefused = false

/** Asks for a folder in the best way available. */
export async function chooseFolder(upload: RefObject<HTMLInputElement | null>, update?: StoredIndex): Promise<void> {
  await attempt(async () => {
    const handle = isPickerRefused ? 'refused' : await pickFolder()
    if (handle !== 'refused') return surveyFolder(toGivenFolder(handle), update)
    isPickerRefused = true
    const refusal = 'The browser does not let this page ask for a folder'
    if (upload.current === null) throw new UserError(`${refusal}.`, 'Choose files, or drop the folder onto this page.')
    // If the browser showed a prompt first, the user activation may have expired, and the click would be blocked.
    if (navigator.userActivation?.isActive !== false) return upload.current.click()
    throw new UserError(
      `${refusal} in this way.`,
      'Press the button once more to upload the folder to the page instead.',
    )
  })
}

/** Wraps a folder handle of the browser. */
export function toGivenFolder(handle: FileSystemDirectoryHandle): GivenFolder {
  return { type: 'handle', name: handle.name, handle }
}

async function pickFolder(): Promise<FileSystemDirectoryHandle | 'refused'> {
  try {
    return (await window.showDirectoryPicker?.({ id: 'pharos', mode: 'read' })) ?? 'refused'
  } catch (error) {
    // Inside a cross-origin frame the function exists but is refused.
    if (error instanceof DOMException && !isCancelled(error)) return 'refused'
    throw error
  }
}

/** Touch devices have no drag and drop. */
function canDrop(): boolean {
  return !matchMedia('(hover: none)').matches
}

function canUploadFolder(): boolean {
  return 'webkitdirectory' in HTMLInputElement.prototype
}

/** Returns the files and clears the input, so that the same files can be chosen again. */
function takeFiles(input: HTMLInputElement): File[] {
  const files = [...(input.files ?? [])]
  input.value = ''
  return files
}
