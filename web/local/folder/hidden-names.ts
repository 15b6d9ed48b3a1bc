import { isBuildFolder } from '../../../src/core/folder/build-folders.ts'
import { listEntries } from './list-entries.ts'
import { orUndefined } from './open-folder.ts'

/**
 * Whether a handle hides files of the dropped folder. Handles silently omit names that are invalid on other systems, such as `What
 * now?.md`; entries do not. `onFolder` is called for every folder and may throw to cancel.
 */
export async function hasHiddenNames(
  handle: FileSystemDirectoryHandle,
  entry: FileSystemDirectoryEntry,
  onFolder: (found: number) => void,
): Promise<boolean> {
  const queue = [{ entry, path: [] as readonly string[] }]
  let found = 0
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    const { entry: current, path } = folder
    // An unreadable folder is reported later, when it is read.
    const children = (await orUndefined(() => listEntries(current))) ?? []
    for (const child of children) {
      if (!isPortableName(child.name) && (await isRefused(handle, [...path, child.name]))) return true
      if (!child.isDirectory || isBuildFolder(child.name)) continue
      queue.push({ entry: child as FileSystemDirectoryEntry, path: [...path, child.name] })
    }
    found += children.length
    onFolder(found)
  }
  return false
}

/** Whether a name is valid on every system. Probing the handle for each of very many names would take minutes. */
function isPortableName(name: string): boolean {
  return PORTABLE_NAME.test(name) && !RESERVED_NAME.test(name) && !INVISIBLE_CHAR.test(name)
}

const PORTABLE_NAME = /^\.?[\p{L}\p{Nd}_-](?:[\p{L}\p{M}\p{Nd} ._()-]*[\p{L}\p{M}\p{Nd}_()-])?$/u
/** Device names of Windows, and files with a special meaning for its shell. */
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d|desktop\.ini|thumbs\.db)(?:\.|$)|\.(?:lnk|local|scf|url)$/i
const INVISIBLE_CHAR = /\p{Default_Ignorable_Code_Point}/u

/** Whether the handle rejects a name; it omits the same names from its listings. */
async function isRefused(handle: FileSystemDirectoryHandle, path: readonly string[]): Promise<boolean> {
  try {
    let folder = handle
    for (const name of path.slice(0, -1)) folder = await folder.getDirectoryHandle(name)
    await folder.getFileHandle(path.at(-1) ?? '')
    return false
  } catch (error) {
    // A missing file and a folder cause other error types.
    return error instanceof TypeError
  }
}
