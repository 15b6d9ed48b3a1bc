import { fileURLToPath, pathToFileURL } from 'node:url'
import { PharosError } from '../../core/errors.ts'
import { isPackFolder, PACK_MANIFEST } from '../../core/folder/walk-tree.ts'
import { baseName } from '../../core/text/path.ts'
import { decodePart } from '../../core/url/decode-part.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import { mayContainVersion, normalizeFolder, writeInnerUrl } from '../../core/url/tree-url.ts'
import type { Download } from '../../library/ports/download.ts'
import type { OpenTree, TreeOptions } from '../../library/ports/tree.ts'
import type { FilePages } from '../read-file-page.ts'
import type { ArchiveContent } from './content.ts'
import {
  type ArchiveSourceOptions,
  contentBelow,
  openDownloadedArchive,
  openLocalArchive,
  topFolderOf,
} from './source.ts'
import { createContentTree, walkContent } from './tree.ts'

/** Options for opening archives. */
export interface ArchiveOptions extends ArchiveSourceOptions {
  /** Downloads web archives; rejects when downloads are disabled. */
  readonly openDownload: () => Promise<Download>
}

/** Opens a local or web archive as a tree of its files. */
export async function openArchive(
  address: string,
  pages: FilePages,
  options: ArchiveOptions,
  { profile = 'library', path = null, headers = {}, signal }: TreeOptions = {},
): Promise<OpenTree> {
  const name = baseName(decodePart(new URL(address).pathname))
  const format = name.toLowerCase().endsWith('.zip') ? 'zip' : 'tar'
  const request = { address, format, headers, ...(signal === undefined ? {} : { signal }) } as const
  const { url, content, stamp } = isFileUrl(address)
    ? await openLocal(address, request, options)
    : await openRemote(address, request, options)
  try {
    const top = versionFolderOf(content)
    const requested = normalizeFolder(path)
    const folder = top + (requested.startsWith(top) ? requested.slice(top.length) : requested)
    const below = contentBelow(content, folder, writeInnerUrl(url, requested))
    if (isPack(name, below)) throw new PharosError('SOURCE_IS_PACK', { path: address })
    return createContentTree({
      url,
      name,
      // A constant, because a new archive at the same address counts as the same source.
      folderId: 'archive',
      addressOf: (file) => writeInnerUrl(url, folder + file),
      content: below,
      pages,
      profile,
      maxFileBytes: options.maxFileBytes,
      stamp,
      walk: walkContent,
      close: content.close,
    })
  } catch (error) {
    await content.close()
    throw error
  }
}

interface OpenedArchive {
  readonly url: string
  readonly content: ArchiveContent
  readonly stamp: string | null
}

async function openLocal(
  address: string,
  request: Parameters<typeof openLocalArchive>[1],
  options: ArchiveOptions,
): Promise<OpenedArchive> {
  const { path, ...opened } = await openLocalArchive(fileURLToPath(address), request, options)
  return { url: pathToFileURL(path).href, ...opened }
}

async function openRemote(
  address: string,
  request: Parameters<typeof openLocalArchive>[1],
  options: ArchiveOptions,
): Promise<OpenedArchive> {
  const download = await options.openDownload()
  const { digest, content } = await openDownloadedArchive(download, address, request, options)
  return { url: address, content, stamp: digest }
}

/** The folder that contains everything in an archive, if its name may contain a version. Paths without it stay the same in all versions. */
function versionFolderOf(content: ArchiveContent): string {
  const top = topFolderOf(content)
  return mayContainVersion(top) ? top : ''
}

function isPack(name: string, { files }: ArchiveContent): boolean {
  return isPackFolder(name.replace(/(?:\.part-\d+)?\.zip$/i, '')) || files.has(PACK_MANIFEST)
}
