import type { ChunkProfile } from '../../core/chunk/profiles.ts'
import { type FolderTree, IGNORE_FILES, type TreeEntry as ListedEntry, walkTree } from '../../core/folder/walk-tree.ts'
import { baseName, folderOf } from '../../core/text/path.ts'
import type { FileReading, KnownFile, OpenTree, TreeEntry, TreeFile } from '../../library/ports/tree.ts'
import type { FilePages, PageFile } from '../read-file-page.ts'
import { describeEntry } from '../read-folder.ts'
import { readingOf, recallPart, SeenVersions, UNKNOWN_VERSION } from '../seen-versions.ts'
import { nodeSha256 } from '../sha256.ts'
import type { ArchiveContent } from './content.ts'
import { MemberError, refuse } from './members.ts'

/** A tree of files from an archive. */
export interface ContentTree extends Pick<OpenTree, 'url' | 'name' | 'folderId' | 'addressOf' | 'version'> {
  readonly content: ArchiveContent
  readonly pages: FilePages
  readonly profile: ChunkProfile
  /** Larger files are left out. */
  readonly maxFileBytes: number
  /** Stamp that shows whether the whole archive is unchanged; null when unknown. */
  readonly stamp: string | null
  /** Lists which files are read, and which are not. */
  readonly walk: (content: ArchiveContent, signal: AbortSignal) => AsyncIterable<TreeEntry>
  readonly close: () => Promise<void>
}

/** Creates a tree from the content of an archive. */
export function createContentTree(tree: ContentTree): OpenTree {
  const { url, name, folderId, addressOf, version, content, pages } = tree
  const seen = new SeenVersions()
  const readOther = createMemberReader(tree)
  return {
    ...{ url, name, folderId, addressOf },
    async close() {
      pages.clearCache()
      await tree.close()
    },
    ...(version === undefined ? {} : { version }),
    walk: (signal) => tree.walk(content, signal),
    read: (file, known) => readFile(tree, file, known, seen, readOther),
  }
}

async function readFile(
  tree: ContentTree,
  file: TreeFile,
  known: KnownFile,
  seen: SeenVersions,
  readOther: PageFile['readOther'],
): Promise<FileReading> {
  const { content, maxFileBytes, pages, profile, addressOf } = tree
  const found = content.files.get(file.path)
  if (found === undefined) return { type: 'missing' }
  const { size, stamp = tree.stamp } = found
  if (size > maxFileBytes) {
    const detail = Number.isFinite(size)
      ? `${size} bytes, more than ${maxFileBytes}`
      : `more than ${maxFileBytes} bytes`
    return { type: 'no-page', reason: 'too-large', pattern: 'maxFileBytes', ...UNKNOWN_VERSION, bytes: 0, detail }
  }
  if (known.version !== null && stamp !== null && known.stamp === stamp) {
    return { type: 'unchanged', ...known, bytes: 0, detail: null }
  }
  const page = { ...file, url: addressOf(file.path), profile }
  const recalled = await recallPart(page, seen.find(file.path, OPEN_ARCHIVE_STAMP), known, pages)
  if (recalled !== undefined) return recalled
  try {
    const bytes = await content.read(file.path)
    const current = { version: nodeSha256(bytes), stamp }
    seen.note(file.path, { stamp: OPEN_ARCHIVE_STAMP, known: current })
    return await readBytes({ ...page, bytes, readOther }, current, known, pages)
  } catch (error) {
    if (!(error instanceof MemberError)) throw error
    if (error.reason === 'unreadable') return { type: 'failed', reason: error.reason, detail: error.message }
    return { type: 'no-page', reason: 'damaged', pattern: null, ...UNKNOWN_VERSION, bytes: 0, detail: error.message }
  }
}

/** Returns a function that reads other files of an archive, if a walk lists them. The first call walks the archive. */
function createMemberReader({ content, maxFileBytes, walk }: ContentTree): PageFile['readOther'] {
  let listing: Promise<ReadonlySet<string>> | undefined
  const list = async (): Promise<ReadonlySet<string>> => {
    const paths = new Set<string>()
    for await (const { type, path } of walk(content, new AbortController().signal)) if (type === 'file') paths.add(path)
    return paths
  }
  return async (path) => {
    const size = content.files.get(path)?.size
    if (size === undefined || size > maxFileBytes) return undefined
    listing ??= list()
    if (!(await listing).has(path)) return undefined
    return content.read(path).catch((error: unknown) => {
      if (error instanceof MemberError) return undefined
      throw error
    })
  }
}

/** The stamp of a file in an open archive, whose content does not change. */
const OPEN_ARCHIVE_STAMP = ''

async function readBytes(
  file: Omit<PageFile, 'version'>,
  current: KnownFile & { readonly version: string },
  known: KnownFile,
  pages: FilePages,
): Promise<FileReading> {
  const bytes = file.bytes.length
  if (current.version === known.version) return { type: 'unchanged', ...current, bytes, detail: null }
  const read = await pages.read({ ...file, version: current.version })
  return read.type === 'failed' || read.type === 'missing' ? read : readingOf(read, current, bytes)
}

/** Nested archives and compressed files, which are not opened. */
const NESTED = /\.(?:zip|tar|tgz|gz|bz2|xz|zst|7z|rar|jar|war|ear|whl|crate)$/i

/** Lists the content of an archive by the rules of folders: ignore files apply, tool folders and binaries are skipped. */
export async function* walkContent(
  content: ArchiveContent,
  signal: AbortSignal,
  ignoreFiles: readonly string[] = IGNORE_FILES,
): AsyncGenerator<TreeEntry, void, void> {
  const { tree, refused } = listFolders(content)
  for await (const entry of walkTree(tree, { signal, ignoreFiles })) {
    const found = describeEntry(entry)
    if (found === undefined) continue
    const isNested = found.type === 'refused' && found.refusal.reason === 'not-text' && NESTED.test(found.path)
    yield isNested ? { ...found, refusal: refuse('excluded', 'archives') } : found
  }
  for (const [path, refusal] of [...content.refused, ...refused]) yield { type: 'refused', path, refusal }
}

/** The folder tree of an archive, made from its paths. A path that is both a file and a folder counts as a folder only. */
function listFolders(content: ArchiveContent): {
  readonly tree: FolderTree
  readonly refused: ReadonlyMap<string, ReturnType<typeof refuse>>
} {
  const folders = new Map<string, ListedEntry[]>([['', []]])
  const paths = [...content.files.keys(), ...content.links]
  for (const path of paths) openFolder(folders, folderOf(path))
  const refused = new Map<string, ReturnType<typeof refuse>>()
  for (const path of paths) {
    if (folders.has(`${path}/`)) {
      refused.set(path, refuse('excluded', 'a file and a folder of one name'))
      continue
    }
    const type = content.links.has(path) ? 'link' : 'file'
    openFolder(folders, folderOf(path)).push({ name: baseName(path), hasValidName: true, type })
  }
  const tree: FolderTree = {
    list: async (folder) => folders.get(folder),
    async readBeginning(file, maxBytes) {
      if (!content.files.has(file)) return undefined
      return (await content.read(file).catch(() => undefined))?.subarray(0, maxBytes)
    },
  }
  return { tree, refused }
}

/** Returns the entries of a folder, and creates missing folders. The depth limit of archives also limits the recursion. */
function openFolder(folders: Map<string, ListedEntry[]>, folder: string): ListedEntry[] {
  const known = folders.get(folder)
  if (known !== undefined) return known
  const entries: ListedEntry[] = []
  folders.set(folder, entries)
  const parent = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
  openFolder(folders, parent).push({ name: folder.slice(parent.length, -1), hasValidName: true, type: 'folder' })
  return entries
}
