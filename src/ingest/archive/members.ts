import { ArchiveError } from '../../core/archive/archive-error.ts'
import type { Refusal } from '../../crawl/ledger.ts'

/** Limits on the cost of opening an archive. A megabyte is 2²⁰ bytes. */
export interface ArchiveLimits {
  /** Limit of all unpacked bytes. @default 1 GB */
  readonly maxBytes: number
  /** Limit of members, including folders. */
  readonly maxEntries: number
  /** Limit of the compression ratio. */
  readonly maxRatio: number
  /** Limit of a member's folder depth. */
  readonly maxDepth: number
  /** Limit of a member's path, in bytes. */
  readonly maxNameBytes: number
}

/** The default limits. */
export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  maxBytes: 2 ** 30,
  // Three times as many as the Linux sources have.
  maxEntries: 250_000,
  // Deflate can reach 1032. Text compresses to a fifth, generated text to a fiftieth.
  maxRatio: 200,
  maxDepth: 64,
  maxNameBytes: 1024,
}

/** Allowed average length of a path in bytes, for the limit of all paths together. */
const MEAN_NAME_BYTES = 256

/** Content up to this size never counts as an archive bomb, however well it compresses: a file of zeros may be harmless. */
export const UNSUSPICIOUS_BYTES: number = 2 ** 20

/** Advice for an archive that exceeds a limit. */
export const UNPACK_ADVICE = 'unpack it, and name the folder'

/** A member that cannot be read. */
export class MemberError extends Error {
  override readonly name = 'MemberError'
  /** `unreadable`: reading failed, which does not prove that the member is damaged. */
  readonly reason: 'damaged' | 'unreadable'

  constructor(message: string, { reason = 'damaged', ...options }: MemberErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}

interface MemberErrorOptions extends ErrorOptions {
  readonly reason?: MemberError['reason']
}

/** A member as the archive lists it. */
export type FoundMember<T> =
  /** `position` is where the archive has the content of the file; `size` is its unpacked size in bytes. */
  | { readonly type: 'file'; readonly size: number; readonly position: T }
  | { readonly type: 'folder' | 'link' }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** A file of an archive. */
export interface ArchiveFile<T> {
  readonly size: number
  readonly position: T
}

/**
 * The members of an archive by path. A path that leads out of the archive is refused, and so are members that share a path, because
 * programs differ in which one they use.
 */
export class MemberList<T> {
  readonly files: Map<string, ArchiveFile<T>> = new Map()
  readonly links: Set<string> = new Set()
  readonly refused: Map<string, Refusal> = new Map()
  readonly #limits: ArchiveLimits
  /** Folders with content, whether the archive lists them or not. */
  readonly #folders = new Set<string>()
  #entries = 0
  #nameBytes = 0

  constructor(limits: ArchiveLimits) {
    this.#limits = limits
  }

  /** Adds a member by its name in bytes. @throws {ArchiveError} when there are too many members or folders */
  add(name: Uint8Array, found: FoundMember<T>): void {
    this.count(1)
    this.#nameBytes += name.length
    if (this.#nameBytes > this.#limits.maxEntries * MEAN_NAME_BYTES) {
      throw new ArchiveError('the names of its members are too long in total', { advice: UNPACK_ADVICE })
    }
    const judged = judgeName(name, this.#limits)
    if (judged.type === 'path') this.#noteFolders(judged.path)
    if (judged.type === 'refused') this.#refuse(judged.path, judged.refusal)
    else if (found.type === 'refused') this.#refuse(judged.path, found.refusal)
    else if (found.type === 'folder' || judged.path === '') return
    else if (this.#isKnown(judged.path)) this.#refuse(judged.path, refuse('excluded', 'several members of one name'))
    else if (found.type === 'file') this.files.set(judged.path, found)
    else this.links.add(judged.path)
  }

  /** Counts further members. */
  count(entries: number): void {
    this.#entries += entries
    const { maxEntries } = this.#limits
    if (this.#entries > maxEntries)
      throw new ArchiveError(`it has more than ${maxEntries} members`, { advice: UNPACK_ADVICE })
  }

  /** Counts the folders of a path, because a short name can imply many of them. */
  #noteFolders(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      // The parents of a known folder are known too.
      if (this.#folders.has(folder)) return
      this.#folders.add(folder)
    }
    const { maxEntries } = this.#limits
    if (this.#folders.size > maxEntries)
      throw new ArchiveError(`it has more than ${maxEntries} folders`, { advice: UNPACK_ADVICE })
  }

  #isKnown(path: string): boolean {
    return this.files.has(path) || this.links.has(path) || this.refused.has(path)
  }

  #refuse(path: string, refusal: Refusal): void {
    this.files.delete(path)
    this.links.delete(path)
    this.refused.set(path, this.refused.get(path) ?? refusal)
  }
}

/** Creates the refusal of a file. */
export function refuse(reason: Refusal['reason'], pattern: string | null): Refusal {
  return { reason, pattern, target: null }
}

type JudgedName =
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'refused'; readonly path: string; readonly refusal: Refusal }

/** Turns the name of a member into a path with slashes and without `.` segments, or refuses it. Nothing is ever written to the path. */
export function judgeName(name: Uint8Array, { maxDepth, maxNameBytes }: ArchiveLimits): JudgedName {
  const refused = (path: string, problem: string): JudgedName => {
    return { type: 'refused', path, refusal: refuse('bad-url', problem) }
  }
  const text = decodeName(name.subarray(0, maxNameBytes))
  if (name.length > maxNameBytes) return refused(`${text.slice(0, 200)}…`, `a path of more than ${maxNameBytes} bytes`)
  if (!Buffer.from(text).equals(name)) return refused(text, 'its name is not valid UTF-8')
  if (text.includes('\0')) return refused(text.replaceAll('\0', '\u{fffd}'), 'its name holds a zero byte')
  if (text.includes('\\')) return refused(text, 'its name holds a backslash')
  if (/^(?:\/|[a-z]:)/i.test(text)) return refused(text, 'its path is absolute')
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return refused(text, 'its path leads out of the archive')
  if (parts.length > maxDepth + 1) return refused(text, `more than ${maxDepth} folders deep`)
  return { type: 'path', path: parts.join('/') }
}

function decodeName(name: Uint8Array): string {
  // A byte order mark is part of a name.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(name)
}
