import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import { createPack } from '../core/pack/pack.ts'
import { chunkFolder, type FolderOptions } from './chunk-folder.ts'

let root = ''

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-folder-')))
})

afterEach(() => {
  fs.rmSync(root, { recursive: true })
})

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
  }
}

async function chunk(options: FolderOptions = {}) {
  const pack = createPack((await chunkFolder(root, options)).files)
  return {
    read: pack.files.map((file) => file.path),
    warnings: pack.warnings.map(({ path, code, message }) => `${path} ${code}: ${message}`),
  }
}

describe('folder limits', () => {
  test('a file above max_file_bytes is left out and does not count towards the total', async () => {
    write({ 'a.md': 'x'.repeat(100), 'b.md': 'x'.repeat(11), 'c.md': 'x'.repeat(10) })
    expect(await chunk({ maxFileBytes: 10, maxTotalBytes: 10 })).toEqual({
      read: ['c.md'],
      warnings: [
        'a.md max_file_bytes: left out: 100 bytes, more than 10 (max_file_bytes)',
        'b.md max_file_bytes: left out: 11 bytes, more than 10 (max_file_bytes)',
      ],
    })
  })

  test('a file beyond max_total_bytes is left out, but a later one that fits is not', async () => {
    write({ 'a.md': 'x'.repeat(60), 'b.md': 'x'.repeat(50), 'c.md': 'x'.repeat(40), 'd.md': 'x' })
    expect(await chunk({ maxTotalBytes: 100 })).toEqual({
      read: ['a.md', 'c.md'],
      warnings: [
        'b.md max_total_bytes: left out: with its 50 bytes the sum would exceed 100 (max_total_bytes)',
        'd.md max_total_bytes: left out: with its 1 bytes the sum would exceed 100 (max_total_bytes)',
      ],
    })
  })

  test('max_file_bytes is named for a file above both limits', async () => {
    write({ 'a.md': 'x'.repeat(60), 'b.md': 'x'.repeat(50) })
    const { warnings } = await chunk({ maxFileBytes: 20, maxTotalBytes: 10 })
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual(['a.md max_file_bytes', 'b.md max_file_bytes'])
  })

  test('files beyond a limit are not read', async () => {
    write({ 'a.md': 'x'.repeat(60), 'b.md': 'x'.repeat(50), 'c.md': 'x'.repeat(500) })
    const { filesRead } = await chunkFolder(root, { maxFileBytes: 100, maxTotalBytes: 80, concurrency: 1 })
    expect(filesRead).toBe(1)
  })

  test('a file is truncated after max_chunks_per_file', async () => {
    write({ 'a.md': '# A\n\na\n\n# B\n\nb\n\n# C\n\nc\n', 'b.md': '# A\n\na\n' })
    const { files } = await chunkFolder(root, { maxChunksPerFile: 2 })
    expect(files.map(({ chunks, warnings }) => [chunks.length, warnings.map(({ code }) => code)])).toEqual([
      [2, ['max_chunks_per_file']],
      [1, []],
    ])
  })

  test('a file beyond max_total_chunks is left out, but a later one that fits is not', async () => {
    write({ 'a.md': '# A\n# B\n', 'b.md': '# A\n# B\n', 'c.md': '# A\n', 'd.md': '# A\n' })
    expect(await chunk({ maxTotalChunks: 3 })).toEqual({
      read: ['a.md', 'c.md'],
      warnings: [
        'b.md max_total_chunks: left out: with its 2 chunks the sum would exceed 3 (max_total_chunks)',
        'd.md max_total_chunks: left out: with its 1 chunks the sum would exceed 3 (max_total_chunks)',
      ],
    })
  })

  test('an empty file has no chunks and no warning', async () => {
    write({ 'a.md': '', 'b.md': 'b' })
    expect(await chunk()).toEqual({ read: ['a.md', 'b.md'], warnings: [] })
  })
})

describe('folder options', () => {
  test.each([
    [{ concurrency: 0 }, 'Expected `concurrency` to be a whole number from 1 up, got `0` (number)'],
    [{ concurrency: 1.5 }, 'Expected `concurrency` to be a whole number from 1 up, got `1.5` (number)'],
    [{ maxFileBytes: Number.NaN }, 'Expected `maxFileBytes` to be a whole number from 1 up, got `NaN` (number)'],
    [{ maxTotalBytes: -1 }, 'Expected `maxTotalBytes` to be a whole number from 1 up, got `-1` (number)'],
    [{ maxChunksPerFile: 0 }, 'Expected `maxChunksPerFile` to be a whole number from 1 up, got `0` (number)'],
    [{ maxChars: 0 }, 'Expected `maxChars` to be a whole number from 1 up, got `0` (number)'],
    // Values from callers without types.
    [
      { concurrency: '8' as unknown as number },
      'Expected `concurrency` to be a whole number from 1 up, got `8` (string)',
    ],
  ])('%o is refused before anything is read', async (options, message) => {
    await expect(chunkFolder(root, options)).rejects.toThrow(new TypeError(message))
  })
})

test.each([1, 3, 16])('reading %i files ahead gives the same result', async (concurrency) => {
  const names = Array.from({ length: 60 }, (_, i) => `${i % 7}/${i}.md`)
  write(Object.fromEntries(names.map((name, i) => [name, `# ${name}\n\n${'word '.repeat((i * 37) % 200)}\n`])))
  const limits = { maxFileBytes: 900, maxTotalBytes: 15_000 }
  const one = await chunkFolder(root, { ...limits, concurrency: 1 })
  const many = await chunkFolder(root, { ...limits, concurrency })
  expect(new Set(one.files.flatMap(({ warnings }) => warnings.map(({ code }) => code)))).toEqual(
    new Set(['max_file_bytes', 'max_total_bytes']),
  )
  expect(many.files).toEqual(one.files)
})

test('reports progress after every file', async () => {
  write({ 'a.md': 'a', 'b.md': '# A\n\na\n\n# B\n\nb\n', 'c.bin': '' })
  const seen: unknown[] = []
  await chunkFolder(root, { onProgress: (progress) => seen.push(progress) })
  expect(seen).toEqual([
    { done: 1, total: 2, chunks: 1, path: 'a.md' },
    { done: 2, total: 2, chunks: 3, path: 'b.md' },
  ])
})

test('reports the line of a credential, but never its text', async () => {
  const key = `AKIA${'Q7RT2MXZ5WBN3KVP'}`
  const password = 'correct-horse-battery'
  write({ 'a.env': `# settings\nAWS=${key}\npassword = "${password}"\n`, 'b.md': 'nothing to hide' })
  const { warnings } = await chunk()
  expect(warnings).toEqual([
    'a.env secret: line 2 looks like an AWS access key',
    'a.env secret: line 3 looks like a password or key',
  ])
})

test('an abort stops the run with its reason', async () => {
  write(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}.md`, 'a'])))
  const controller = new AbortController()
  const reason = new PharosError('INTERRUPTED')
  const seen: string[] = []
  const stopped = chunkFolder(root, {
    signal: controller.signal,
    onProgress: ({ path }) => {
      seen.push(path)
      if (seen.length === 3) controller.abort(reason)
    },
  })
  await expect(stopped).rejects.toBe(reason)
  expect(seen).toHaveLength(3)
})

test('uses the last state of a constantly changing file, with a warning', async () => {
  write({ 'a.md': 'steady', 'b.log': 'x'.repeat(4_000_000) })
  const place = JSON.stringify(join(root, 'b.log'))
  const program = `const file = fs.openSync(${place}, 'r+'); for (;;) fs.writeSync(file, 'y', Math.random() * 4e6 | 0)`
  const writer = spawn(process.execPath, ['--eval', program])
  try {
    const warnings: string[] = []
    const giveUp = Date.now() + 30_000
    // The writer process needs a moment to start.
    while (warnings.length === 0 && Date.now() < giveUp) warnings.push(...(await chunk()).warnings)
    expect(warnings).toEqual(['b.log changed: changed while it was read; this is the last state that was read'])
  } finally {
    writer.kill('SIGKILL')
  }
})
