import { buildFolderOf, isBuildFolder } from '../../../src/core/folder/build-folders.ts'
import type { GivenFile, GivenFiles, GivenFolder } from './given-folder.ts'
import { listEntries } from './list-entries.ts'
import { orUndefined } from './open-folder.ts'

/** Turns uploaded files into a folder: the one that was uploaded, or a collection of loose files. */
export function folderOfUpload(list: Iterable<File>): GivenFolder | undefined {
  const files = [...list]
  const [first] = files
  if (first === undefined) return undefined
  const root = first.webkitRelativePath.split('/')[0] ?? ''
  return {
    type: 'files',
    name: root || COLLECTION_NAME,
    files: numberDuplicates(filesOf(files, root)),
    maxFiles: files.length,
  }
}

/** The name for several items that were dropped together. */
const COLLECTION_NAME = 'files'

/** Generates the paths one by one, because computing very many at once would block the page. */
function* filesOf(files: readonly File[], root: string): Generator<GivenFile, void, void> {
  const prefix = `${root}/`
  const reported = new Set<string>()
  for (const file of files) {
    const fullPath = pathOf(file)
    const path = fullPath.startsWith(prefix) ? fullPath.slice(prefix.length) : fullPath
    const folder = buildFolderOf(path)
    if (folder === undefined) yield { path, file }
    else if (!reported.has(folder)) {
      reported.add(folder)
      yield unopenedFolder(`${folder}/`)
    }
  }
}

/** A folder without its files: a build folder, which can be huge and is skipped as a whole, or an unreadable folder. */
function unopenedFolder(path: string): GivenFile {
  return { path, file: undefined }
}

/**
 * Returns the path of a file. Browsers replace backslashes in `webkitRelativePath` with slashes. Where names may contain backslashes, that
 * could be the path of another file, so the name is restored.
 */
function pathOf({ webkitRelativePath: path, name }: File): string {
  if (path === '') return name
  return path.endsWith(`/${name.replaceAll('\\', '/')}`) ? path.slice(0, -name.length) + name : path
}

/** Turns a drop into a folder: a single folder stays itself, anything else is collected in one. Must be called before the event ends. */
export async function folderOfDrop(data: DataTransfer): Promise<GivenFolder | undefined> {
  const items = [...data.items].filter(({ kind }) => kind === 'file')
  // All items must be requested synchronously: after the first await the browser has emptied the list.
  const dropped = items.map((item) => {
    return { handle: handleOf(item), entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }
  })
  if (dropped.length === 0) return folderOfUpload(data.files)
  const [only] = dropped
  if (dropped.length === 1 && only !== undefined) {
    const handle = await only.handle
    const entry = only.entry?.isDirectory ? (only.entry as FileSystemDirectoryEntry) : undefined
    if (handle?.kind === 'directory') {
      return { type: 'handle', name: handle.name, handle: handle as FileSystemDirectoryHandle, entry }
    }
    if (entry !== undefined) return folderOfEntry(entry)
  }
  const readable = dropped.filter(({ entry, file }) => entry?.isDirectory || file !== null)
  return readable.length === 0
    ? undefined
    : { type: 'files', name: COLLECTION_NAME, files: numberDuplicates(filesOfDrop(readable)) }
}

/** The files of a dropped folder, used if there is no handle or if the handle hides files. */
export function folderOfEntry(entry: FileSystemDirectoryEntry): GivenFiles {
  return { type: 'files', name: entry.name, files: filesBelow(entry, '') }
}

async function handleOf(item: DataTransferItem): Promise<FileSystemHandle | null> {
  return (await orUndefined(async () => item.getAsFileSystemHandle?.())) ?? null
}

interface DroppedItem {
  readonly entry: FileSystemEntry | null
  readonly file: File | null
}

async function* filesOfDrop(dropped: readonly DroppedItem[]): AsyncGenerator<GivenFile, void, void> {
  for (const { entry, file } of dropped) {
    if (entry?.isDirectory) yield* filesBelow(entry, `${entry.name}/`)
    else if (file !== null) yield { path: file.name, file }
  }
}

/** All files below a dropped folder. Iterative, so that deep folders do not exhaust the stack. */
async function* filesBelow(top: FileSystemEntry, prefix: string): AsyncGenerator<GivenFile, void, void> {
  const queue: { readonly entry: FileSystemEntry; readonly path: string }[] = [{ entry: top, path: prefix }]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { entry, path } = next
    if (entry.isFile) {
      yield { path, file: await orUndefined(() => fileOf(entry as FileSystemFileEntry)) }
      continue
    }
    const isOpened = entry === top || !isBuildFolder(entry.name)
    const children = isOpened ? await orUndefined(() => listEntries(entry as FileSystemDirectoryEntry)) : undefined
    if (children === undefined) yield unopenedFolder(path)
    for (const child of children ?? []) {
      queue.push({ entry: child, path: path + child.name + (child.isDirectory ? '/' : '') })
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** Numbers files with the same path: `a.txt`, `a (2).txt`. Files from two folders can have the same name. */
async function* numberDuplicates(
  files: Iterable<GivenFile> | AsyncIterable<GivenFile>,
): AsyncGenerator<GivenFile, void, void> {
  const usedPaths = new Set<string>()
  /** The last number used for each path, so that many files of one name do not take quadratic time. */
  const numbers = new Map<string, number>()
  for await (const { path, file } of files) {
    let freePath = path
    for (let number = (numbers.get(path) ?? 1) + 1; usedPaths.has(freePath); number++) {
      freePath = path.replace(/(\.[^./]*)?$/, ` (${number})$1`)
      numbers.set(path, number)
    }
    usedPaths.add(freePath)
    yield { path: freePath, file }
  }
}
