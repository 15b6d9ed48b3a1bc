import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPack, type Pack } from '../core/pack/pack.ts'
import { chunkFolder } from './chunk-folder.ts'
import { readPack } from './pack-input.ts'
import { writePack } from './pack-output.ts'

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

/** What is beside the source. */
function found(): string[] {
  return fs.readdirSync(temp).filter((name) => name !== 'docs')
}

/** The id of a process that is no more. */
function deadProcess(): number {
  return spawnSync('true').pid
}

describe.each(['out.zip', 'out', 'new/folders/out.zip', 'out.ZIP'])('writing %s', (name) => {
  test('gives a pack that opens, and nothing else beside it', async () => {
    const made = await pack()
    const bytes = await writePack(made, { out: join(temp, name), root })
    expect(found()).toEqual([name.split('/')[0]])
    expect(readPack(join(temp, name))).toEqual(made)
    if (name !== 'out') expect(fs.statSync(join(temp, name)).size).toBe(bytes)
  })

  test('replaces an earlier pack', async () => {
    await writePack(await pack(), { out: join(temp, name), root })
    write({ 'docs/a.md': 'Other.' })
    fs.rmSync(join(root, 'dot.png'))
    await writePack(await pack(), { out: join(temp, name), root })
    expect(readPack(join(temp, name)).chunks.map(({ content }) => content)).toEqual(['Other.'])
    expect(found()).toEqual([name.split('/')[0]])
  })

  test('leaves the earlier pack alone when it is interrupted', async () => {
    const made = await pack()
    await writePack(made, { out: join(temp, name), root })
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(writePack(made, { out: join(temp, name), root, signal })).rejects.toThrow('stop')
    expect(readPack(join(temp, name))).toEqual(made)
    expect(found()).toEqual([name.split('/')[0]])
  })

  test.each([
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
  ])('stops when an image %s since it was indexed', async (_, change) => {
    const made = await pack()
    change()
    const refused = writePack(made, { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'SOURCE_CHANGED', details: { path: 'dot.png' } })
    expect(fs.existsSync(join(temp, name))).toBe(false)
  })
})

describe('a place that holds something else', () => {
  test.each([
    ['photos.zip', 'PK\x03\x04 someone else’s archive', 'there is a file that is not a pack'],
    ['notes', 'a text', 'there is a file; a pack needs a folder, or a name that ends in .zip'],
  ])('is refused: the file %s', async (name, content, problem) => {
    write({ [name]: content })
    const refused = writePack(await pack(), { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'OUTPUT_REFUSED', details: { problem } })
    expect(fs.readFileSync(join(temp, name), 'utf8')).toBe(content)
  })

  test.each([
    ['pictures.zip', 'there is something that is not a file'],
    ['pictures', 'the folder holds something that is not a pack'],
  ])('is refused: the folder %s', async (name, problem) => {
    write({ [`${name}/mine.txt`]: 'mine' })
    const refused = writePack(await pack(), { out: join(temp, name), root })
    await expect(refused).rejects.toMatchObject({ code: 'OUTPUT_REFUSED', details: { problem } })
    expect(fs.readdirSync(join(temp, name))).toEqual(['mine.txt'])
  })

  test('is taken when it is empty', async () => {
    write({ 'out.zip': '' })
    fs.mkdirSync(join(temp, 'out'))
    for (const name of ['out.zip', 'out']) await writePack(await pack(), { out: join(temp, name), root })
    expect(found()).toEqual(['out', 'out.zip'])
  })

  test('is written through when it is a link to a pack', async () => {
    const made = await pack()
    for (const name of ['real.zip', 'real']) await writePack(made, { out: join(temp, name), root, compact: true })
    fs.symlinkSync('real.zip', join(temp, 'link.zip'))
    fs.symlinkSync('real', join(temp, 'link'))
    for (const name of ['link.zip', 'link']) await writePack(made, { out: join(temp, name), root })
    for (const name of ['real.zip', 'real']) expect(readPack(join(temp, name))).toEqual(made)
    expect(fs.readlinkSync(join(temp, 'link'))).toBe('real')
  })
})

describe('what a killed run left', () => {
  test('is taken away by the next one, unless its process lives', async () => {
    const dead = deadProcess()
    write({
      [`.out.zip.pharos-${dead}-0`]: 'half',
      [`.out.zip.pharos-${process.ppid}-0`]: 'in work',
      '.other.zip.pharos-1-0': '',
    })
    await writePack(await pack(), { out: join(temp, 'out.zip'), root })
    expect(found()).toEqual(['.other.zip.pharos-1-0', `.out.zip.pharos-${process.ppid}-0`, 'out.zip'])
  })

  test('is put back when it was the only pack', async () => {
    const made = await pack()
    await writePack(made, { out: join(temp, 'out'), root })
    fs.renameSync(join(temp, 'out'), join(temp, `.out.pharos-${deadProcess()}-0-old`))
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(writePack(made, { out: join(temp, 'out'), root, signal })).rejects.toThrow('stop')
    expect(readPack(join(temp, 'out'))).toEqual(made)
    expect(found()).toEqual(['out'])
  })
})
