import { crc32, deflateRawSync } from 'node:zlib'

/** A member of an archive that is written byte by byte, so that its headers can be false. */
export interface RawMember {
  readonly name: string
  readonly content: string
  /** Size in the headers. @default the real size */
  readonly size?: number
  /** Offset in the central directory. @default the real offset */
  readonly offset?: number
  /** Entry type of a tar archive: `2` is a symbolic link. @default a file */
  readonly type?: string
  /** Target of a link in a tar archive. */
  readonly target?: string
}

/** A zip archive. */
export function writeZip(members: readonly RawMember[]): Buffer {
  const parts: Buffer[] = []
  const placed: RawMember[] = []
  let offset = 0
  for (const member of members) {
    const name = Buffer.from(member.name)
    const { packed, fields } = packMember(member)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    fields.copy(header, 4)
    header.writeUInt16LE(name.length, 26)
    placed.push({ ...member, offset })
    parts.push(header, name, packed)
    offset += header.length + name.length + packed.length
  }
  return Buffer.concat([...parts, writeDirectory(placed, offset)])
}

/** The central directory of a zip archive, which begins at `start`, and the end record. */
export function writeDirectory(members: readonly RawMember[], start: number): Buffer {
  const entries = members.flatMap((member) => {
    const name = Buffer.from(member.name)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    packMember(member).fields.copy(entry, 6)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(member.offset ?? 0, 42)
    return [entry, name]
  })
  const directory = Buffer.concat(entries)
  // More members than 16 bits can count need a ZIP64 end record.
  const end64 = Buffer.alloc(76)
  end64.writeUInt32LE(0x06064b50, 0)
  end64.writeBigUInt64LE(44n, 4)
  end64.writeBigUInt64LE(BigInt(members.length), 24)
  end64.writeBigUInt64LE(BigInt(members.length), 32)
  end64.writeBigUInt64LE(BigInt(directory.length), 40)
  end64.writeBigUInt64LE(BigInt(start), 48)
  end64.writeUInt32LE(0x07064b50, 56)
  end64.writeBigUInt64LE(BigInt(start + directory.length), 64)
  end64.writeUInt32LE(1, 72)
  const isLarge = members.length > 0xfffe
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(members.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(members.length, 0xffff), 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(start, 16)
  return Buffer.concat([directory, ...(isLarge ? [end64] : []), end])
}

/** The offset at which the directory of a zip archive without ZIP64 records begins. */
export function readDirectoryOffset(zip: Buffer): number {
  return zip.readUInt32LE(zip.length - 6)
}

/** The compressed content of a member, and the fields that both of its headers share. */
function packMember({ content, size = Buffer.byteLength(content) }: RawMember): {
  readonly packed: Buffer
  readonly fields: Buffer
} {
  const isTiny = content.length < 8
  const packed = isTiny ? Buffer.from(content) : deflateRawSync(content)
  const fields = Buffer.alloc(22)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(isTiny ? 0 : 8, 4)
  fields.writeUInt32LE(crc32(content), 10)
  fields.writeUInt32LE(packed.length, 14)
  fields.writeUInt32LE(size, 18)
  return { packed, fields }
}

/** A tar archive. */
export function writeTar(members: readonly RawMember[]): Buffer {
  const parts = members.map(({ name, content, size: claimedSize, type = '0', target = '' }) => {
    const size = Buffer.byteLength(content)
    const bytes = Buffer.alloc(512 + Math.ceil(size / 512) * 512)
    bytes.write(name, 0)
    bytes.write('0000644\0', 100)
    bytes.write(`${(claimedSize ?? size).toString(8).padStart(11, '0')}\0`, 124)
    bytes.write(`        ${type}${target}`, 148)
    bytes.write('ustar\x0000', 257)
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0)
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0`, 148)
    bytes.write(content, 512)
    return bytes
  })
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}
