import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAssets } from './assets.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-assets-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

function write(files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

test('files are given by their paths, with a compressed copy where it is smaller', async () => {
  const text = 'let a = 1\n'.repeat(100)
  write({ 'index.html': '<p>', 'assets/app-1a2b3c4d.js': text, 'assets/plain.js': text, 'icon.svg': '<svg/>' })
  const read = createAssets(folder)
  const script = await read('/assets/app-1a2b3c4d.js')
  expect(script).toMatchObject({ type: 'text/javascript; charset=utf-8', isImmutable: true })
  expect(Buffer.from(script?.body ?? []).toString()).toBe(text)
  expect(gunzipSync(script?.gzipped ?? Buffer.alloc(0)).toString()).toBe(text)
  expect(script?.gzipped?.length).toBeLessThan(200)
  expect(await read('/assets/plain.js')).toMatchObject({ isImmutable: false })
  expect(await read('/')).toEqual(await read('/index.html'))
  expect((await read('/'))?.gzipped).toBeUndefined()
  expect(await read('/icon.svg')).toMatchObject({ type: 'image/svg+xml' })
})

test('nothing outside the folder can be had', async () => {
  write({ 'index.html': '<p>' })
  const read = createAssets(join(folder, 'assets'))
  write({ 'assets/a.txt': 'a' })
  for (const path of ['/../index.html', '/..%2findex.html', '//a.txt', '/assets', '', '/a.txt/', '/__proto__']) {
    expect([path, await read(path)]).toEqual([path, undefined])
  }
  expect(await read('/a.txt')).toMatchObject({ type: 'text/plain; charset=utf-8' })
})

test('a folder that is not built yet is looked at again', async () => {
  const read = createAssets(join(folder, 'assets'))
  expect(await read('/a.txt')).toBeUndefined()
  write({ 'assets/a.txt': 'a' })
  expect(await read('/a.txt')).toBeDefined()
})
