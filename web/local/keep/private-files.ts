/** Folders of this page's own, which no other page and no user sees. */
export interface PrivateFiles {
  /** Writes a folder anew, file by file; one that fails, or is stopped, leaves nothing. */
  write(folder: string, files: Iterable<readonly [name: string, content: Blob]>, signal?: AbortSignal): Promise<void>
  /** Adds a file to a folder, or replaces it there. */
  add(folder: string, name: string, content: Blob): Promise<void>
  /** A file as it is on the disk. */
  open(folder: string, name: string): Promise<File>
  remove(folder: string): Promise<void>
  list(): Promise<string[]>
}

/** What all of them are below. */
const ROOT = 'llmx-ingestor'

/** Opens them; undefined where the browser has none. */
export async function openPrivateFiles(): Promise<PrivateFiles | undefined> {
  if (navigator.storage?.getDirectory === undefined || globalThis.FileSystemFileHandle === undefined) return undefined
  // Some have the folders and write in another way.
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
        const place = await root.getDirectoryHandle(folder, { create: true })
        for (const [name, content] of files) {
          signal?.throwIfAborted()
          await writeFile(await place.getFileHandle(name, { create: true }), content)
        }
        signal?.throwIfAborted()
      } catch (error) {
        await remove(folder)
        throw error
      }
    },
    async add(folder, name, content) {
      const place = await root.getDirectoryHandle(folder)
      await writeFile(await place.getFileHandle(name, { create: true }), content)
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

/** The browser puts a file into its place when it is closed, never half of it. */
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
