import type { GivenFile, GivenFolder } from './given-folder.ts'

/** What the files of an upload are together: the folder they come from, or just these. */
export function folderOfUpload(list: Iterable<File>): GivenFolder | undefined {
  const files = [...list]
  const [first] = files
  if (first === undefined) return undefined
  const root = first.webkitRelativePath.split('/')[0] ?? ''
  const prefix = `${root}/`
  if (root === '' || files.some((file) => !file.webkitRelativePath.startsWith(prefix))) return folderOfFiles(files)
  return {
    type: 'files',
    name: root,
    files: files.map((file) => ({ path: pathOf(file).slice(prefix.length), file })),
  }
}

/** Where a file lies. Browsers write each backslash there as a slash, and where a name may have one, another file may lie. */
function pathOf({ webkitRelativePath: path, name }: File): string {
  return path.endsWith(`/${name.replaceAll('\\', '/')}`) ? path.slice(0, -name.length) + name : path
}

/** Files without a folder, each under its name; a name that comes twice gets a number. */
function folderOfFiles(files: readonly File[]): GivenFolder {
  return { type: 'files', name: LOOSE, files: numberTwins(files.map((file) => ({ path: file.name, file }))) }
}

/** What several things are called that were dropped together. */
const LOOSE = 'files'

/** What was dropped: one folder as itself, all else as a folder of what it was. Must be called before the event ends. */
export async function folderOfDrop(data: DataTransfer): Promise<GivenFolder | undefined> {
  const items = [...data.items].filter(({ kind }) => kind === 'file')
  // Both have to be asked for at once: after the first wait the browser has taken everything back.
  const asked = items.map((item) => {
    return { handle: handleOf(item), entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }
  })
  if (asked.length === 0) return folderOfUpload(data.files)
  const [only] = asked
  if (asked.length === 1 && only !== undefined) {
    const handle = await only.handle
    if (handle?.kind === 'directory') {
      return { type: 'handle', name: handle.name, handle: handle as FileSystemDirectoryHandle }
    }
    if (only.entry?.isDirectory) {
      return { type: 'files', name: only.entry.name, files: await filesBelow(only.entry, '') }
    }
  }
  const files: GivenFile[] = []
  for (const { entry, file } of asked) {
    if (entry?.isDirectory) files.push(...(await filesBelow(entry, `${entry.name}/`)))
    else if (file !== null) files.push({ path: file.name, file })
  }
  return files.length === 0 ? undefined : { type: 'files', name: LOOSE, files: numberTwins(files) }
}

async function handleOf(item: DataTransferItem): Promise<FileSystemHandle | null> {
  try {
    return (await item.getAsFileSystemHandle?.()) ?? null
  } catch (error) {
    // Some browsers have the call and refuse it.
    if (error instanceof DOMException) return null
    throw error
  }
}

/** All files below a folder that was dropped, depth costing memory only. */
async function filesBelow(top: FileSystemEntry, prefix: string): Promise<GivenFile[]> {
  const files: GivenFile[] = []
  const open: { readonly entry: FileSystemEntry; readonly path: string }[] = [{ entry: top, path: prefix }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { entry, path } = next
    if (entry.isFile) files.push({ path, file: await fileOf(entry as FileSystemFileEntry) })
    else {
      for (const child of await listEntries(entry as FileSystemDirectoryEntry)) {
        open.push({ entry: child, path: path + child.name + (child.isDirectory ? '/' : '') })
      }
    }
  }
  return files
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** The browser gives a hundred at a time, until it gives none. */
async function listEntries(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}

/** `a.txt`, `a (2).txt`: two files may have one name when they come from two folders. */
function numberTwins(files: readonly GivenFile[]): GivenFile[] {
  const taken = new Set<string>()
  return files.map(({ path, file }) => {
    let free = path
    for (let number = 2; taken.has(free); number++) free = path.replace(/(\.[^./]*)?$/, ` (${number})$1`)
    taken.add(free)
    return { path: free, file }
  })
}
