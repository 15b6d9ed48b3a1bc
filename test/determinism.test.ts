import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPack } from '../src/core/pack/pack.ts'
import { chunkFolder } from '../src/ingest/chunk-folder.ts'
import { openNodeGrammars } from './node-grammars.ts'

const SOURCE = new URL('../src/', import.meta.url).href

const FILES: Readonly<Record<string, string>> = {
  'I.md': '# İstanbul\n\nTitle CASE I i ı İ ß.\n\n## Änderung\n\n1.234,5 und 1,234.5\n',
  'i.md': '# istanbul\n\nzebra äpfel öl\n',
  'ä.txt': 'z\nä\na\nä\n',
  'z.json': '{"ä":1,"z":2,"a":3,"I":4,"ı":5}',
  'src/app.ts': 'export function add(a: number) {\n  return a\n}\n',
  'src/page.html': '<h1>Seite</h1><p>Text &auml; 1.5</p>',
}

/** Prints the hash of every entry of the given folder's pack, and of the archive. */
const PROGRAM = `
import { createHash } from 'node:crypto'
const [folder, source] = process.argv.slice(1)
const { chunkFolder } = await import(source + 'ingest/chunk-folder.ts')
const { createPack } = await import(source + 'core/pack/pack.ts')
const { packEntries, zipPack } = await import(source + 'core/pack/entries.ts')
const pack = createPack((await chunkFolder(folder)).files)
const readImage = () => new Uint8Array()
const hash = (pieces) => createHash('sha256').update(Buffer.concat(pieces)).digest('hex')
for await (const { name, content } of packEntries(pack, { readImage })) {
  console.log(name, hash(content instanceof Uint8Array ? [content] : [...content]))
}
const pieces = []
for await (const piece of zipPack(pack, { readImage })) pieces.push(piece)
console.log('zip', hash(pieces))
`

let folders: string[]

beforeAll(async () => {
  folders = await Promise.all(['one', 'two'].map((name) => mkdtemp(join(tmpdir(), `pharos-${name}-`))))
  const [one = '', two = ''] = folders
  for (const [path, text] of Object.entries(FILES)) await writeInto(one, path, text)
  // The files in reverse order, with an old modification time.
  for (const [path, text] of Object.entries(FILES).reverse()) {
    await writeInto(two, path, text)
    await utimes(join(two, path), 1, 1)
  }
})

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function writeInto(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

function hashPack(folder: string | undefined, env: Readonly<Record<string, string>>): string {
  const args = ['--input-type=module', '--no-warnings', '--eval', PROGRAM, folder ?? '', SOURCE]
  // The compile cache does not affect the output, and compiling takes the longest.
  const cache = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' }
  return execFileSync(process.execPath, args, { env: { ...env, ...cache }, encoding: 'utf8' })
}

test('no artifact depends on time zone, locale, folder, file times or the order of creation', () => {
  const expected = hashPack(folders[0], { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' })
  expect(expected.split('\n').length).toBeGreaterThan(15)
  expect(hashPack(folders[1], { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' })).toBe(expected)
  expect(hashPack(folders[0], { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' })).toBe(expected)
})

test.each([1, 2, 16])('a pack is the same when %d files are read at once', async (concurrency) => {
  const [folder = ''] = folders
  const grammars = await openNodeGrammars(['typescript'])
  const pack = createPack((await chunkFolder(folder, { grammars, concurrency })).files)
  expect(pack).toEqual(createPack((await chunkFolder(folder, { grammars })).files))
  expect(pack.files.map((file) => file.path)).toEqual([
    'I.md',
    'i.md',
    'src/app.ts',
    'src/page.html',
    'z.json',
    'ä.txt',
  ])
})
