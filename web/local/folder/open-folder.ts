import type { FolderTree, TreeEntry } from '../../../src/core/folder/walk-tree.ts'
import type { GivenFile, GivenFolder } from './given-folder.ts'

/** A folder that can be read. */
export interface OpenFolder extends FolderTree {
  readonly name: string
  /** A file as it is now; undefined when it is gone, or may not be read. */
  file(path: string): Promise<File | undefined>
}

/** Opens what the user gave, whichever way the browser had for that. */
export function openFolder(given: GivenFolder): OpenFolder {
  const open = given.type === 'handle' ? openHandle(given.handle) : openFiles(given.files)
  return {
    ...open,
    name: given.name,
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

type Source = Pick<OpenFolder, 'list' | 'file'>

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
  }
}

function openFiles(given: readonly GivenFile[]): Source {
  const folders = new Map<string, Map<string, TreeEntry>>([['', new Map()]])
  const files = new Map<string, File>()
  for (const { path, file } of given) {
    const parts = path.split('/')
    let folder = ''
    for (const name of parts.slice(0, -1)) {
      const below = `${folder}${name}/`
      folders.get(folder)?.set(name, entryOf(name, 'folder'))
      if (!folders.has(below)) folders.set(below, new Map())
      folder = below
    }
    const name = parts.at(-1) ?? ''
    folders.get(folder)?.set(name, entryOf(name, 'file'))
    files.set(path, file)
  }
  return {
    list: async (folder) => [...(folders.get(folder)?.values() ?? [])],
    file: async (path) => files.get(path),
  }
}

/** Names that lead elsewhere come from no folder of a disk; what has one is neither read nor entered. */
function entryOf(name: string, type: 'file' | 'folder'): TreeEntry {
  const isPlain = name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
  return { name, isNamed: name.isWellFormed(), type: isPlain ? type : 'special' }
}
