import { ArchiveError } from '../../core/archive/archive-error.ts'
import type { PackageName } from '../../core/url/package-url.ts'
import { type Download, DownloadError } from '../../library/ports/download.ts'
import type { Integrity } from '../archive/source.ts'
import { retryDownload } from '../retry-download.ts'
import type { FoundArchive } from './package-archive.ts'

/** Size limit of a package's metadata; the largest packages have tens of megabytes. */
const MAX_METADATA_BYTES = 64 * 2 ** 20

/** How registries are queried. */
export interface RegistryAccess {
  readonly download: Download
  readonly signal: AbortSignal | undefined
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
  const target = url === undefined ? null : URL.parse(url, metadata)
  if (target === null) throw answerError(metadata)
  if (integrity === undefined) throw new ArchiveError(`the registry states no checksum of ${title} ${version}`)
  return { ...found, url: target.href, integrity }
}

/** Digest algorithms, strongest first. */
const ALGORITHMS = ['sha512', 'sha384', 'sha256', 'sha1'] as const

/** The strongest of several digests: `sha512-<base64>`, separated by spaces (https://www.w3.org/TR/SRI/). */
export function readSri(text: string | undefined): Integrity | undefined {
  const parts = (text ?? '').split(/\s+/)
  for (const algorithm of ALGORITHMS) {
    const found = parts.find((part) => part.startsWith(`${algorithm}-`))?.slice(algorithm.length + 1)
    if (found !== undefined)
      return readHex(algorithm, Buffer.from(found.replace(/\?.*$/, ''), 'base64').toString('hex'))
  }
  return undefined
}

/** Number of hexadecimal digits of each digest. */
const DIGEST_LENGTHS = { sha512: 128, sha384: 96, sha256: 64, sha1: 40 } as const

export function readHex(algorithm: Integrity['algorithm'], text: string | undefined): Integrity | undefined {
  const digest = text?.toLowerCase() ?? ''
  return new RegExp(`^[0-9a-f]{${DIGEST_LENGTHS[algorithm]}}$`).test(digest) ? { algorithm, digest } : undefined
}

/** The base URL of a registry without a trailing slash. Cargo writes `sparse+` before that of an index. */
export function baseOf(registry: string): string {
  return registry.replace(/^(?:sparse|simple)\+/, '').replace(/\/+$/, '')
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

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** An own property of foreign JSON. */
export function fieldOf(value: unknown, key: string): unknown {
  const record = asRecord(value)
  return Object.hasOwn(record, key) ? record[key] : undefined
}

export function textOf(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key)
  return typeof found === 'string' && found !== '' ? found : undefined
}
