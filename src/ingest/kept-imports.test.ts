import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseImport } from '../library/import/parse-import.ts'
import { openKeptImports } from './kept-imports.ts'

const folder = mkdtempSync(join(tmpdir(), 'kept-imports-'))
afterAll(() => rmSync(folder, { recursive: true }))

function importOf(count: number) {
  const common = { section_path: '', content_type: 'prose', last_updated: '2026-02-20' }
  const chunks = Array.from({ length: count }, (_, i) => ({
    text: `Text ${i}\u2028.`,
    source_url: 'https://a.example/',
    ...common,
  }))
  return parseImport({ source_url: 'https://a.example/', chunks })
}

test('an import is stored unchanged until it is deleted, and only its owner can read it', async () => {
  const place = join(folder, 'library.db.imports')
  const imports = openKeptImports(place)
  expect([await imports.list(), await imports.read('one')]).toEqual([[], undefined])
  await imports.keep('one', importOf(3))
  await imports.keep('one', importOf(450))
  expect(await imports.read('one')).toEqual(importOf(450))
  expect([statSync(place).mode & 0o777, statSync(join(place, 'one.jsonl')).mode & 0o777]).toEqual([0o700, 0o600])
  expect(await imports.list()).toEqual(['one'])
  await imports.forget('one')
  await imports.forget('one')
  expect(readdirSync(place)).toEqual([])
})

test('reports when an import cannot be stored', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(openKeptImports(join(file, 'imports')).keep('one', importOf(1))).rejects.toMatchObject({
    code: 'LIBRARY_UNUSABLE',
    details: { problem: expect.stringContaining('an unfinished import cannot be stored there') },
  })
})
