import type { Refusal } from '../crawl/ledger.ts'

/** What an archive may cost whoever opens it. A megabyte is 2²⁰ bytes. */
export interface ArchiveLimits {
  /** Most bytes that all of its content may have when it is unpacked. @default 1 GB */
  readonly maxBytes: number
  /** Most members, folders among them. */
  readonly maxEntries: number
  /** How many times larger than packed its content may be. */
  readonly maxRatio: number
  /** Most folders that a member may be below the top. */
  readonly maxDepth: number
  /** Most bytes in the path of a member. */
  readonly maxNameBytes: number
}

/** What holds unless somebody says otherwise. */
export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  maxBytes: 2 ** 30,
  // Three times the sources of Linux.
  maxEntries: 250_000,
  // Deflate reaches 1032. Text is packed to a fifth, generated text to a fiftieth.
  maxRatio: 200,
  maxDepth: 64,
  maxNameBytes: 1024,
}

/** Bytes of the path of a member, for all members together: so long are few of them. */
const NAME_BYTES_EACH = 256

/** What is small is never a bomb, however well it is packed: a file of zeros is. */
export const UNSUSPICIOUS_BYTES: number = 2 ** 20

/** Says that an archive cannot be used, in words that follow "cannot be used: ". */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  /** What to do about it. */
  readonly advice: string

  constructor(message: string, { advice = GET_ANEW, ...options }: AdvisedOptions = {}) {
    super(message, options)
    this.advice = advice
  }
}

interface AdvisedOptions extends ErrorOptions {
  readonly advice?: string | undefined
}

const GET_ANEW = 'get it anew, or name another'
/** What is said about an archive that cannot be opened as what it is called. */
export const READ_ARCHIVES =
  'archives that are read end in .zip, .tar, .tar.gz, .tgz or .tar.zst; unpack it, and name the folder'
/** What is said about an archive that is too much. */
export const UNPACK_IT = 'unpack it, and name the folder'

/** What is said of an archive that ends too early. */
export function cutOff(cause?: unknown): ArchiveError {
  return new ArchiveError('it is cut off', { cause })
}

/** What is said of an archive that makes no sense. */
export function damaged(cause?: unknown): ArchiveError {
  return new ArchiveError('it is damaged', { cause })
}

/** What is said of an archive that holds too much. */
export function tooLarge(maxBytes: number): ArchiveError {
  const advice = 'allow more with maxArchiveBytes, or name another'
  return new ArchiveError(`unpacked it has more than ${maxBytes} bytes (maxArchiveBytes)`, { advice })
}

/** Says that a member cannot be read: it is damaged, or whoever reads it failed, which says nothing about it. */
export class MemberError extends Error {
  override readonly name = 'MemberError'
  readonly reason: 'damaged' | 'unreadable'

  constructor(message: string, { reason = 'damaged', ...options }: MemberErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}

interface MemberErrorOptions extends ErrorOptions {
  readonly reason?: MemberError['reason']
}

/** A member as its archive tells it. */
export type FoundMember<T> =
  /** `place` is where its content is; `size` its bytes when it is unpacked. */
  | { readonly type: 'file'; readonly size: number; readonly place: T }
  | { readonly type: 'folder' | 'link' }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** A file of an archive. */
export interface ArchiveFile<T> {
  readonly size: number
  readonly place: T
}

/**
 * The members of an archive, by their paths. What could lead out of it, or stand for two things, is refused: nobody could say which of
 * two files of one name another program would take.
 */
export class MemberList<T> {
  readonly files: Map<string, ArchiveFile<T>> = new Map()
  readonly links: Set<string> = new Set()
  readonly refused: Map<string, Refusal> = new Map()
  readonly #limits: ArchiveLimits
  /** Folders that hold something, whether the archive tells of them or not. */
  readonly #folders = new Set<string>()
  #entries = 0
  #nameBytes = 0

  constructor(limits: ArchiveLimits) {
    this.#limits = limits
  }

  /** Takes a member by its name as bytes. @throws {ArchiveError} when there are too many, or too many folders */
  add(name: Uint8Array, found: FoundMember<T>): void {
    this.count(1)
    this.#nameBytes += name.length
    if (this.#nameBytes > this.#limits.maxEntries * NAME_BYTES_EACH) {
      throw new ArchiveError('the names of its members are too long for so many', { advice: UNPACK_IT })
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

  /** Notes that there are so many members more. */
  count(entries: number): void {
    this.#entries += entries
    const { maxEntries } = this.#limits
    if (this.#entries > maxEntries)
      throw new ArchiveError(`it has more than ${maxEntries} members`, { advice: UNPACK_IT })
  }

  /** A few bytes may be the name of a file that is many folders deep. */
  #noteFolders(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      // Those above it are known as well.
      if (this.#folders.has(folder)) return
      this.#folders.add(folder)
    }
    const { maxEntries } = this.#limits
    if (this.#folders.size > maxEntries)
      throw new ArchiveError(`it has more than ${maxEntries} folders`, { advice: UNPACK_IT })
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

/** Why something in an archive is left out. */
export function refuse(reason: Refusal['reason'], pattern: string): Refusal {
  return { reason, pattern, target: null }
}

type JudgedName =
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'refused'; readonly path: string; readonly refusal: Refusal }

/** The path that a name stands for: with slashes, without `.`, below the top. Nothing is ever written under it. */
export function judgeName(name: Uint8Array, { maxDepth, maxNameBytes }: ArchiveLimits): JudgedName {
  const refused = (path: string, why: string): JudgedName => {
    return { type: 'refused', path, refusal: refuse('bad-url', why) }
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
