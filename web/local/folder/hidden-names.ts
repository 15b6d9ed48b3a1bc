import { isBuildFolder } from '../../../src/core/folder/build-folders.ts'
import { listEntries } from './list-entries.ts'
import { orUndefined } from './open-folder.ts'

/**
 * Tells whether a handle hides something of the folder that was dropped. Browsers leave out names that other systems could not have, such
 * as `What now?.md`, without a word, and only there. `onLook` is told of every folder, and may throw to end it.
 */
export async function hidesNames(
  handle: FileSystemDirectoryHandle,
  entry: FileSystemDirectoryEntry,
  onLook: (found: number) => void,
): Promise<boolean> {
  const open = [{ entry, path: [] as readonly string[] }]
  let found = 0
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { entry: current, path } = folder
    // One that cannot be read is found out, and told of, by whoever reads it.
    const below = (await orUndefined(() => listEntries(current))) ?? []
    for (const child of below) {
      if (!isPlain(child.name) && (await isRefused(handle, [...path, child.name]))) return true
      if (!child.isDirectory || isBuildFolder(child.name)) continue
      open.push({ entry: child as FileSystemDirectoryEntry, path: [...path, child.name] })
    }
    found += below.length
    onLook(found)
  }
  return false
}

/** Names that every system can have. To ask for each of very many would take minutes. */
function isPlain(name: string): boolean {
  return PLAIN.test(name) && !SPECIAL.test(name) && !UNSEEN.test(name)
}

const PLAIN = /^\.?[\p{L}\p{Nd}_-](?:[\p{L}\p{M}\p{Nd} ._()-]*[\p{L}\p{M}\p{Nd}_()-])?$/u
/** Devices, and what the shell of a system acts upon. */
const SPECIAL = /^(?:con|prn|aux|nul|com\d|lpt\d|desktop\.ini|thumbs\.db)(?:\.|$)|\.(?:lnk|local|scf|url)$/i
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u

/** Whether a handle does not let this name be asked for; by the same rule it leaves the name out of its lists. */
async function isRefused(handle: FileSystemDirectoryHandle, path: readonly string[]): Promise<boolean> {
  try {
    let folder = handle
    for (const name of path.slice(0, -1)) folder = await folder.getDirectoryHandle(name)
    await folder.getFileHandle(path.at(-1) ?? '')
    return false
  } catch (error) {
    // What is gone, or is a folder, is refused in other words.
    return error instanceof TypeError
  }
}
