import { gzipSync, zstdCompressSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { docx } from '../documents/written.ts'
import { type RawMember, readDirectoryOffset, writeDirectory, writeTar, writeZip } from '../trees/archive-bytes.ts'
import { isLong } from './bounded.ts'

/** A malicious archive. */
export interface HostileArchive {
  /** Creates the bytes on demand, because some archives are large. */
  readonly write: () => Uint8Array
  /** Expected state of each entry besides the good file, or the reason for refusing the whole archive. */
  readonly outcome: Readonly<Record<string, string>> | string
}

/** A valid file that must be indexed although the files beside it are malicious. */
export const GOOD: RawMember = { name: 'good.md', content: '# Good\n\nThe neighbour that must not be lost.\n' }

const MEGABYTE = 2 ** 20
const ZEROS = '\0'.repeat(20 * MEGABYTE)
const RATIO = 'it is more than 200 times as large when unpacked'

/** Malicious archives by their file names. */
export function hostileArchives(): Readonly<Record<string, HostileArchive>> {
  return {
    ...bombs(),
    ...nested(),
    ...hostileNames(),
    ...falseHeaders(),
    ...wrongExtensions(),
    ...(isLong ? crowds() : {}),
  }
}

function bombs(): Record<string, HostileArchive> {
  const bomb = [GOOD, { name: 'bomb.md', content: ZEROS }]
  return {
    'ratio.zip': {
      write: () => writeZip(bomb),
      outcome: { 'bomb.md': 'skipped too-large more than 200 times its packed size' },
    },
    'ratio.tar.gz': { write: () => gzipSync(writeTar(bomb)), outcome: RATIO },
    'ratio.tar.zst': { write: () => zstdCompressSync(writeTar(bomb)), outcome: RATIO },
    'overlap.zip': overlapping(),
    'total.zip': {
      write: () => writeZip([GOOD, ...[1, 2, 3, 4, 5].map((i) => ({ name: `${i}.md`, content: 'x', size: 2 ** 28 }))]),
      outcome: 'it has more than 1073741824 bytes when unpacked (maxArchiveBytes)',
    },
  }
}

/** An archive in which many members share the same few bytes (https://www.bamsoftware.com/hacks/zipbomb/). */
function overlapping(): HostileArchive {
  const kernel = { name: '0.md', content: 'x'.repeat(2000) }
  const zip = writeZip([GOOD, kernel])
  const start = readDirectoryOffset(zip)
  const offset = zip.indexOf(kernel.name) - 30
  const members = Array.from({ length: 100 }, (_, i) => ({ ...kernel, name: `${i}.md`, offset }))
  return {
    write: () => Buffer.concat([zip.subarray(0, start), writeDirectory([{ ...GOOD, offset: 0 }, ...members], start)]),
    outcome: Object.fromEntries(
      members.map(({ name }) => [name, 'skipped damaged shares its bytes with other members']),
    ),
  }
}

/** Like 42.zip: five layers of sixteen archives, with files of zeros in the lowest one. */
function nested(): Record<string, HostileArchive> {
  let layer = zipSync({ '0.md': Buffer.alloc(MEGABYTE) })
  for (let i = 0; i < 5; i++) {
    layer = zipSync(Object.fromEntries(Array.from({ length: 16 }, (_, k) => [`lib${k}.zip`, layer])))
  }
  const inner = ['lib.zip', 'lib.tar', 'lib.tar.gz', 'lib.tgz', 'lib.tar.zst', 'lib.7z', 'lib.jar', 'lib.gz']
  const bomb = docx('', { 'word/document.xml': `<a>${' '.repeat(20 * MEGABYTE)}</a>` })
  return {
    'nested.zip': {
      write: () =>
        zipSync({
          [GOOD.name]: Buffer.from(GOOD.content),
          'bomb.docx': bomb,
          ...Object.fromEntries(inner.map((name) => [name, layer])),
        }),
      outcome: {
        ...Object.fromEntries(inner.map((name) => [name, 'skipped excluded archives'])),
        'bomb.docx': 'skipped too-large word/document.xml unpacks to more than 200 times its size',
      },
    },
  }
}

const OUT = 'skipped bad-url its path leads out of the archive'
const ABSOLUTE = 'skipped bad-url its path is absolute'
const BACKSLASH = 'skipped bad-url its name holds a backslash'

/** Names that could lead out of the folder, and some that only look so. Nothing is written under any of these names. */
const NAMES: Readonly<Record<string, string>> = {
  '../outside/up.md': OUT,
  'a/../../outside/up.md': OUT,
  'a/b/../../../../../../../../tmp/up.md': OUT,
  '/outside.md': ABSOLUTE,
  '//host/share/x.md': ABSOLUTE,
  'C:/windows/x.md': ABSOLUTE,
  'c:x.md': ABSOLUTE,
  '..\\outside\\up.md': BACKSLASH,
  '\\\\host\\share.md': BACKSLASH,
  // Characters that look like path separators and dots, or that decoding turns into them.
  '．．/x.md': 'indexed',
  '..∕x.md': 'indexed',
  '%2e%2e%2fx.md': 'indexed',
  '~/x.md': 'indexed',
  'a\u{202e}dm.exe.md': 'indexed',
  '-rf.md': 'indexed',
  'CON.md': 'indexed',
}

function hostileNames(): Record<string, HostileArchive> {
  const members = Object.keys(NAMES).map((name) => ({ name, content: `# ${name}\n` }))
  const link = (name: string, type: string, target = '/etc/passwd') => ({ name, content: '', type, target })
  const twice = { name: 'twice.md', content: '# Twice\n' }
  return {
    'names.zip': {
      write: () => writeZip([GOOD, ...members, { name: 'nul\0.md', content: '# x\n' }]),
      outcome: { ...NAMES, 'nul\u{fffd}.md': 'skipped bad-url its name holds a zero byte' },
    },
    'names.tar': { write: () => writeTar([GOOD, ...members]), outcome: NAMES },
    'links.tar.gz': {
      write: () =>
        gzipSync(
          writeTar([
            GOOD,
            link('soft.md', '2'),
            link('hard.md', '1'),
            link('character.md', '3'),
            link('block.md', '4'),
            link('pipe.md', '6'),
            // A program that extracts links would write the next entry through this link.
            link('folder', '2', '../outside'),
            { name: 'folder/through.md', content: '# Through\n' },
            twice,
            twice,
          ]),
        ),
      outcome: {
        'soft.md': 'skipped excluded symbolic links',
        'hard.md': 'skipped excluded hard links',
        'character.md': 'skipped not-text neither a file nor a folder',
        'block.md': 'skipped not-text neither a file nor a folder',
        'pipe.md': 'skipped not-text neither a file nor a folder',
        folder: 'skipped excluded a file and a folder of one name',
        'folder/through.md': 'indexed',
        'twice.md': 'skipped excluded several members of one name',
      },
    },
  }
}

/** Archives with false headers. */
function falseHeaders(): Record<string, HostileArchive> {
  const zip = writeZip([GOOD])
  const start = readDirectoryOffset(zip)
  // The end record of a large archive that claims a million members.
  const many = writeDirectory(
    Array.from({ length: 65_536 }, () => ({ name: '', content: '' })),
    start,
  )
  const end = Buffer.from(many.subarray(-98))
  end.writeBigUInt64LE(1_000_000n, 32)
  end.writeBigUInt64LE(BigInt(zip.length - 22 - start), 40)
  end.writeBigUInt64LE(BigInt(zip.length - 22), 64)
  return {
    'claims.zip': {
      write: () => Buffer.concat([zip.subarray(0, -22), end]),
      outcome: 'it has more than 250000 members',
    },
    'size.tar': {
      write: () => writeTar([GOOD, { name: 'a.md', content: 'x', size: 2 ** 32 }]),
      outcome: 'it is cut off',
    },
    'record.tar': {
      write: () => writeTar([GOOD, { name: 'x', content: 'x', size: 2 ** 32, type: 'x' }]),
      outcome: 'it is damaged',
    },
    // A frame that claims to need two gigabytes for decompression.
    'window.tar.zst': { write: () => Buffer.from('28b52ffd00a8010000', 'hex'), outcome: 'it is damaged' },
  }
}

/** Files whose content differs from their extension. */
function wrongExtensions(): Record<string, HostileArchive> {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(2000, 7)])
  return {
    'png.zip': { write: () => png, outcome: 'it is not a zip archive' },
    'png.tar.gz': { write: () => png, outcome: 'it is not a tar archive' },
    'tar.zip': { write: () => writeTar([GOOD]), outcome: 'it is not a zip archive' },
    'zip.tgz': { write: () => writeZip([GOOD]), outcome: 'its name says tar, but its content is a zip archive' },
    'text.tar.zst': { write: () => Buffer.from(GOOD.content.repeat(50)), outcome: 'it is not a tar archive' },
    'gzip.tar.gz': {
      write: () => gzipSync(Buffer.from(GOOD.content.repeat(50))),
      outcome: 'it is not a tar archive',
    },
    'empty.zip': { write: () => Buffer.alloc(0), outcome: 'it is not a zip archive' },
  }
}

/** Archives with very many members or folders, or with very long names. */
function crowds(): Record<string, HostileArchive> {
  const many = (count: number, nameOf: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => ({ name: nameOf(i), content: '' }))
  const members = () => many(1_000_000, (i) => `docs/${i}.md`)
  const longNames = Array.from({ length: 200_000 }, (_, i) => [
    // GNU long name: the content is the name of the next member.
    { name: 'long', content: `${i}${'n'.repeat(900)}`, type: 'L' },
    { name: 'x', content: '' },
  ])
  return {
    'deep.tar.gz': {
      write: () => gzipSync(writeTar(many(200_000, (i) => `${i}/${'a/'.repeat(40)}x`))),
      outcome: 'it has more than 250000 folders',
    },
    'names.tar.gz': {
      write: () => gzipSync(writeTar(longNames.flat())),
      outcome: 'the names of its members are too long in total',
    },
    'million.zip': { write: () => writeZip(members()), outcome: 'it has more than 250000 members' },
    'million.tar.gz': {
      write: () => gzipSync(writeTar(members()), { level: 1 }),
      outcome: 'it has more than 250000 members',
    },
  }
}

/** Archives of a few files each, for truncation at many positions. */
export function wholeArchives(): Readonly<Record<string, Uint8Array>> {
  const files = [
    GOOD,
    { name: 'more.md', content: Array.from({ length: 3000 }, (_, i) => `Line ${i * i}.\n`).join('') },
  ]
  const tar = writeTar(files)
  return { zip: writeZip(files), tar, 'tar.gz': gzipSync(tar), 'tar.zst': zstdCompressSync(tar) }
}
