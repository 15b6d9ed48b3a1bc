import { ArchiveError } from '../../core/archive/archive-error.ts'
import type { Integrity } from '../../core/integrity.ts'
import type { PackageName } from '../../core/url/package-url.ts'
import { type Download, DownloadError } from '../../library/ports/download.ts'
import { retryDownload } from '../retry-download.ts'
import type { FoundArchive } from './package-archive.ts'

/** Size limit of a package's metadata; the largest packages have tens of megabytes. */
const MAX_METADATA_BYTES = 64 * 2 ** 20

/** How registries are queried. */
export interface RegistryAccess {
  readonly download: Download
  readonly signal: AbortSignal | undefined
  /** Digests that a lock file has for the archives of the package. */
  readonly hashes: readonly string[]
}

/** Validates that a registry's response has everything needed for an archive. */
export function archiveOf(
  found: Omit<FoundArchive, 'url' | 'integrity'> & {
    readonly url: string | undefined
    readonly integrity: Integrity | undefined
  },
  metadata: string,
  title: string,
): FoundArchive {
  const { url, integrity, version } = found
  const target = url === undefined || url === '' ? null : URL.parse(url, metadata)
  if (target === null) throw answerError(metadata)
  if (integrity === undefined) throw new ArchiveError(`the registry states no checksum of ${title} ${version}`)
  return { ...found, url: target.href, integrity }
}

export async function fetchText(url: string, access: RegistryAccess, accept?: string): Promise<string> {
  return retryDownload(() => readText(url, access, accept), access.signal)
}

export async function readText(url: string, { download, signal }: RegistryAccess, accept?: string): Promise<string> {
  const request = { url, maxBytes: MAX_METADATA_BYTES, signal, ...(accept === undefined ? {} : { accept }) }
  const pieces: Uint8Array[] = []
  for await (const piece of await download(request)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

export async function fetchJson(url: string, access: RegistryAccess, accept = 'application/json'): Promise<unknown> {
  return parseJson(await fetchText(url, access, accept), url)
}

export function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw answerError(url, cause)
  }
}

export function answerError(url: string, cause?: unknown): ArchiveError {
  return new ArchiveError(`${new URL(url).host} gave an invalid answer about it`, { cause })
}

/** A registry has the package, but not the wanted version. */
export class VersionMissingError extends ArchiveError {}

export function versionError(name: PackageName, newest: string | null): VersionMissingError {
  const hint = newest === null ? '' : `; the newest is ${newest}`
  const advice = newest === null ? 'name another package' : 'name a version that it has'
  return new VersionMissingError(`its registry has no version ${name.version ?? 'of it'}${hint}`, { advice })
}

export function isMissing(error: unknown): boolean {
  return error instanceof DownloadError && error.problem === 'missing'
}
