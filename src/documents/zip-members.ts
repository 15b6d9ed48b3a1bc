import { ArchiveError } from '../core/archive/archive-error.ts'
import { memorySource, parseZip, type ZipMember } from '../core/archive/zip-reader.ts'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'

/** The members of a zip-based document. Each is unpacked when it is read, and never to more than its declared size. */
export class ZipMembers {
  readonly #members: ReadonlyMap<string, ZipMember>
  #unpacked = 0

  /** @throws {DocumentError} when the bytes are not an archive, are encrypted, or have too many members */
  constructor(bytes: Uint8Array) {
    const members = listMembers(bytes)
    if (members.length > DOCUMENT_LIMITS.members) {
      throw new DocumentError('too-large', `it has ${members.length} members, more than ${DOCUMENT_LIMITS.members}`)
    }
    this.#members = new Map(members.map((member) => [member.name, member]))
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  /**
   * The bytes of a member; undefined when it does not exist.
   * @throws {DocumentError} when the member is damaged or compressed too strongly, or when all members read so far are too large together
   */
  read(name: string): Uint8Array | undefined {
    const member = this.#members.get(name)
    if (member === undefined) return undefined
    this.#admit(member)
    const bytes = new Uint8Array(member.size)
    let length = 0
    try {
      for (const piece of member.stream()) {
        bytes.set(piece, length)
        length += piece.length
      }
    } catch (error) {
      throw asDocumentError(error)
    }
    return bytes
  }

  #admit({ name, size, compressedSize }: ZipMember): void {
    const { unpackedBytes, ratio } = DOCUMENT_LIMITS
    this.#unpacked += size
    if (this.#unpacked > unpackedBytes) {
      throw new DocumentError('too-large', `its members unpack to more than ${unpackedBytes / MEGABYTE} MB`)
    }
    if (size > MEGABYTE && size > ratio * compressedSize) {
      throw new DocumentError('too-large', `${name} unpacks to more than ${ratio} times its size`)
    }
  }
}

const MEGABYTE = 1024 * 1024

function listMembers(bytes: Uint8Array): ZipMember[] {
  try {
    return parseZip(memorySource(bytes))
  } catch (error) {
    throw asDocumentError(error)
  }
}

function asDocumentError(error: unknown): unknown {
  if (!(error instanceof ArchiveError)) return error
  return new DocumentError(error.isEncrypted ? 'encrypted' : 'damaged', error.message, { cause: error })
}
