/** The private file system of this origin, which neither other pages nor the user can see. */
export interface PrivateFiles {
  /** Replaces a folder, file by file. A write that fails or is cancelled leaves nothing behind. */
  write(folder: string, files: Iterable<readonly [name: string, content: Blob]>, signal?: AbortSignal): Promise<void>
  /** Adds or replaces a file in a folder. */
  add(folder: string, name: string, content: Blob): Promise<void>
  /** Opens a file on disk. */
  open(folder: string, name: string): Promise<File>
  remove(folder: string): Promise<void>
  list(): Promise<string[]>
}

/** The parent of all folders. */
const ROOT = 'llmx-ingestor'

/** Opens the private file system; undefined if the browser has none. */
export async function openPrivateFiles(): Promise<PrivateFiles | undefined> {
  if (navigator.storage?.getDirectory === undefined || globalThis.FileSystemFileHandle === undefined) return undefined
  // Some browsers have the file system but not `createWritable`.
  if (!('createWritable' in FileSystemFileHandle.prototype)) return undefined
  let root: FileSystemDirectoryHandle
  try {
    root = await (await navigator.storage.getDirectory()).getDirectoryHandle(ROOT, { create: true })
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
  const remove = async (folder: string) => {
    try {
      await root.removeEntry(folder, { recursive: true })
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'NotFoundError')) throw error
    }
  }
  return {
    remove,
    async write(folder, files, signal) {
      try {
        const directory = await root.getDirectoryHandle(folder, { create: true })
        for (const [name, content] of files) {
          signal?.throwIfAborted()
          await writeFile(await directory.getFileHandle(name, { create: true }), content)
        }
        signal?.throwIfAborted()
      } catch (error) {
        await remove(folder)
        throw error
      }
    },
    async add(folder, name, content) {
      const directory = await root.getDirectoryHandle(folder)
      await writeFile(await directory.getFileHandle(name, { create: true }), content)
    },
    async open(folder, name) {
      return (await (await root.getDirectoryHandle(folder)).getFileHandle(name)).getFile()
    },
    async list() {
      const names: string[] = []
      for await (const name of root.keys()) names.push(name)
      return names
    },
  }
}

/** Writes a file; the browser replaces the old content atomically on close. */
async function writeFile(handle: FileSystemFileHandle, content: Blob): Promise<void> {
  const file = await handle.createWritable()
  try {
    await file.write(content)
    await file.close()
  } catch (error) {
    await file.abort().catch(() => undefined)
    throw error
  }
}
