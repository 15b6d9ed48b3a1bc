import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPack, type Pack } from '../core/pack/pack.ts'
import { chunkFolder } from './chunk-folder.ts'
import { readPack } from './pack-input.ts'
import { leaveOutChangedImages, writePack, writePacks } from './pack-output.ts'
import { nodeSha256 } from './sha256.ts'

let temp = ''
let root = ''

beforeEach(() => {
  temp = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-output-')))
  root = join(temp, 'docs')
  write({ 'docs/a.md': '# A\n\nOne.\n', 'docs/dot.png': 'not really an image' })
})

afterEach(() => {
  fs.rmSync(temp, { recursive: true })
})

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(temp, path)), { recursive: true })
    fs.writeFileSync(join(temp, path), content)
  }
}

async function pack(): Promise<Pack> {
  return createPack((await chunkFolder(root)).files)
}

/** The files beside the source. */
function listOutputs(): string[] {
  return fs.readdirSync(temp).filter((name) => name !== 'docs')
}

/** The id of a process that has exited. */
function deadProcess(): number {
  return spawnSync('true').pid
}

const HOST = nodeSha256(hostname()).slice(0, 8)

/** Changes that can happen to an image. */
const CHANGES: readonly (readonly [string, () => void])[] = [
  ['changed', () => fs.writeFileSync(join(root, 'dot.png'), 'another image here!')],
  ['grew', () => fs.appendFileSync(join(root, 'dot.png'), '!')],
  ['is gone', () => fs.rmSync(join(root, 'dot.png'))],
  [
    'became a pipe',
    () => {
      fs.rmSync(join(root, 'dot.png'))
      execFileSync('mkfifo', [join(root, 'dot.png')])
    },
  ],
  [
    'became a link',
    () => {
      fs.renameSync(join(root, 'dot.png'), join(temp, 'new.png'))
      fs.symlinkSync('../new.png', join(root, 'dot.png'))
    },
  ],
]

describe.each(['out.zip', 'out', 'new/folders/out.zip', 'out.ZIP'])('writing %s', (name) => {
  test('writes a valid pack and nothing else beside it', async () => {
    const made = await pack()
    const bytes = await writePack(made, { out: join(temp, name), root })
    expect(listOutputs()).toEqual([name.split('/')[0]])
    expect(readPack(join(temp, name))).toEqual(made)
    if (name !== 'out') expect(fs.statSync(join(temp, name)).size).toBe(bytes)
  })

  test('replaces an earlier pack', async () => {
    await writePack(await pack(), { out: join(temp, name), root })
    write({ 'docs/a.md': 'Other.' })
    fs.rmSync(join(root, 'dot.png'))
    await writePack(await pack(), { out: join(temp, name), root })
    expect(readPack(join(temp, name)).chunks.map(({ content }) => content)).toEqual(['Other.'])
    expect(listOutputs()).toEqual([name.split('/')[0]])
  })

  test('keeps the earlier pack when it is interrupted', async () => {
    const made = await pack()
    await writePack(made, { out: join(temp, name), root })
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(writePack(made, { out: join(temp, name), root, signal })).rejects.toThrow('stop')
    expect(readPack(join(temp, name))).toEqual(made)
    expect(listOutputs()).toEqual([name.split('/')[0]])
  })

  test.each(CHANGES)('leaves out an image that %s after it was chunked, with a warning', async (_, change) => {
    const { files } = await chunkFolder(root)
    change()
    const kept = await leaveOutChangedImages(files, root)
    expect(kept).toEqual({
      files: files.filter(({ file }) => file.path !== 'dot.png'),
      warnings: [{ path: 'dot.png', code: 'changed', message: 'left out: the image changed after it was read' }],
    })
    await writePack(createPack(kept.files), { out: join(temp, name), root })
    expect(readPack(join(temp, name)).files.map(({ path }) => path)).toEqual(['a.md'])
  })

  test.each(CHANGES)('stops when an image of the pack %s', async (_, change) => {
    const made = await pack()
    change()
    const refused = writePack(made, { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'SOURCE_CHANGED', details: { path: 'dot.png' } })
    expect(fs.existsSync(join(temp, name))).toBe(false)
  })
})

test('keeps unchanged images', async () => {
  const { files } = await chunkFolder(root)
  expect(await leaveOutChangedImages(files, root)).toEqual({ files, warnings: [] })
})

describe('writePacks', () => {
  test('writes all packs', async () => {
    const made = await pack()
    const packs = ['1.zip', 'parts/2', '3.zip'].map((name) => ({ pack: made, out: join(temp, name) }))
    await writePacks(packs, { root })
    for (const { out } of packs) expect(readPack(out)).toEqual(made)
    expect(listOutputs()).toEqual(['1.zip', '3.zip', 'parts'])
  })

  test('writes none when one of the targets holds something else', async () => {
    write({ '3.zip': 'mine' })
    const made = await pack()
    const packs = ['1.zip', 'parts/2', '3.zip'].map((name) => ({ pack: made, out: join(temp, name) }))
    await expect(writePacks(packs, { root })).rejects.toMatchObject({ code: 'OUTPUT_REFUSED' })
    expect(listOutputs()).toEqual(['3.zip'])
  })

  test('replaces none of the earlier packs when the last cannot be written', async () => {
    const made = await pack()
    const packs = ['1.zip', '2', '3.zip'].map((name) => ({ pack: made, out: join(temp, name) }))
    await writePacks(packs, { root })
    const before = fs.readFileSync(join(temp, '1.zip'))
    write({ 'docs/a.md': 'Other.' })
    const other = createPack((await chunkFolder(root)).files)
    fs.rmSync(join(root, 'dot.png'))
    const withoutImage = createPack((await chunkFolder(root)).files)
    const mixed = packs.map(({ out }, i) => ({ pack: i < 2 ? withoutImage : other, out }))
    await expect(writePacks(mixed, { root })).rejects.toMatchObject({ code: 'SOURCE_CHANGED' })
    expect(fs.readFileSync(join(temp, '1.zip')).equals(before)).toBe(true)
    for (const { out } of packs) expect(readPack(out)).toEqual(made)
    expect(listOutputs()).toEqual(['1.zip', '2', '3.zip'])
  })
})

describe('writePack with an existing target', () => {
  test.each([
    ['photos.zip', 'PK\x03\x04 someone else’s archive', 'there is a file that is not a pack'],
    ['notes', 'a text', 'there is a file; a pack needs a folder, or a name that ends in .zip'],
  ])('refuses to replace the file %s', async (name, content, problem) => {
    write({ [name]: content })
    const refused = writePack(await pack(), { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'OUTPUT_REFUSED', details: { problem } })
    expect(fs.readFileSync(join(temp, name), 'utf8')).toBe(content)
  })

  test.each([
    ['pictures.zip', 'there is something that is not a file'],
    ['pictures', 'the folder holds something that is not a pack'],
  ])('refuses to replace the folder %s', async (name, problem) => {
    write({ [`${name}/mine.txt`]: 'mine' })
    const refused = writePack(await pack(), { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'OUTPUT_REFUSED', details: { problem } })
    expect(fs.readdirSync(join(temp, name))).toEqual(['mine.txt'])
  })

  test('refuses a folder that only has the name of a pack', async () => {
    write({ 'docs.llmx-0123abcd/thesis.txt': 'mine' })
    const out = join(temp, 'docs.llmx-0123abcd')
    await expect(writePack(await pack(), { out, root })).rejects.toMatchObject({ code: 'OUTPUT_REFUSED' })
    expect(fs.readFileSync(join(out, 'thesis.txt'), 'utf8')).toBe('mine')
  })

  test.each(['notes.txt', '.git/HEAD', 'part-1/notes.txt', 'part-x/llm.md', 'part-2'])(
    'refuses a folder with %s beside a pack',
    async (name) => {
      const out = join(temp, 'out')
      await writePack(await pack(), { out, root })
      write({ [`out/${name}`]: 'mine' })
      await expect(writePack(await pack(), { out, root })).rejects.toMatchObject({ code: 'OUTPUT_REFUSED' })
      expect(fs.readFileSync(join(out, name), 'utf8')).toBe('mine')
    },
  )

  test('replaces a folder with a pack and its parts', async () => {
    const made = await pack()
    for (const name of ['out', 'out/part-1', 'out/part-2']) await writePack(made, { out: join(temp, name), root })
    await writePack(made, { out: join(temp, 'out'), root })
    expect(readPack(join(temp, 'out'))).toEqual(made)
    expect(fs.existsSync(join(temp, 'out/part-1'))).toBe(false)
  })

  test('writes to an empty file or folder', async () => {
    write({ 'out.zip': '' })
    fs.mkdirSync(join(temp, 'out'))
    for (const name of ['out.zip', 'out']) await writePack(await pack(), { out: join(temp, name), root })
    expect(listOutputs()).toEqual(['out', 'out.zip'])
  })

  test('writes through a link to a pack', async () => {
    const made = await pack()
    for (const name of ['real.zip', 'real']) await writePack(made, { out: join(temp, name), root, compact: true })
    fs.symlinkSync('real.zip', join(temp, 'link.zip'))
    fs.symlinkSync('real', join(temp, 'link'))
    for (const name of ['link.zip', 'link']) await writePack(made, { out: join(temp, name), root })
    for (const name of ['real.zip', 'real']) expect(readPack(join(temp, name))).toEqual(made)
    expect(fs.readlinkSync(join(temp, 'link'))).toBe('real')
  })
})

describe('leftovers of a killed run', () => {
  test('the next run deletes leftovers, unless their process is running', async () => {
    const alive = `.out.zip.pharos-${HOST}-${process.ppid}-0`
    write({
      [`.out.zip.pharos-${HOST}-${deadProcess()}-0`]: 'half',
      [alive]: 'in work',
      [`.other.zip.pharos-${HOST}-${deadProcess()}-0`]: '',
    })
    await writePack(await pack(), { out: join(temp, 'out.zip'), root })
    expect(listOutputs()).toEqual([expect.stringMatching(/^\.other/), alive, 'out.zip'])
  })

  test('leftovers of another host stay for a day, whatever their process id is here', async () => {
    const recent = `.out.zip.pharos-00000000-${deadProcess()}-0`
    const old = `.out.zip.pharos-00000000-${process.ppid}-1`
    write({ [recent]: 'perhaps in work', [old]: 'half' })
    const yesterday = Date.now() / 1000 - 25 * 3600
    fs.utimesSync(join(temp, old), yesterday, yesterday)
    await writePack(await pack(), { out: join(temp, 'out.zip'), root })
    expect(listOutputs()).toEqual([recent, 'out.zip'])
  })

  test('a leftover is restored when it was the only pack', async () => {
    const made = await pack()
    await writePack(made, { out: join(temp, 'out'), root })
    fs.renameSync(join(temp, 'out'), join(temp, `.out.pharos-${HOST}-${deadProcess()}-0-old`))
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(writePack(made, { out: join(temp, 'out'), root, signal })).rejects.toThrow('stop')
    expect(readPack(join(temp, 'out'))).toEqual(made)
    expect(listOutputs()).toEqual(['out'])
  })
})
