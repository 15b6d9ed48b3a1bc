import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chunkFolder, type FolderOptions } from './chunk-folder.ts'

let temp = ''
let root = ''
let cacheFolder = ''

beforeEach(() => {
  temp = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-cache-')))
  root = join(temp, 'docs')
  cacheFolder = join(temp, 'cache')
  write({ 'a.md': '# A\n\nOne.\n', 'b.md': '# B\n\nTwo.\n', 'sub/c.md': '# C\n\nThree.\u2028Four.\n' })
})

afterEach(() => {
  fs.rmSync(temp, { recursive: true })
})

/** Writes files with old times, as far as a program can set them; only the change time is current. */
function write(files: Readonly<Record<string, string>>, seconds = 1_000_000_000): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
    fs.utimesSync(join(root, path), seconds, seconds)
  }
}

/** A clock that runs ahead, so that the times of files are old enough to be trusted. */
const later = () => Date.now() + 10_000

async function run(options: FolderOptions = {}) {
  const { files, filesRead, filesCut } = await chunkFolder(root, { cacheFolder, build: 'this', now: later, ...options })
  const fresh = await chunkFolder(root, options)
  expect(files).toEqual(fresh.files)
  return { read: filesRead, cut: filesCut, files: files.map(({ file }) => file.path) }
}

function cacheFile(): string {
  const [name = 'none', ...others] = fs.readdirSync(cacheFolder)
  expect(others).toEqual([])
  return join(cacheFolder, name)
}

const ALL = ['a.md', 'b.md', 'sub/c.md']

describe('a second run', () => {
  beforeEach(async () => {
    expect(await run()).toEqual({ read: 3, cut: 3, files: ALL })
  })

  test('reads and chunks nothing when nothing changed', async () => {
    expect(await run()).toEqual({ read: 0, cut: 0, files: ALL })
    expect(await run({ concurrency: 1 })).toEqual({ read: 0, cut: 0, files: ALL })
  })

  test('a touched file is read but not chunked', async () => {
    write({ 'a.md': '# A\n\nOne.\n' }, 1_100_000_000)
    expect(await run()).toEqual({ read: 1, cut: 0, files: ALL })
  })

  test('a changed file is read and chunked, even if size and modification time are the same', async () => {
    write({ 'a.md': '# A\n\nSix.\n' })
    expect(await run()).toEqual({ read: 1, cut: 1, files: ALL })
  })

  test('a removed file disappears, a new one is added, and a renamed one does both', async () => {
    fs.rmSync(join(root, 'a.md'))
    write({ 'new.md': 'new' })
    fs.renameSync(join(root, 'b.md'), join(root, 'renamed.md'))
    expect(await run()).toEqual({ read: 2, cut: 2, files: ['new.md', 'renamed.md', 'sub/c.md'] })
  })

  test('other chunk sizes chunk everything again', async () => {
    expect(await run({ maxChars: 100, targetChars: 50 })).toEqual({ read: 3, cut: 3, files: ALL })
    expect(await run({ maxChunksPerFile: 1 })).toEqual({ read: 3, cut: 3, files: ALL })
  })

  test('lower limits apply to cached files', async () => {
    const { files } = await chunkFolder(root, { cacheFolder, build: 'this', maxFileBytes: 11 })
    expect(files.map(({ file, warnings }) => [file.path, warnings[0]?.code])).toEqual([
      ['a.md', undefined],
      ['b.md', undefined],
      ['sub/c.md', 'max_file_bytes'],
    ])
    const total = await chunkFolder(root, { cacheFolder, build: 'this', maxTotalBytes: 11 })
    expect(total.files.map(({ warnings }) => warnings[0]?.code)).toEqual([
      undefined,
      'max_total_bytes',
      'max_total_bytes',
    ])
  })

  test.each([
    ['cut off in the middle of a line', (bytes: Buffer) => bytes.subarray(0, bytes.length - 40), 1],
    ['cut off in the first line', (bytes: Buffer) => bytes.subarray(0, 20), 3],
    ['empty', () => Buffer.alloc(0), 3],
    ['binary', () => Buffer.from([0, 255, 10, 0, 254]), 3],
    ['followed by other JSON', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('null\n{}\n[1]\n')]), 0],
    ['changed in one letter of a text', (bytes: Buffer) => Buffer.from(bytes.toString().replace('Two.', 'Too.')), 1],
  ])('the damaged part of a cache that is %s is ignored', async (_, damage, readAgain) => {
    const file = cacheFile()
    fs.writeFileSync(file, damage(fs.readFileSync(file)))
    expect(await run()).toEqual({ read: readAgain, cut: readAgain, files: ALL })
    expect(await run()).toEqual({ read: 0, cut: 0, files: ALL })
  })

  test('another build chunks everything again', async () => {
    expect(await run({ build: 'other' })).toEqual({ read: 3, cut: 3, files: ALL })
  })

  test('only the owner can read the cache', () => {
    expect(fs.statSync(cacheFolder).mode & 0o777).toBe(0o700)
    expect(fs.statSync(cacheFile()).mode & 0o777).toBe(0o600)
  })

  test('a file that became a link is not taken from the cache', async () => {
    fs.renameSync(join(root, 'a.md'), join(temp, 'a.md'))
    fs.symlinkSync('../a.md', join(root, 'a.md'))
    expect(await run()).toEqual({ read: 0, cut: 0, files: ['b.md', 'sub/c.md'] })
  })
})

test('a file written just now is read again by the next run, even if it is unchanged', async () => {
  for (const _ of ['first', 'second']) expect((await run({ now: Date.now })).read).toBe(3)
})

test('a cache that cannot be written is skipped', async () => {
  fs.writeFileSync(cacheFolder, 'a file where a folder should be')
  expect(await run()).toEqual({ read: 3, cut: 3, files: ALL })
})

test('concurrent runs over one folder do not disturb each other', async () => {
  const runs = await Promise.all(
    Array.from({ length: 8 }, () => chunkFolder(root, { cacheFolder, build: 'this', now: later })),
  )
  for (const { files } of runs) expect(files).toEqual(runs[0]?.files)
  expect(await run()).toEqual({ read: 0, cut: 0, files: ALL })
  expect(fs.readdirSync(cacheFolder)).toHaveLength(1)
})

test('a program that runs from its sources caches nothing, because it has no build digest', async () => {
  for (const _ of ['first', 'second']) expect((await run({ build: undefined })).read).toBe(3)
  expect(fs.existsSync(cacheFolder)).toBe(false)
})
