import * as fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { closeLater } from '../../../test/close-later.ts'
import { readDirectoryOffset, writeDirectory, writeTar, writeZip } from '../../../test/trees/archive-bytes.ts'
import {
  createTempFolder,
  EXTENSIONS,
  listLeftoverArchives,
  listTree,
  openTree,
  packFiles,
  run,
  writeFiles,
} from '../../../test/trees/archive-fixture.ts'
import type { OpenFile } from './file.ts'
import { DEFAULT_ARCHIVE_LIMITS } from './members.ts'
import { unpack } from './unpack.ts'
import { readZipDirectory } from './zip-members.ts'

let temp = ''

beforeEach(() => {
  temp = createTempFolder()
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

describe.each(EXTENSIONS)('the archive reader on a .%s file from a system program', (ending) => {
  test('lists the files of an archive by the rules of folders', async () => {
    const archive = packFiles(join(temp, `tower.${ending}`), FILES, (folder) => {
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
    // A killed process would leave nothing behind either.
    expect(listLeftoverArchives()).toEqual([])
  })

  test('refuses a truncated archive as a whole, and leaves nothing behind', async () => {
    const archive = packFiles(join(temp, `tower.${ending}`), { 'a.md': '# A\n'.repeat(5000), 'b.md': 'b' })
    fs.truncateSync(archive, Math.floor(fs.statSync(archive).size * 0.6))
    await expect(openTree(archive)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      details: { problem: 'it is cut off', advice: 'get the archive again, or name another one' },
    })
    expect(listLeftoverArchives()).toEqual([])
  })

  test('does not read an unchanged archive again', async () => {
    const archive = packFiles(join(temp, `tower.${ending}`), { 'a.md': '# A\n\na\n' })
    const later = { now: () => Date.now() + 10_000 }
    const file = { path: 'a.md', part: null }
    const read = await (await openTree(archive, later)).read(file, UNKNOWN)
    const known = read.type === 'page' ? { version: read.version, stamp: read.stamp } : UNKNOWN
    expect(await (await openTree(archive, later)).read(file, known)).toMatchObject({ type: 'unchanged', bytes: 0 })
    packFiles(archive, { 'a.md': '# A\n\nanother\n' })
    expect(await (await openTree(archive, later)).read(file, known)).toMatchObject({ type: 'page' })
    // A file written just now may change again and look the same.
    expect(await (await openTree(archive, { now: () => 0 })).read(file, UNKNOWN)).toMatchObject({ stamp: null })
  })

  test('refuses a file that is not an archive of the format that its name says', async () => {
    const archive = join(temp, `tower.${ending}`)
    fs.writeFileSync(archive, 'This is no archive, only some text that is long enough.\n'.repeat(40))
    await expect(openTree(archive)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    fs.writeFileSync(archive, '')
    await expect(openTree(archive)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  })

  test('reads a folder inside an archive', async () => {
    const archive = packFiles(join(temp, `tower.${ending}`), {
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

  test('refuses an archive bomb before it is unpacked', async () => {
    const archive = packFiles(join(temp, `bomb.${ending}`), {
      'a.md': '# A\n',
      'zeros.md': Buffer.alloc(24 * 2 ** 20),
    })
    const ratio = 'more than 200 times'
    // Uncompressed content already takes disk space, and members of a zip archive are compressed separately.
    if (ending === 'tar') expect(await listTree(await openTree(archive))).toHaveProperty('a.md', 'file')
    else if (ending === 'zip')
      expect(await listTree(await openTree(archive))).toEqual({
        'a.md': 'file',
        'zeros.md': `too-large ${ratio} its packed size`,
      })
    else {
      const problem = 'it is more than 200 times as large when unpacked'
      await expect(openTree(archive)).rejects.toMatchObject({ details: { problem } })
    }
    await expect(openTree(archive, { maxArchiveBytes: 2 ** 20 })).rejects.toMatchObject({
      details: { problem: 'it has more than 1048576 bytes when unpacked (maxArchiveBytes)' },
    })
    expect(listLeftoverArchives()).toEqual([])
  })
})

const runsLongTests = process.env['TEST_LONG'] === '1'

describe('the archive reader at its limits', () => {
  test.each(['tar.gz', 'zip'])(
    'lists the members of a .%s file up to the limit',
    async (ending) => {
      const archive = join(temp, `many.${ending}`)
      const members = (count: number) =>
        Array.from({ length: count }, (_, i) => ({ name: `docs/${i}.md`, content: 'x' }))
      fs.writeFileSync(
        archive,
        ending === 'zip' ? writeZip(members(50_000)) : gzipSync(writeTar(members(50_000)), { level: 1 }),
      )
      expect(Object.keys(await listTree(await openTree(archive)))).toHaveLength(50_000)
      if (!runsLongTests) return
      fs.writeFileSync(
        archive,
        ending === 'zip' ? writeZip(members(1_000_000)) : gzipSync(writeTar(members(1_000_000)), { level: 1 }),
      )
      const problem = ending === 'zip' ? 'it has more than 250000 members' : /more than/
      await expect(openTree(archive)).rejects.toMatchObject({ details: { problem: expect.stringMatching(problem) } })
    },
    600_000,
  )

  test('refuses a declared count above the limit before reading the directory', async () => {
    const limits = { ...DEFAULT_ARCHIVE_LIMITS, maxEntries: 3 }
    await expect(readZipDirectory(await writeOpen(declaring(4)), limits)).rejects.toThrow('it has more than 3 members')
    await expect(readZipDirectory(await writeOpen(declaring(3)), limits)).rejects.toThrow('its directory is cut off')
  })

  test('refuses a directory with more members than declared, instead of reading a part', async () => {
    fs.writeFileSync(join(temp, 'x.zip'), declaring(1))
    await expect(openTree(join(temp, 'x.zip'))).rejects.toMatchObject({
      details: { problem: 'its directory is damaged' },
    })
    fs.writeFileSync(join(temp, 'x.zip'), declaring(2))
    expect(await listTree(await openTree(join(temp, 'x.zip')))).toEqual({ 'a.md': 'file', 'b.md': 'file' })
  })

  test('refuses a directory that is too large for the allowed number of members', async () => {
    const zip = writeZip([{ name: `${'n'.repeat(300)}.md`, content: 'a' }])
    const limits = { ...DEFAULT_ARCHIVE_LIMITS, maxEntries: 1 }
    await expect(readZipDirectory(await writeOpen(zip), limits)).rejects.toThrow('its directory is too large')
    expect((await readZipDirectory(await writeOpen(zip), { ...limits, maxEntries: 2 })).files.size).toBe(1)
  })

  test('refuses an archive compressed in too many frames', async () => {
    const nothing = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])
    const unpackAll = async (parts: number) => {
      for await (const _ of unpack(Readable.from(Array(parts).fill(nothing)), 'zstd', 200)) throw new Error('a byte')
    }
    await unpackAll(10_000)
    await expect(unpackAll(10_001)).rejects.toThrow('it is packed in more than 10000 parts')
  })
})

/** A zip archive of two members that declares the given number of members. */
function declaring(count: number): Buffer {
  const zip = writeZip(['a.md', 'b.md'].map((name) => ({ name, content: '# A\n' })))
  zip.writeUInt16LE(count, zip.length - 12)
  return zip
}

/** A file with these bytes, open until the end of the test. */
async function writeOpen(bytes: Uint8Array): Promise<OpenFile> {
  fs.writeFileSync(join(temp, 'file'), bytes)
  const handle = await fs.promises.open(join(temp, 'file'))
  closeLater(() => handle.close())
  return { handle, size: bytes.length }
}

describe('the tar reader', () => {
  test('reads a compressed tar archive of several frames, with skippable frames between them', async () => {
    packFiles(join(temp, 'x.tar'), { 'a.md': `# A\n\n${'a '.repeat(4000)}`, 'b.md': '# B\n\nb\n' })
    const bytes = fs.readFileSync(join(temp, 'x.tar'))
    const parts = [bytes.subarray(0, 3000), bytes.subarray(3000, 9000), bytes.subarray(9000)]
    const nothing = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const packers = {
      'x.tar.zst': (part: Buffer) => zstdCompressSync(part),
      'x.tar.gz': (part: Buffer) => gzipSync(part),
    }
    for (const [name, packPart] of Object.entries(packers)) {
      const between = name.endsWith('zst') ? [nothing] : []
      fs.writeFileSync(join(temp, name), Buffer.concat(parts.flatMap((part) => [...between, packPart(part)])))
      const tree = await openTree(join(temp, name))
      expect(await listTree(tree)).toEqual({ 'a.md': 'file', 'b.md': 'file' })
      expect(await tree.read({ path: 'b.md', part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'B' } } })
    }
  })

  test.each(['ustar', 'gnu', 'posix', 'v7'])('reads a tar archive in the format %s', async (format) => {
    const name = format === 'v7' ? 'short.md' : `${'folder/'.repeat(17)}${'n'.repeat(60)}.md`
    writeFiles(temp, { [`x/${name}`]: '# Name\n\nfound\n' })
    run(join(temp, 'x'), 'tar', `--format=${format}`, '-cf', '../x.tar', '.')
    const tree = await openTree(join(temp, 'x.tar'))
    expect(await listTree(tree)).toEqual({ [name]: 'file' })
    expect(await tree.read({ path: name, part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'Name' } } })
  })

  test('skips members that are not files, each with its reason', async () => {
    writeFiles(temp, { 'x/a.md': '# A\n', 'x/twice.md': 'one' })
    const folder = join(temp, 'x')
    fs.linkSync(join(folder, 'a.md'), join(folder, 'hard.md'))
    fs.symlinkSync('../../../etc', join(folder, 'soft'))
    run(folder, 'mkfifo', 'pipe.md')
    run(folder, 'tar', '-cf', '../x.tar', '--sort=name', 'a.md', 'hard.md', 'pipe.md', 'soft', 'twice.md')
    run(folder, 'tar', '-rf', '../x.tar', 'twice.md')
    run(folder, 'tar', '-rf', '../x.tar', '-P', '--transform=s,a.md,../../escape.md,', 'a.md')
    run(folder, 'tar', '-rf', '../x.tar', '-P', '--transform=s,a.md,/etc/absolute.md,', 'a.md')
    run(folder, 'tar', '-rf', '../x.tar', '--transform=s,a.md,a.md/below.md,', 'a.md')
    run(folder, 'gzip', '../x.tar')
    const before = fs.readdirSync(temp)
    expect(await listTree(await openTree(join(temp, 'x.tar.gz')))).toEqual({
      'a.md': 'excluded a file and a folder of one name',
      'a.md/below.md': 'file',
      'hard.md': 'excluded hard links',
      'pipe.md': 'not-text neither a file nor a folder',
      soft: 'excluded symbolic links',
      'twice.md': 'excluded several members of one name',
      '../../escape.md': 'bad-url its path leads out of the archive',
      '/etc/absolute.md': 'bad-url its path is absolute',
    })
    expect(fs.readdirSync(temp)).toEqual(before)
  })

  test('skips a sparse file, and reads the members after it', async () => {
    writeFiles(temp, { 'x/b.md': '# B\n' })
    const file = fs.openSync(join(temp, 'x/a.img.md'), 'w')
    // Too many holes for one header.
    for (let i = 0; i < 60; i++) fs.writeSync(file, 'x'.repeat(4096), i * 2 ** 16)
    fs.closeSync(file)
    for (const format of ['gnu', 'posix']) {
      run(join(temp, 'x'), 'tar', `--format=${format}`, '-S', '-cf', `../${format}.tar`, 'a.img.md', 'b.md')
      const listed = await listTree(await openTree(join(temp, `${format}.tar`)))
      expect(listed['b.md']).toBe('file')
      expect(Object.values(listed)).toContain('not-text a file with holes')
    }
  })

  test('refuses a tar archive with damaged headers', async () => {
    const archive = packFiles(join(temp, 'x.tar'), { 'a.md': 'a'.repeat(600), 'b.md': 'b' })
    const bytes = fs.readFileSync(archive)
    const second = bytes.indexOf('./b.md') >= 0 ? bytes.indexOf('./b.md') : bytes.indexOf('b.md')
    bytes[second + 3] = 0x78
    fs.writeFileSync(archive, bytes)
    await expect(openTree(archive)).rejects.toMatchObject({ details: { problem: 'it is damaged' } })
  })
})

describe('extended headers of a tar archive', () => {
  test('an extended header overrides the size of a member', async () => {
    const tar = writeTar([
      { name: 'facts', content: '9 size=5\n', type: 'x' },
      { name: 'a.md', content: '# A\n\n', size: 0 },
      { name: 'b.md', content: '# B\n' },
    ])
    fs.writeFileSync(join(temp, 'x.tar'), tar)
    const tree = await openTree(join(temp, 'x.tar'))
    expect(await listTree(tree)).toEqual({ 'a.md': 'file', 'b.md': 'file' })
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ bytes: 5 })
  })

  test('an excessively large extended header is refused', async () => {
    const withName = (length: number) =>
      writeTar([
        { name: 'long', content: `a.md\0${'x'.repeat(length - 5)}`, type: 'L' },
        { name: 'short', content: 'a' },
      ])
    fs.writeFileSync(join(temp, 'x.tar'), withName(2 ** 20))
    expect(await listTree(await openTree(join(temp, 'x.tar')))).toEqual({ 'a.md': 'file' })
    fs.writeFileSync(join(temp, 'x.tar'), withName(2 ** 20 + 1))
    await expect(openTree(join(temp, 'x.tar'))).rejects.toMatchObject({ details: { problem: 'it is damaged' } })
  })
})

describe('the zip reader', () => {
  test('reads a zip archive with data descriptors and 64-bit numbers', async () => {
    writeFiles(temp, { 'x/a.md': '# Streamed\n\nyes\n' })
    const folder = join(temp, 'x')
    run(folder, 'sh', '-c', 'zip -q - a.md | cat > ../streamed.zip')
    run(folder, 'zip', '-q', '-fz', '../large.zip', 'a.md')
    for (const archive of ['streamed.zip', 'large.zip']) {
      const tree = await openTree(join(temp, archive))
      expect(await listTree(tree)).toEqual({ 'a.md': 'file' })
      expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ type: 'page', bytes: 16 })
    }
  })

  test('skips encrypted members and unsupported compression methods', async () => {
    writeFiles(temp, { 'x/a.md': '# A\n\na\n', 'x/b.md': '# B\n\nb\n', 'x/c.md': `# C\n\n${'c '.repeat(99)}` })
    run(join(temp, 'x'), 'zip', '-q', '../x.zip', 'a.md')
    run(join(temp, 'x'), 'zip', '-q', '-P', 'secret', '../x.zip', 'b.md')
    run(join(temp, 'x'), 'zip', '-q', '-Z', 'bzip2', '../x.zip', 'c.md')
    expect(await listTree(await openTree(join(temp, 'x.zip')))).toEqual({
      'a.md': 'file',
      'b.md': 'encrypted a password',
      'c.md': 'damaged packed by method 12, which is not read',
    })
  })

  test('refuses members that share their bytes, because the archive may be a bomb', async () => {
    const zip = writeZip([{ name: '0.md', content: 'x'.repeat(2000) }])
    const places = Array.from({ length: 100 }, (_, i) => ({ name: `${i}.md`, content: 'x'.repeat(2000), offset: 0 }))
    const bomb = Buffer.concat([
      zip.subarray(0, readDirectoryOffset(zip)),
      writeDirectory(places, readDirectoryOffset(zip)),
    ])
    fs.writeFileSync(join(temp, 'bomb.zip'), bomb)
    const listed = await listTree(await openTree(join(temp, 'bomb.zip')))
    expect(new Set(Object.values(listed))).toEqual(new Set(['damaged shares its bytes with other members']))
    expect(Object.keys(listed)).toHaveLength(100)
  })

  test.each([
    ['name', 30, 'its header and the directory of the archive differ'],
    ['compression method', 8, 'its header and the directory of the archive differ'],
    ['signature', 0, 'its header and the directory of the archive differ'],
    ['checksum', 14, 'its header and the directory of the archive differ'],
    ['content', 36, 'its content is damaged'],
  ])('refuses a member whose %s differs from the directory', async (_what, at, detail) => {
    const zip = writeZip([{ name: 'a.md', content: '# A\n\nsome content\n' }])
    zip[at] = (zip[at] ?? 0) ^ 1
    fs.writeFileSync(join(temp, 'x.zip'), zip)
    const tree = await openTree(join(temp, 'x.zip'))
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({
      type: 'no-page',
      reason: 'damaged',
      detail,
    })
  })

  test('a member never yields more than its declared size', async () => {
    const zip = writeZip([{ name: 'a.md', content: 'x'.repeat(1000), size: 10 }])
    fs.writeFileSync(join(temp, 'x.zip'), zip)
    const tree = await openTree(join(temp, 'x.zip'))
    expect(await tree.read({ path: 'a.md', part: null }, UNKNOWN)).toMatchObject({ detail: 'its content is damaged' })
  })

  test('names of members never lead out of the archive', async () => {
    const names = ['../up.md', '/abs.md', 'back\\slash.md', 'nul\0.md', 'same.md', './same.md', 'ok.md']
    fs.writeFileSync(join(temp, 'x.zip'), writeZip(names.map((name) => ({ name, content: '# X\n' }))))
    expect(await listTree(await openTree(join(temp, 'x.zip')))).toEqual({
      '../up.md': 'bad-url its path leads out of the archive',
      '/abs.md': 'bad-url its path is absolute',
      'back\\slash.md': 'bad-url its name holds a backslash',
      'nul\u{fffd}.md': 'bad-url its name holds a zero byte',
      'same.md': 'excluded several members of one name',
      'ok.md': 'file',
    })
    expect(fs.readdirSync(temp)).toEqual(['x.zip'])
  })

  test('refuses an archive that is a Pharos pack', async () => {
    const files = { 'manifest.llm.tsv': 'x' }
    await expect(openTree(packFiles(join(temp, 'x.zip'), files))).rejects.toMatchObject({ code: 'SOURCE_IS_PACK' })
  })
})

test('a read fails when the archive changes meanwhile', async () => {
  const archive = packFiles(join(temp, 'x.zip'), { 'a.md': '# A\n', 'b.md': '# B\n' })
  const tree = await openTree(archive)
  fs.writeFileSync(archive, 'something else')
  await expect(tree.read({ path: 'a.md', part: null }, UNKNOWN)).rejects.toMatchObject({
    code: 'SOURCE_UNREADABLE',
    details: { problem: 'it changed while it was read' },
  })
})

test('opening fails when the archive changes meanwhile', async () => {
  const archive = packFiles(join(temp, 'x.tar'), { 'a.md': '# A\n' })
  const { signal } = new AbortController()
  // The reader calls this method before it reads a piece.
  signal.throwIfAborted = () => fs.appendFileSync(archive, 'x')
  await expect(openTree(archive, {}, { signal })).rejects.toMatchObject({
    details: { problem: 'it changed while it was read' },
  })
})

test.each(EXTENSIONS)('the caller can abort opening an archive, %s', async (ending) => {
  const archive = packFiles(join(temp, `x.${ending}`), { 'a.md': '# A\n'.repeat(50_000) })
  const signal = AbortSignal.abort(new Error('enough'))
  const opened = openTree(archive, {}, { signal })
  // Opening a zip archive only reads its directory.
  if (ending === 'zip') expect(await listTree(await opened)).toEqual({ 'a.md': 'file' })
  else await expect(opened).rejects.toThrow('enough')
  expect(listLeftoverArchives()).toEqual([])
})

test('a folder named like an archive is opened as a folder, and a missing archive is reported', async () => {
  writeFiles(temp, { 'x.zip/a.md': '# A\n' })
  const tree = await openTree(join(temp, 'x.zip'))
  expect(tree.url).toBe(`${pathToFileURL(temp).href}/x.zip/`)
  await expect(openTree(join(temp, 'none.zip'))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})

test('files above the size limit are listed but not unpacked', async () => {
  for (const ending of EXTENSIONS) {
    const archive = packFiles(join(temp, `x.${ending}`), { 'large.md': 'x'.repeat(2000), 'z.md': '# Z\n\nz\n' })
    const tree = await openTree(archive, { maxFileBytes: 1000 })
    expect(await tree.read({ path: 'large.md', part: null }, UNKNOWN)).toMatchObject({ reason: 'too-large' })
    expect(await tree.read({ path: 'z.md', part: null }, UNKNOWN)).toMatchObject({ record: { page: { title: 'Z' } } })
  }
})
