import { crc32, inflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ArchiveError } from './archive-error.ts'
import { memorySource, parseZip as parseSource, type ZipMember } from './zip-reader.ts'
import { writeZip, type ZipEntry } from './zip-writer.ts'

const utf8 = new TextEncoder()

function parseZip(bytes: Uint8Array): ZipMember[] {
  return parseSource(memorySource(bytes))
}

async function zip(entries: Iterable<ZipEntry>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of writeZip(entries)) pieces.push(piece)
  return new Uint8Array(Buffer.concat(pieces))
}

function entry(name: string, content: string | readonly string[], isStored = false): ZipEntry {
  return {
    name,
    isStored,
    content: typeof content === 'string' ? utf8.encode(content) : content.map((piece) => utf8.encode(piece)),
  }
}

function readAll(bytes: Uint8Array): [string, string][] {
  return parseZip(bytes).map((member) => [member.name, Buffer.concat([...member.stream()]).toString()])
}

const SAMPLE = [
  entry('a.txt', 'hello '.repeat(50)),
  entry('dir/é😀.txt', ['x', '', 'yz'], true),
  entry('stored', 'as it is', true),
  entry('pieces', ['p'.repeat(100_000), 'q']),
  entry('empty', ''),
  entry('no pieces', []),
]

describe('an archive', () => {
  test('restores its entries, whole or in pieces', async () => {
    const bytes = await zip(SAMPLE)
    expect(readAll(bytes)).toEqual([
      ['a.txt', 'hello '.repeat(50)],
      ['dir/é😀.txt', 'xyz'],
      ['stored', 'as it is'],
      ['pieces', `${'p'.repeat(100_000)}q`],
      ['empty', ''],
      ['no pieces', ''],
    ])
    const streamed = parseZip(bytes).map((member) => Buffer.concat([...member.stream()]).toString())
    expect(streamed).toEqual(readAll(bytes).map(([, content]) => content))
  })

  test('has names in UTF-8, one fixed date, and content that zlib of Node can inflate', async () => {
    const view = Buffer.from(await zip(SAMPLE))
    const end = view.length - 22
    expect(view.readUInt32LE(end)).toBe(0x06054b50)
    expect(view.readUInt16LE(end + 10)).toBe(SAMPLE.length)
    const found: [string, string][] = []
    let at = view.readUInt32LE(end + 16)
    for (let i = 0; i < SAMPLE.length; i++) {
      expect(view.readUInt32LE(at)).toBe(0x02014b50)
      expect(view.readUInt16LE(at + 8)).toBe(0x0808)
      expect([view.readUInt16LE(at + 12), view.readUInt16LE(at + 14)]).toEqual([0, 0x21])
      const nameLength = view.readUInt16LE(at + 28)
      const local = view.readUInt32LE(at + 42)
      expect(view.readUInt32LE(local)).toBe(0x04034b50)
      expect([view.readUInt16LE(local + 10), view.readUInt16LE(local + 12)]).toEqual([0, 0x21])
      const start = local + 30 + view.readUInt16LE(local + 26) + view.readUInt16LE(local + 28)
      const packed = view.subarray(start, start + view.readUInt32LE(at + 20))
      const content = view.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed
      expect(crc32(content)).toBe(view.readUInt32LE(at + 16))
      expect(content.length).toBe(view.readUInt32LE(at + 24))
      found.push([view.toString('utf8', at + 46, at + 46 + nameLength), content.toString()])
      at += 46 + nameLength
    }
    expect(at).toBe(end)
    expect(found).toEqual(readAll(view))
  })

  test('an empty archive is valid', async () => {
    expect(parseZip(await zip([]))).toEqual([])
  })

  test('has the same bytes every time', async () => {
    expect(await zip(SAMPLE)).toEqual(await zip(SAMPLE))
  })

  test('may have more than 65,535 entries', async () => {
    const count = 65_537
    const bytes = await zip(Array.from({ length: count }, (_, i) => entry(`${i}`, '', true)))
    const view = Buffer.from(bytes)
    expect(view.readUInt16LE(view.length - 22 + 10)).toBe(0xffff)
    expect(view.readUInt32LE(view.length - 42)).toBe(0x07064b50)
    const end64 = Number(view.readBigUInt64LE(view.length - 34))
    expect(view.readUInt32LE(end64)).toBe(0x06064b50)
    expect(view.readBigUInt64LE(end64 + 32)).toBe(BigInt(count))
    const members = parseZip(bytes)
    expect([members.length, members.at(-1)?.name]).toEqual([count, '65536'])
  })

  test('may end with a comment, which may contain the end mark', async () => {
    const bytes = Buffer.from(await zip([entry('a', 'b')]))
    const comment = Buffer.concat([bytes.subarray(-22), Buffer.from(' is how an archive ends')])
    bytes.writeUInt16LE(comment.length, bytes.length - 2)
    expect(readAll(Buffer.concat([bytes, comment]))).toEqual([['a', 'b']])
  })

  test('can be read inside a larger buffer', async () => {
    const whole = Buffer.concat([Buffer.from('before'), await zip([entry('a', 'b')])])
    expect(readAll(whole.subarray(6))).toEqual([['a', 'b']])
  })
})

describe('damage', () => {
  test.each([[''], ['short'], ['no archive at all, but long enough to be one']])('%j is not an archive', (text) => {
    expect(() => parseZip(utf8.encode(text))).toThrow(new ArchiveError('it is not a zip archive'))
  })

  test('bytes after the end are refused: they could hold another archive', async () => {
    const bytes = await zip([entry('a', 'b')])
    expect(() => parseZip(Buffer.concat([bytes, Buffer.from('more')]))).toThrow(
      new ArchiveError('it is not a zip archive'),
    )
  })

  test('an end mark whose comment is not the rest of the bytes does not count', async () => {
    const [shown, meant] = [await zip([entry('shown', '1')]), await zip([entry('meant', '2')])]
    // The last mark states no comment, although bytes follow it.
    const bytes = Buffer.concat([meant, shown.subarray(-22), Buffer.from('!')])
    bytes.writeUInt16LE(23, meant.length - 2)
    expect(parseZip(bytes).map(({ name }) => name)).toEqual(['meant'])
  })

  test('members that share bytes are refused', async () => {
    const bytes = Buffer.from(await zip([entry('a', 'b', true), entry('c', 'd', true)]))
    const second = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]))
    bytes.writeUInt32LE(0, second + 42)
    expect(() => parseZip(bytes)).toThrow(/^[ac] shares its bytes with other members$/)
  })

  test('a directory that states fewer members than it has is refused', async () => {
    const bytes = Buffer.from(await zip([entry('a', 'b'), entry('c', 'd')]))
    bytes.writeUInt16LE(1, bytes.length - 12)
    expect(() => parseZip(bytes)).toThrow(new ArchiveError('its directory is damaged'))
  })

  test('a header that describes another member than the directory is refused', async () => {
    const bytes = Buffer.from(await zip([entry('a', 'b', true)]))
    bytes.write('x', 30)
    expect(() => readAll(bytes)).toThrow('a is damaged: its header and the directory of the archive differ')
  })

  test('an archive cut off anywhere is refused', async () => {
    const bytes = await zip([entry('a.txt', 'hello '.repeat(20)), entry('b', 'stored', true)])
    for (let length = 0; length < bytes.length; length++) {
      expect(() => readAll(bytes.subarray(0, length))).toThrow(ArchiveError)
    }
  })

  test('a flipped bit never gives other content', async () => {
    const bytes = await zip([entry('a.txt', 'hello '.repeat(20)), entry('b', 'stored', true)])
    const contents = readAll(bytes).map(([, content]) => content)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Uint8Array.from(bytes)
      changed[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      try {
        const read = readAll(changed).map(([, content]) => content)
        expect(contents.slice(0, read.length)).toEqual(read)
      } catch (error) {
        expect(error).toBeInstanceOf(ArchiveError)
      }
    }
  })

  test.each([
    ['is encrypted', 8, 0x09, 'a is encrypted'],
    ['uses another compression method', 10, 12, 'a is compressed with method 12, which is not supported'],
    ['lies outside the archive', 44, 0x7f, 'a is cut off'],
    ['is longer than the directory says', 24, 1, 'a is damaged'],
  ])('an entry that %s is refused', async (_, field, value, message) => {
    const bytes = await zip([entry('a', 'text', true)])
    const directory = Buffer.from(bytes).readUInt32LE(bytes.length - 6)
    bytes[directory + field] = value
    const isEncrypted = message === 'a is encrypted'
    expect(() => readAll(bytes)).toThrow(new ArchiveError(message, { isEncrypted }))
  })
})
