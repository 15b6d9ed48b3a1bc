import type { FolderTree, TreeEntry } from '../../../src/core/folder/walk-tree.ts'
import type { GivenFile, GivenFolder } from './given-folder.ts'

/** A folder that can be read. */
export interface OpenFolder extends FolderTree {
  readonly name: string
  /** Whether the browser may hide some files. */
  readonly mayHideFiles: boolean
  /** The current file; undefined if it is gone or not readable. */
  file(path: string): Promise<File | undefined>
  /** Whether the folder itself is still accessible. */
  isAccessible(): Promise<boolean>
}

/** Opens the folder, whichever way the browser provided it. */
export function openFolder(given: GivenFolder): OpenFolder {
  const open = given.type === 'handle' ? openHandle(given.handle) : openFiles(given.files)
  return {
    ...open,
    name: given.name,
    mayHideFiles: given.type === 'handle' && given.isVerified !== true,
    async readBeginning(path, maxBytes) {
      const file = await open.file(path)
      return file === undefined ? undefined : orUndefined(async () => bytesOf(file.slice(0, maxBytes)))
    },
  }
}

/** Reads all bytes of a blob. */
export async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.arrayBuffer())
}

/** Returns undefined for an error of the browser (not found, not allowed). Other errors are bugs and pass through. */
export async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}

type FolderAccess = Pick<OpenFolder, 'list' | 'file' | 'isAccessible'>

function openHandle(root: FileSystemDirectoryHandle): FolderAccess {
  const folders = new Map<string, FileSystemDirectoryHandle>([['', root]])
  const files = new Map<string, FileSystemFileHandle>()
  return {
    list: (folder) =>
      orUndefined(async () => {
        const entries: TreeEntry[] = []
        for await (const handle of folders.get(folder)?.values() ?? []) {
          if (handle.kind === 'directory') folders.set(`${folder}${handle.name}/`, handle as FileSystemDirectoryHandle)
          else files.set(folder + handle.name, handle as FileSystemFileHandle)
          entries.push(entryOf(handle.name, handle.kind === 'directory' ? 'folder' : 'file'))
        }
        return entries
      }),
    file: (path) => orUndefined(async () => files.get(path)?.getFile()),
    isAccessible: async () => (await orUndefined(() => root.keys().next())) !== undefined,
  }
}

function openFiles(given: Iterable<GivenFile> | AsyncIterable<GivenFile>): FolderAccess {
  let tree: Promise<FileTree> | undefined
  const openTree = () => {
    tree ??= buildFileTree(given)
    return tree
  }
  return {
    list: async (folder) => {
      const { folders, unopened } = await openTree()
      const entries = [...(folders.get(folder)?.values() ?? [])]
      if (!unopened.has(folder)) return entries
      // Two dropped folders can have the same name. If one of them was not opened, an unnamed entry makes the walk report it as skipped.
      return entries.length === 0 ? undefined : [...entries, entryOf('', 'folder')]
    },
    file: async (path) => (await openTree()).files.get(path),
    // There is no folder to probe, only files, each of which can fail on its own.
    isAccessible: async () => true,
  }
}

interface FileTree {
  /** The entries of each folder by name. Folder names end in a slash here, because a file can have the same name. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>
  readonly files: ReadonlyMap<string, File>
  /** Folders that were not opened. */
  readonly unopened: ReadonlySet<string>
}

/** Builds the folder tree from the paths of the files. */
async function buildFileTree(given: Iterable<GivenFile> | AsyncIterable<GivenFile>): Promise<FileTree> {
  const folders = new Map<string, Map<string, TreeEntry>>([['', new Map()]])
  const files = new Map<string, File>()
  const unopened = new Set<string>()
  for await (const { path, file } of given) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const name = path.slice(folder.length)
    addFolders(folders, folder)
    if (name === '' && file === undefined) unopened.add(folder)
    else folders.get(folder)?.set(name, entryOf(name, 'file'))
    if (file !== undefined) files.set(path, file)
  }
  return { folders, files, unopened }
}

/** Adds a folder and all of its parents. */
function addFolders(folders: Map<string, Map<string, TreeEntry>>, path: string): void {
  if (folders.has(path)) return
  let parent = ''
  for (const name of path.split('/').slice(0, -1)) {
    const folder = `${parent}${name}/`
    folders.get(parent)?.set(`${name}/`, entryOf(name, 'folder'))
    if (!folders.has(folder)) folders.set(folder, new Map())
    parent = folder
  }
}

/**
 * Names such as `..` cannot come from a real folder, so such entries count as `special` and are skipped. Browsers report a name that is not
 * valid text as an empty string.
 */
function entryOf(name: string, type: 'file' | 'folder'): TreeEntry {
  if (name === '' || !name.isWellFormed()) return { name: name || PLACEHOLDER_NAME, hasValidName: false, type }
  const isPlain = name !== '.' && name !== '..' && !/[/\0]/.test(name)
  return { name, hasValidName: true, type: isPlain ? type : 'special' }
}

/** The replacement character stands for a name that is not valid text. */
const PLACEHOLDER_NAME = '\u{fffd}'
