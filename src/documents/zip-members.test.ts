import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { archive } from '../../test/documents/convert.ts'
import { writeZip } from '../core/archive/zip-writer.ts'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'
import { ZipMembers } from './zip-members.ts'

const LONG = process.env['TEST_LONG'] === '1'

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof DocumentError) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'none'
}

/** Offset of the last member's entry in the directory of an archive. */
function findLastEntry(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte, i) => byte === 0x50 && bytes[i + 2] === 1 && bytes[i + 3] === 2)
}

test('reads members by their names', () => {
  const members = new ZipMembers(archive({ 'a/b.xml': '<b/>', 'c.xml': '' }))
  expect(new TextDecoder().decode(members.read('a/b.xml'))).toBe('<b/>')
  expect([members.has('c.xml'), members.read('c.xml')?.length, members.read('d.xml')]).toEqual([true, 0, undefined])
})

test('explains why bytes are not a readable archive', () => {
  const whole = archive({ a: 'some text '.repeat(50) })
  expect(refusal(() => new ZipMembers(new Uint8Array(10)))).toBe('damaged: it is not a zip archive')
  expect(refusal(() => new ZipMembers(whole.subarray(0, whole.length - 40)))).toBe('damaged: it is not a zip archive')
  const locked = whole.slice()
  locked[findLastEntry(locked) + 8] = 1
  expect(refusal(() => new ZipMembers(locked))).toBe('encrypted: a is encrypted')
  const flipped = whole.slice()
  flipped[40] = 255 - (flipped[40] ?? 0)
  expect(refusal(() => new ZipMembers(flipped).read('a'))).toBe('damaged: a is damaged')
})

test('a member with an excessive compression ratio is refused before it is unpacked', () => {
  const bomb = zipSync({ bomb: new Uint8Array((LONG ? 512 : 2) * 1024 * 1024), fine: new Uint8Array(1024 * 1024) })
  const members = new ZipMembers(bomb)
  expect(refusal(() => members.read('bomb'))).toMatch(/^too-large: /)
  expect(new ZipMembers(bomb).read('fine')?.length).toBe(1024 * 1024)
})

test('the unpacked size of all members together is limited', () => {
  const size = DOCUMENT_LIMITS.unpackedBytes / 2
  const bytes = zipSync({ part: new Uint8Array(LONG ? size : 10) }, { level: 0 })
  // Without TEST_LONG the member has 10 bytes and only declares this size; the limit applies to declared sizes.
  const entry = findLastEntry(bytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (const field of [20, 24]) view.setUint32(entry + field, size, true)
  const members = new ZipMembers(bytes)
  const outcome = LONG ? 'none' : 'damaged: part is damaged: its header and the directory of the archive differ'
  expect([refusal(() => members.read('part')), refusal(() => members.read('part'))]).toEqual([outcome, outcome])
  expect(refusal(() => members.read('part'))).toBe('too-large: its members unpack to more than 256 MB')
})

test('an archive with too many members is refused', async () => {
  const count = LONG ? 100_000 : DOCUMENT_LIMITS.members + 1
  const content = new Uint8Array()
  const entries = Array.from({ length: count }, (_, i) => ({ name: `m${i}`, content, isStored: true }))
  const parts: Uint8Array[] = []
  for await (const part of writeZip(entries)) parts.push(part)
  expect(refusal(() => new ZipMembers(Buffer.concat(parts)))).toBe(
    `too-large: it has ${count} members, more than 20000`,
  )
})
