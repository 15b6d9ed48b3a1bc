import * as fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { closeLater } from '../../test/close-later.ts'
import { endOfContent, writeDirectory, writeTar, writeZip } from '../../test/trees/archive-bytes.ts'
import {
  ENDINGS,
  leftBehind,
  listTree,
  openTree,
  packFiles,
  run,
  stageFolder,
  writeFiles,
} from '../../test/trees/archive-stage.ts'
import type { OpenFile } from './archive-file.ts'
import { DEFAULT_ARCHIVE_LIMITS } from './archive-members.ts'
import { unpack } from './archive-unpack.ts'
import { readZipDirectory } from './zip-directory.ts'

let place = ''

beforeEach(() => {
  place = stageFolder()
})

const UNKNOWN = { version: null, stamp: null }
const LONG = `${'deep/'.repeat(30)}${'n'.repeat(120)}.md`

const FILES = {
  'pkg-1.0/readme.md': '# Tower\n\nLight the lamp at dusk.\n',
  'pkg-1.0/.gitignore': '*.log\n',
  'pkg-1.0/run.log': 'x',
  'pkg-1.0/node_modules/x/index.js': 'x',
  'pkg-1.0/lamp.png': 'x',
  'pkg-1.0/more.zip': 'PK',
  'pkg-1.0/ü/fog.md': '# Fog\n\nSound the horn.\n',
  [`pkg-1.0/${LONG}`]: '# Far\n\nFar below.\n',
}

describe.each(ENDINGS)('an archive of the programs of the system, %s', (ending) => {
  test('is a tree of its files, by the rules of folders', async () => {
    const archive = packFiles(join(place, `tower.${ending}`), FILES, (folder) => {
      fs.symlinkSync('/etc/passwd', join(folder, 'pkg-1.0/link.md'))
    })
    const tree = await openTree(archive)
    expect(tree).toMatchObject({ url: pathToFileURL(archive).href, name: `tower.${ending}` })
    expect(await listTree(tree)).toEqual({
      'readme.md': 'file',
      '.gitignore': 'file',
      'run.log': 'ignored *.log',
      'node_modules/': 'excluded node_modules',
      'lamp.png': 'not-text *.png',
      'more.zip': 'excluded archives',
      'ü/fog.md': 'file',
      'link.md': 'excluded symbolic links',
      [LONG]: 'file',
    })
    const url = `${tree.url}!/pkg-1.0/%C3%BC/fog.md`
    expect(tree.addressOf('ü/fog.md')).toBe(url)
    const read = await tree.read({ path: 'ü/fog.md', part: null }, UNKNOWN)
    expect(read).toMatchObject({ type: 'page', record: { page: { url, title: 'Fog' } }, bytes: 23 })
    const known = read.type === 'page' ? { version: read.version, stamp: read.stamp } : UNKNOWN
    expect(await tree.read({ path: 'ü/fog.md', part: null }, known)).toMatchObject({ type: 'unchanged' })
    expect(await tree.read({ path: LONG, part: null }, UNKNOWN)).toMatchObject({
      record: { page: { markdown: '# Far\n\nFar below.\n' } },
    })
    expect(await tree.read({ path: 'none.md', part: null }, known)).toEqual({ type: 'missing' })
    // Nor would anything be if this process were killed now.
    expect(leftBehind()).toEqual([])
  })

  test('is refused whole when it is cut off, and leaves nothing behind', async () => {
    const archive = packFiles(join(place, `tower.${ending}`), { 'a.md': '# A\n'.repeat(5000), 'b.md': 'b' })
    fs.truncateSync(archive, Math.floor(fs.statSync(archive).size * 0.6))
    await expect(openTree(archive)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      details: { problem: 'it is cut off', advice: 'get it anew, or name another' },
    })
    expect(leftBehind()).toEqual([])
  })

  test('is not read again while it is the same file', async () => {
    const archive = packFiles(join(place, `tower.${ending}`), { 'a.md': '# A\n\na\n' })
    const later = { now: () => Date.now() + 10_000 }
    const file = { path: 'a.md', part: null }
    const read = await (await openTree(archive, later)).read(file, UNKNOWN)
    const known = read.type === 'page' ? { version: read.version, stamp: read.stamp } : UNKNOWN
    expect(await (await openTree(archive, later)).read(file, known)).toMatchObject({ type: 'unchanged', bytes: 0 })
    packFiles(archive, { 'a.md': '# A\n\nanother\n' })
    expect(await (await openTree(archive, later)).read(file, known)).toMatchObject({ type: 'page' })
    // What was written a moment ago may be written once more, and look the same.
    expect(await (await openTree(archive, { now: () => 0 })).read(file, UNKNOWN)).toMatchObject({ stamp: null })
  })

  test('is refused when it is something else', async () => {
    const archive = join(place, `tower.${ending}`)
    fs.writeFileSync(archive, 'This is no archive, only some text that is long enough.\n'.repeat(40))
    await expect(openTree(archive)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    fs.writeFileSync(archive, '')
    await expect(openTree(archive)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  })

  test('is read from a folder in it', async () => {
    const archive = packFiles(join(place, `tower.${ending}`), {
      'docs/a.md': '# A\n\na\n',
      'b.md': 'b',
      'docs2/c.md': 'c',
    })
    const tree = await openTree(archive, {}, { path: 'docs/' })
    expect(await listTree(tree)).toEqual({ 'a.md': 'file' })
    expect(tree.addressOf('a.md')).toBe(`${tree.url}!/docs/a.md`)
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ type: 'page' })
    await expect(openTree(archive, {}, { path: 'none' })).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  })

  test('of content without end is refused before it is unpacked', async () => {
    const archive = packFiles(join(place, `bomb.${ending}`), {
      'a.md': '# A\n',
      'zeros.md': Buffer.alloc(24 * 2 ** 20),
    })
    const ratio = 'more than 200 times'
    // What is not packed takes its room on the disk already, and one member of a zip archive is not the others.
    if (ending === 'tar') expect(await listTree(await openTree(archive))).toHaveProperty('a.md', 'file')
    else if (ending === 'zip')
      expect(await listTree(await openTree(archive))).toEqual({
        'a.md': 'file',
        'zeros.md': `too-large ${ratio} its packed size`,
      })
    else {
      const problem = 'unpacked it is more than 200 times as large as packed'
      await expect(openTree(archive)).rejects.toMatchObject({ details: { problem } })
    }
    await expect(openTree(archive, { maxArchiveBytes: 2 ** 20 })).rejects.toMatchObject({
      details: { problem: 'unpacked it has more than 1048576 bytes (maxArchiveBytes)' },
    })
    expect(leftBehind()).toEqual([])
  })
})

const isLong = process.env['TEST_LONG'] === '1'

describe('an archive of very many members', () => {
  test.each(['tar.gz', 'zip'])(
    'is listed as far as there may be so many, %s',
    async (ending) => {
      const archive = join(place, `many.${ending}`)
      const members = (count: number) =>
        Array.from({ length: count }, (_, i) => ({ name: `docs/${i}.md`, content: 'x' }))
      fs.writeFileSync(
        archive,
        ending === 'zip' ? writeZip(members(50_000)) : gzipSync(writeTar(members(50_000)), { level: 1 }),
      )
      expect(Object.keys(await listTree(await openTree(archive)))).toHaveLength(50_000)
      if (!isLong) return
      fs.writeFileSync(
        archive,
        ending === 'zip' ? writeZip(members(1_000_000)) : gzipSync(writeTar(members(1_000_000)), { level: 1 }),
      )
      const problem = ending === 'zip' ? 'it has more than 250000 members' : /more than/
      await expect(openTree(archive)).rejects.toMatchObject({ details: { problem: expect.stringMatching(problem) } })
    },
    600_000,
  )

  test('that only says so is refused before its directory is read', async () => {
    const limits = { ...DEFAULT_ARCHIVE_LIMITS, maxEntries: 3 }
    await expect(readZipDirectory(await writeOpen(tellingOf(4)), limits)).rejects.toThrow('it has more than 3 members')
    await expect(readZipDirectory(await writeOpen(tellingOf(3)), limits)).rejects.toThrow('its directory is cut off')
  })

  test('that tells of fewer than there are is refused, not read in part', async () => {
    fs.writeFileSync(join(place, 'x.zip'), tellingOf(1))
    await expect(openTree(join(place, 'x.zip'))).rejects.toMatchObject({
      details: { problem: 'its directory is damaged' },
    })
    fs.writeFileSync(join(place, 'x.zip'), tellingOf(2))
    expect(await listTree(await openTree(join(place, 'x.zip')))).toEqual({ 'a.md': 'file', 'b.md': 'file' })
  })

  test('is refused by a directory that is larger than so many need', async () => {
    const zip = writeZip([{ name: `${'n'.repeat(300)}.md`, content: 'a' }])
    const limits = { ...DEFAULT_ARCHIVE_LIMITS, maxEntries: 1 }
    await expect(readZipDirectory(await writeOpen(zip), limits)).rejects.toThrow('its directory is too large')
    expect((await readZipDirectory(await writeOpen(zip), { ...limits, maxEntries: 2 })).files.size).toBe(1)
  })

  test('is refused where it is packed in very many parts', async () => {
    const nothing = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])
    const unpackAll = async (parts: number) => {
      for await (const _ of unpack(Readable.from(Array(parts).fill(nothing)), 'zstd', 200)) throw new Error('a byte')
    }
    await unpackAll(10_000)
    await expect(unpackAll(10_001)).rejects.toThrow('it is packed in more than 10000 parts')
  })
})

/** A zip archive of two members that tells of another number of them. */
function tellingOf(count: number): Buffer {
  const zip = writeZip(['a.md', 'b.md'].map((name) => ({ name, content: '# A\n' })))
  zip.writeUInt16LE(count, zip.length - 12)
  return zip
}

/** A file of these bytes, open until the test is over. */
async function writeOpen(bytes: Uint8Array): Promise<OpenFile> {
  fs.writeFileSync(join(place, 'file'), bytes)
  const handle = await fs.promises.open(join(place, 'file'))
  closeLater(() => handle.close())
  return { handle, size: bytes.length }
}

describe('a tar archive', () => {
  test('is read where it is packed in several parts, with some between them that say nothing', async () => {
    packFiles(join(place, 'x.tar'), { 'a.md': `# A\n\n${'a '.repeat(4000)}`, 'b.md': '# B\n\nb\n' })
    const bytes = fs.readFileSync(join(place, 'x.tar'))
    const parts = [bytes.subarray(0, 3000), bytes.subarray(3000, 9000), bytes.subarray(9000)]
    const nothing = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const packers = {
      'x.tar.zst': (part: Buffer) => zstdCompressSync(part),
      'x.tar.gz': (part: Buffer) => gzipSync(part),
    }
    for (const [name, packPart] of Object.entries(packers)) {
      const between = name.endsWith('zst') ? [nothing] : []
      fs.writeFileSync(join(place, name), Buffer.concat(parts.flatMap((part) => [...between, packPart(part)])))
      const tree = await openTree(join(place, name))
      expect(await listTree(tree)).toEqual({ 'a.md': 'file', 'b.md': 'file' })
      expect(await tree.read({ path: 'b.md', part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'B' } } })
    }
  })

  test.each(['ustar', 'gnu', 'posix', 'v7'])('is read in the format %s', async (format) => {
    const name = format === 'v7' ? 'short.md' : `${'folder/'.repeat(17)}${'n'.repeat(60)}.md`
    writeFiles(place, { [`x/${name}`]: '# Name\n\nfound\n' })
    run(join(place, 'x'), 'tar', `--format=${format}`, '-cf', '../x.tar', '.')
    const tree = await openTree(join(place, 'x.tar'))
    expect(await listTree(tree)).toEqual({ [name]: 'file' })
    expect(await tree.read({ path: name, part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'Name' } } })
  })

  test('leaves out what is no file, each for its reason', async () => {
    writeFiles(place, { 'x/a.md': '# A\n', 'x/twice.md': 'one' })
    const folder = join(place, 'x')
    fs.linkSync(join(folder, 'a.md'), join(folder, 'hard.md'))
    fs.symlinkSync('../../../etc', join(folder, 'soft'))
    run(folder, 'mkfifo', 'pipe.md')
    run(folder, 'tar', '-cf', '../x.tar', '--sort=name', 'a.md', 'hard.md', 'pipe.md', 'soft', 'twice.md')
    run(folder, 'tar', '-rf', '../x.tar', 'twice.md')
    run(folder, 'tar', '-rf', '../x.tar', '-P', '--transform=s,a.md,../../escape.md,', 'a.md')
    run(folder, 'tar', '-rf', '../x.tar', '-P', '--transform=s,a.md,/etc/absolute.md,', 'a.md')
    run(folder, 'tar', '-rf', '../x.tar', '--transform=s,a.md,a.md/below.md,', 'a.md')
    run(folder, 'gzip', '../x.tar')
    const before = fs.readdirSync(place)
    expect(await listTree(await openTree(join(place, 'x.tar.gz')))).toEqual({
      'a.md': 'excluded a file and a folder of one name',
      'a.md/below.md': 'file',
      'hard.md': 'excluded hard links',
      'pipe.md': 'not-text neither a file nor a folder',
      soft: 'excluded symbolic links',
      'twice.md': 'excluded several members of one name',
      '../../escape.md': 'bad-url its path leads out of the archive',
      '/etc/absolute.md': 'bad-url its path is absolute',
    })
    expect(fs.readdirSync(place)).toEqual(before)
  })

  test('with a file of holes leaves it out, and reads what follows', async () => {
    writeFiles(place, { 'x/b.md': '# B\n' })
    const file = fs.openSync(join(place, 'x/a.img.md'), 'w')
    // So many holes that they do not fit into one header.
    for (let i = 0; i < 60; i++) fs.writeSync(file, 'x'.repeat(4096), i * 2 ** 16)
    fs.closeSync(file)
    for (const format of ['gnu', 'posix']) {
      run(join(place, 'x'), 'tar', `--format=${format}`, '-S', '-cf', `../${format}.tar`, 'a.img.md', 'b.md')
      const listed = await listTree(await openTree(join(place, `${format}.tar`)))
      expect(listed['b.md']).toBe('file')
      expect(Object.values(listed)).toContain('not-text a file with holes')
    }
  })

  test('whose headers are damaged is refused', async () => {
    const archive = packFiles(join(place, 'x.tar'), { 'a.md': 'a'.repeat(600), 'b.md': 'b' })
    const bytes = fs.readFileSync(archive)
    const second = bytes.indexOf('./b.md') >= 0 ? bytes.indexOf('./b.md') : bytes.indexOf('b.md')
    bytes[second + 3] = 0x78
    fs.writeFileSync(archive, bytes)
    await expect(openTree(archive)).rejects.toMatchObject({ details: { problem: 'it is damaged' } })
  })
})

describe('what is said beside the members of a tar archive', () => {
  test('is obeyed where it tells their size', async () => {
    const tar = writeTar([
      { name: 'facts', content: '9 size=5\n', type: 'x' },
      { name: 'a.md', content: '# A\n\n', size: 0 },
      { name: 'b.md', content: '# B\n' },
    ])
    fs.writeFileSync(join(place, 'x.tar'), tar)
    const tree = await openTree(join(place, 'x.tar'))
    expect(await listTree(tree)).toEqual({ 'a.md': 'file', 'b.md': 'file' })
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ bytes: 5 })
  })

  test('is refused where it is very much', async () => {
    const withName = (length: number) =>
      writeTar([
        { name: 'long', content: `a.md\0${'x'.repeat(length - 5)}`, type: 'L' },
        { name: 'short', content: 'a' },
      ])
    fs.writeFileSync(join(place, 'x.tar'), withName(2 ** 20))
    expect(await listTree(await openTree(join(place, 'x.tar')))).toEqual({ 'a.md': 'file' })
    fs.writeFileSync(join(place, 'x.tar'), withName(2 ** 20 + 1))
    await expect(openTree(join(place, 'x.tar'))).rejects.toMatchObject({ details: { problem: 'it is damaged' } })
  })
})

describe('a zip archive', () => {
  test('is read with sizes behind its members, and with numbers of 64 bits', async () => {
    writeFiles(place, { 'x/a.md': '# Streamed\n\nyes\n' })
    const folder = join(place, 'x')
    run(folder, 'sh', '-c', 'zip -q - a.md | cat > ../streamed.zip')
    run(folder, 'zip', '-q', '-fz', '../large.zip', 'a.md')
    for (const archive of ['streamed.zip', 'large.zip']) {
      const tree = await openTree(join(place, archive))
      expect(await listTree(tree)).toEqual({ 'a.md': 'file' })
      expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ type: 'page', bytes: 16 })
    }
  })

  test('leaves out what is encrypted, and packed by methods that are not read', async () => {
    writeFiles(place, { 'x/a.md': '# A\n\na\n', 'x/b.md': '# B\n\nb\n', 'x/c.md': `# C\n\n${'c '.repeat(99)}` })
    run(join(place, 'x'), 'zip', '-q', '../x.zip', 'a.md')
    run(join(place, 'x'), 'zip', '-q', '-P', 'secret', '../x.zip', 'b.md')
    run(join(place, 'x'), 'zip', '-q', '-Z', 'bzip2', '../x.zip', 'c.md')
    expect(await listTree(await openTree(join(place, 'x.zip')))).toEqual({
      'a.md': 'file',
      'b.md': 'encrypted a password',
      'c.md': 'damaged packed by method 12, which is not read',
    })
  })

  test('whose members share their bytes is a bomb, and none of them is read', async () => {
    const zip = writeZip([{ name: '0.md', content: 'x'.repeat(2000) }])
    const places = Array.from({ length: 100 }, (_, i) => ({ name: `${i}.md`, content: 'x'.repeat(2000), offset: 0 }))
    const bomb = Buffer.concat([zip.subarray(0, endOfContent(zip)), writeDirectory(places, endOfContent(zip))])
    fs.writeFileSync(join(place, 'bomb.zip'), bomb)
    const listed = await listTree(await openTree(join(place, 'bomb.zip')))
    expect(new Set(Object.values(listed))).toEqual(new Set(['damaged shares its bytes with other members']))
    expect(Object.keys(listed)).toHaveLength(100)
  })

  test.each([
    ['a name', 30, 'its header and the directory of the archive differ'],
    ['a method', 8, 'its header and the directory of the archive differ'],
    ['a mark', 0, 'its header and the directory of the archive differ'],
    ['a checksum', 14, 'its header and the directory of the archive differ'],
    ['content', 36, 'its content is damaged'],
  ])('tells of a member that has another %s than the directory says', async (_what, at, detail) => {
    const zip = writeZip([{ name: 'a.md', content: '# A\n\nsome content\n' }])
    zip[at] = (zip[at] ?? 0) ^ 1
    fs.writeFileSync(join(place, 'x.zip'), zip)
    const tree = await openTree(join(place, 'x.zip'))
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({
      type: 'no-page',
      reason: 'damaged',
      detail,
    })
  })

  test('that says less than it holds gives no more', async () => {
    const zip = writeZip([{ name: 'a.md', content: 'x'.repeat(1000), size: 10 }])
    fs.writeFileSync(join(place, 'x.zip'), zip)
    const tree = await openTree(join(place, 'x.zip'))
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ detail: 'its content is damaged' })
  })

  test('leads nowhere by the names of its members', async () => {
    const names = ['../up.md', '/abs.md', 'back\\slash.md', 'nul\0.md', 'same.md', './same.md', 'ok.md']
    fs.writeFileSync(join(place, 'x.zip'), writeZip(names.map((name) => ({ name, content: '# X\n' }))))
    expect(await listTree(await openTree(join(place, 'x.zip')))).toEqual({
      '../up.md': 'bad-url its path leads out of the archive',
      '/abs.md': 'bad-url its path is absolute',
      'back\\slash.md': 'bad-url its name holds a backslash',
      'nul\u{fffd}.md': 'bad-url its name holds a zero byte',
      'same.md': 'excluded several members of one name',
      'ok.md': 'file',
    })
    expect(fs.readdirSync(place)).toEqual(['x.zip'])
  })

  test('is left alone when Pharos wrote it', async () => {
    const files = { 'manifest.llm.tsv': 'x' }
    await expect(openTree(packFiles(join(place, 'x.zip'), files))).rejects.toMatchObject({ code: 'SOURCE_IS_PACK' })
  })
})

test('an archive that changes while it is read proves nothing', async () => {
  const archive = packFiles(join(place, 'x.zip'), { 'a.md': '# A\n', 'b.md': '# B\n' })
  const tree = await openTree(archive)
  fs.writeFileSync(archive, 'something else')
  await expect(tree.read({ path: 'a.md', part: null }, UNKNOWN)).rejects.toMatchObject({
    code: 'SOURCE_UNREADABLE',
    details: { problem: 'it changed while it was read' },
  })
})

test('an archive that changes while it is opened proves nothing', async () => {
  const archive = packFiles(join(place, 'x.tar'), { 'a.md': '# A\n' })
  const { signal } = new AbortController()
  // Asked for before every piece.
  signal.throwIfAborted = () => fs.appendFileSync(archive, 'x')
  await expect(openTree(archive, {}, { signal })).rejects.toMatchObject({
    details: { problem: 'it changed while it was read' },
  })
})

test.each(ENDINGS)('whoever opens an archive can stop that, %s', async (ending) => {
  const archive = packFiles(join(place, `x.${ending}`), { 'a.md': '# A\n'.repeat(50_000) })
  const signal = AbortSignal.abort(new Error('enough'))
  const opened = openTree(archive, {}, { signal })
  // Of a zip archive only the directory is read.
  if (ending === 'zip') expect(await listTree(await opened)).toEqual({ 'a.md': 'file' })
  else await expect(opened).rejects.toThrow('enough')
  expect(leftBehind()).toEqual([])
})

test('what is called like an archive and is a folder, or is not there, is told so', async () => {
  writeFiles(place, { 'x.zip/a.md': '# A\n' })
  const tree = await openTree(join(place, 'x.zip'))
  expect(tree.url).toBe(`${pathToFileURL(place).href}/x.zip/`)
  await expect(openTree(join(place, 'none.zip'))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})

test('files of more bytes than may be read are listed, and not unpacked', async () => {
  for (const ending of ENDINGS) {
    const archive = packFiles(join(place, `x.${ending}`), { 'large.md': 'x'.repeat(2000), 'z.md': '# Z\n\nz\n' })
    const tree = await openTree(archive, { maxFileBytes: 1000 })
    expect(await tree.read({ path: 'large.md', part: null }, UNKNOWN)).toMatchObject({ reason: 'too-large' })
    expect(await tree.read({ path: 'z.md', part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'Z' } } })
  }
})
