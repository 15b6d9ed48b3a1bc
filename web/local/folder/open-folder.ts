import type { FolderTree, TreeEntry } from '../../../src/core/folder/walk-tree.ts'
import type { GivenFile, GivenFolder } from './given-folder.ts'

/** A folder that can be read. */
export interface OpenFolder extends FolderTree {
  readonly name: string
  /** Whether there may be files of which the browser does not tell. */
  readonly mayHide: boolean
  /** A file as it is now; undefined when it is gone, or may not be read. */
  file(path: string): Promise<File | undefined>
  /** Whether the folder itself can still be looked into. */
  isThere(): Promise<boolean>
}

/** Opens what the user gave, whichever way the browser had for that. */
export function openFolder(given: GivenFolder): OpenFolder {
  const open = given.type === 'handle' ? openHandle(given.handle) : openFiles(given.files)
  return {
    ...open,
    name: given.name,
    mayHide: given.type === 'handle' && given.isWhole !== true,
    async readBeginning(path, most) {
      const file = await open.file(path)
      return file === undefined ? undefined : orUndefined(async () => bytesOf(file.slice(0, most)))
    },
  }
}

/** All bytes of a file or of a part of it. */
export async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.arrayBuffer())
}

/** What the browser refuses or no longer finds is not there; all else is a mistake of ours. */
export async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}

type Source = Pick<OpenFolder, 'list' | 'file' | 'isThere'>

function openHandle(root: FileSystemDirectoryHandle): Source {
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
    isThere: async () => (await orUndefined(() => root.keys().next())) !== undefined,
  }
}

function openFiles(given: Iterable<GivenFile> | AsyncIterable<GivenFile>): Source {
  let grown: Promise<Grown> | undefined
  const grow = () => {
    grown ??= growTree(given)
    return grown
  }
  return {
    list: async (folder) => {
      const { folders, unopened } = await grow()
      const entries = [...(folders.get(folder)?.values() ?? [])]
      if (!unopened.has(folder)) return entries
      // Two folders may come under one name; what is not known of one is then something that is passed over.
      return entries.length === 0 ? undefined : [...entries, entryOf('', 'folder')]
    },
    file: async (path) => (await grow()).files.get(path),
    // Nobody can ask for it; only its files can fail.
    isThere: async () => true,
  }
}

interface Grown {
  /** What stands in each folder, by its name, that of a folder with a slash: a file may come with the same one. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>
  readonly files: ReadonlyMap<string, File>
  /** Folders that were not looked into. */
  readonly unopened: ReadonlySet<string>
}

/** Makes the folders that the paths of files tell of. */
async function growTree(given: Iterable<GivenFile> | AsyncIterable<GivenFile>): Promise<Grown> {
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

/** Adds a folder, and those that it lies in, each to the one above it. */
function addFolders(folders: Map<string, Map<string, TreeEntry>>, path: string): void {
  if (folders.has(path)) return
  let above = ''
  for (const name of path.split('/').slice(0, -1)) {
    const folder = `${above}${name}/`
    folders.get(above)?.set(`${name}/`, entryOf(name, 'folder'))
    if (!folders.has(folder)) folders.set(folder, new Map())
    above = folder
  }
}

/**
 * Names that lead elsewhere come from no folder of a disk; what has one is neither read nor entered. One that is no text comes as none
 * at all.
 */
function entryOf(name: string, type: 'file' | 'folder'): TreeEntry {
  if (name === '' || !name.isWellFormed()) return { name: name || UNNAMED, isNamed: false, type }
  const isPlain = name !== '.' && name !== '..' && !/[/\0]/.test(name)
  return { name, isNamed: true, type: isPlain ? type : 'special' }
}

/** What a text shows in place of what is none. */
const UNNAMED = '\u{fffd}'
