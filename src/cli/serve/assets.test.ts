import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAssets, createLazyAssets } from './assets.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-assets-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

function write(files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

test('files are served by path, with a compressed copy if it is smaller', async () => {
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

test('nothing outside the folder is served', async () => {
  write({ 'index.html': '<p>' })
  write({ 'assets/a.txt': 'a', 'assets/.hidden': 'a' })
  mkdirSync(join(folder, 'assets/b'))
  const others = [
    '/../index.html',
    '/..%2findex.html',
    '/..\\index.html',
    '//a.txt',
    '/assets',
    '',
    '/',
    '/.',
    '/b',
    '/b/',
  ]
  for (const create of [createAssets, createLazyAssets]) {
    const read = create(join(folder, 'assets'))
    for (const path of [
      ...others,
      '/a.txt/',
      '/a.txt/b',
      '/a.txt\0',
      '/__proto__',
      '/index.html',
      `/${'a'.repeat(300)}`,
    ]) {
      expect([path, await read(path)]).toEqual([path, undefined])
    }
    expect(await read('/a.txt')).toMatchObject({ type: 'text/plain; charset=utf-8' })
  }
  expect(await createLazyAssets(join(folder, 'assets'))('/.hidden')).toBeUndefined()
})

test('the ETag of a file changes with its content', async () => {
  write({ 'index.html': '<p>', 'assets/app-1a2b3c4d.js': 'export {}', 'a.wasm': 'asm' })
  const read = createLazyAssets(folder)
  expect(await read('/assets/app-1a2b3c4d.js')).toMatchObject({ isImmutable: true })
  const before = await read('/a.wasm')
  expect(before).toMatchObject({ type: 'application/wasm', isImmutable: false, etag: expect.stringMatching(/^"\S+"$/) })
  expect(await read('/a.wasm')).toEqual(before)
  write({ 'a.wasm': 'another' })
  expect((await read('/a.wasm'))?.etag).not.toBe(before?.etag)
  // Files in a package all have the same time, and two builds can have the same size.
  const etags = []
  for (const name of ['AAAAAAAA', 'BBBBBBBB']) {
    write({ 'index.html': `<script src="./assets/index-${name}.js"></script>` })
    utimesSync(join(folder, 'index.html'), 499_162_500, 499_162_500)
    etags.push((await read('/index.html'))?.etag)
  }
  expect(new Set(etags).size).toBe(2)
  rmSync(join(folder, 'a.wasm'))
  expect(await read('/a.wasm')).toBeUndefined()
})

test('a folder that was missing or empty at the first request is read again', async () => {
  const read = createAssets(join(folder, 'assets'))
  expect(await read('/a.txt')).toBeUndefined()
  write({ 'assets/a.txt': 'a' })
  expect(await read('/a.txt')).toBeDefined()
})
