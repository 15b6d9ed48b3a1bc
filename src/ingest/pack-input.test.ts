import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPack } from '../core/pack/pack.ts'
import { chunkFolder } from './chunk-folder.ts'
import { readPack } from './pack-input.ts'
import { writePack } from './pack-output.ts'

let temp = ''

beforeEach(async () => {
  temp = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-input-')))
  fs.mkdirSync(join(temp, 'docs'))
  fs.writeFileSync(join(temp, 'docs/a.md'), '# A\n\nOne.\n')
  fs.writeFileSync(join(temp, 'outside.md'), '---\n\nnobody’s business\n')
  const pack = createPack((await chunkFolder(join(temp, 'docs'))).files)
  await writePack(pack, { out: join(temp, 'full'), root: temp })
  await writePack(pack, { out: join(temp, 'compact'), root: temp, compact: true })
})

afterEach(() => {
  fs.rmSync(temp, { recursive: true })
})

test('opens a pack that is a folder, an archive or only an index file', async () => {
  const pack = readPack(join(temp, 'full'))
  await writePack(pack, { out: join(temp, 'full.zip'), root: temp })
  expect(readPack(join(temp, 'full.zip'))).toEqual(pack)
  expect(readPack(join(temp, 'full/index.json'))).toEqual(pack)
  expect(readPack(join(temp, 'compact')).chunks.map(({ content }) => content)).toEqual(['# A\n\nOne.'])
})

test('a name in the manifest cannot lead out of the pack', () => {
  const manifest = join(temp, 'compact/manifest.llm.tsv')
  fs.writeFileSync(manifest, fs.readFileSync(manifest, 'utf8').replaceAll('c0001', '../../outside'))
  expect(() => readPack(join(temp, 'compact'))).toThrow('chunks/../../outside.md is missing')
})

test.each(['a link', 'a pipe'])('%s instead of a chunk counts as missing', (what) => {
  const chunk = join(temp, 'compact/chunks/c0001.md')
  fs.rmSync(chunk)
  if (what === 'a link') fs.symlinkSync(join(temp, 'outside.md'), chunk)
  else execFileSync('mkfifo', [chunk])
  expect(() => readPack(join(temp, 'compact'))).toThrow('chunks/c0001.md is missing')
})

test('explains why a file is not a pack', () => {
  execFileSync('mkfifo', [join(temp, 'pipe.zip')])
  fs.writeFileSync(join(temp, 'empty.zip'), '')
  const codeOf = (name: string) => {
    try {
      readPack(join(temp, name))
      return 'opened'
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error
    }
  }
  expect(['nothing.zip', 'pipe.zip', 'empty.zip', 'docs', 'outside.md', 'outside.md/x'].map(codeOf)).toEqual([
    'PACK_NOT_FOUND',
    'PACK_INVALID',
    'PACK_INVALID',
    'PACK_INVALID',
    'PACK_INVALID',
    'PACK_INVALID',
  ])
})
