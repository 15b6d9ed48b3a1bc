import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { chunkFile } from '../src/core/chunk/chunk-file.ts'
import type { Grammars } from '../src/core/chunk/code-grammars.ts'
import { sha256 } from '../src/core/hash.ts'
import { packEntries, packName, zipPack } from '../src/core/pack/entries.ts'
import { createPack, type Pack } from '../src/core/pack/pack.ts'
import { splitPack } from '../src/core/pack/split.ts'
import { openNodeGrammars } from './node-grammars.ts'

/*
 * Compares every byte of every artifact with files that were reviewed and approved. After an intended change of the format,
 * `UPDATE_GOLDEN=1 npm test -- test/golden.test.ts` writes the files again. Review the difference, and change the hashes of the zips below
 * by hand.
 */
const GOLDEN = join(import.meta.dirname, 'golden')

const utf8 = new TextEncoder()
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

let grammars: Grammars

beforeAll(async () => {
  grammars = await openNodeGrammars(['typescript', 'python'])
})

/** The example of the specification, §004.8. */
const DEMO: Readonly<Record<string, string>> = {
  'README.md': '# Demo\n\nIntro.\n\n### Skipped level\n\nA.\n\n### Sibling\n\nB.\n',
  'data/conf.json': '{"zeta":1,"alpha":{"x":[1,2]}}\n',
  'docs/api.md': '# API Reference\n\nTop.\n\n## Authentication\n\nUse a token.\n',
  'notes/log.txt': 'start\nping\nping\nping\nping\nend\n',
}

/** Cases that the example lacks: code, HTML, an image, odd names, warnings of each kind, enough text to be split. */
const MIXED: Readonly<Record<string, string | Uint8Array>> = {
  'a`b\t😀/！.md': '---\ntitle: Odd\n---\n\n# Odd `name`\n\nText.\n\n## 表 | x\n\nMore.\n',
  'assets/logo.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00),
  'data/deep.json': JSON.stringify(
    { 'a.b': { list: Array.from({ length: 60 }, (_, i) => `entry number ${i}`) }, big: 'x'.repeat(450), n: 1.0e3 },
    null,
    2,
  ),
  'empty.txt': '',
  'index.html':
    '<!doctype html><title>Home</title><script>var x = "<p>no</p>"</script><h1>Wel<b>come</b></h1>\n<p>Hi &amp; bye<br>now</p><h2>\nTwo\nlines</h2><table><tr><td>a<td>b</table><pre>\n  code\n\n  more</pre><a>Next</a>',
  'latin1.txt': Uint8Array.of(0x63, 0x61, 0x66, 0xe9),
  'secret.ini': '[db]\npassword = "hunter2hunter2"\n',
  'src/app.ts':
    "import { join } from 'node:path'\n\n/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b\n}\n\nexport class Box {\n  open(): string {\n    return join('a', 'b')\n  }\n}\n",
  'src/tool.py': 'import os\n\ndef main():\n    print(os.sep)\n\n\nif __name__ == "__main__":\n    main()\n',
  'thing.bin2': Uint8Array.of(1, 0, 2),
  'windows.md': '# One\r\n\r\n```sh\r\nls\r\n```\r\n\r\n# Two\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n',
}

function packOf(files: Readonly<Record<string, string | Uint8Array>>, maxChars = 8000): Pack {
  const options = { grammars, maxChars, targetChars: maxChars / 2 }
  return createPack(Object.entries(files).map(([path, body]) => chunkFile({ path, bytes: toBytes(body) }, options)))
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? utf8.encode(body) : body
}

function readImage(path: string): Uint8Array {
  return toBytes(MIXED[path] ?? '')
}

/** Names and contents of a pack, one character for each byte. */
async function listEntries(pack: Pack, compact: boolean): Promise<Record<string, string>> {
  const entries: Record<string, string> = {}
  for await (const { name, content } of packEntries(pack, { compact, readImage })) {
    entries[name] = latin1(content instanceof Uint8Array ? content : Buffer.concat([...content]))
  }
  return entries
}

async function expectGolden(name: string, pack: Pack, compact: boolean): Promise<void> {
  const folder = join(GOLDEN, name)
  const entries = await listEntries(pack, compact)
  if (process.env['UPDATE_GOLDEN'] !== undefined) await writeGolden(folder, entries)
  expect(entries).toEqual(await readGolden(folder))
}

async function writeGolden(folder: string, entries: Readonly<Record<string, string>>): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const [name, content] of Object.entries(entries)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content, 'latin1')
  }
}

async function readGolden(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const contents = files
    .filter((file) => file.isFile())
    .map(async (file) => {
      const path = join(file.parentPath, file.name)
      return [path.slice(folder.length + 1).replaceAll('\\', '/'), await readFile(path, 'latin1')] as const
    })
  return Object.fromEntries(await Promise.all(contents))
}

async function hashZip(pack: Pack, compact: boolean): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of zipPack(pack, { compact, readImage })) pieces.push(piece)
  return sha256(Buffer.concat(pieces))
}

describe('the example of the specification', () => {
  test('gives the manifest of the specification, with the sibling under its true parent', async () => {
    const { 'manifest.llm.tsv': manifest } = await listEntries(packOf(DEMO), true)
    expect(manifest?.split('\n').map((row) => row.replaceAll('\t', ' | '))).toEqual([
      'llmx_manifest_llm_tsv | 4 | 951a98e868aa2f8102b736622fcccd94a1ee0fc5dbbce15cee2618b0d5af2cdc',
      'D | 0 | ',
      'D | 1 | data/',
      'D | 2 | docs/',
      'D | 3 | notes/',
      'P | 0 | 0 | README.md',
      'P | 1 | 1 | conf.json',
      'P | 2 | 2 | api.md',
      'P | 3 | 3 | log.txt',
      'K | 0 | markdown',
      'K | 1 | json',
      'K | 2 | text',
      'F | 0 | 0 | 3 | 14 | 11 | Demo',
      'F | 1 | 1 | 2 | 4 | 1 | alpha',
      'F | 2 | 0 | 2 | 14 | 7 | API Reference',
      'F | 3 | 2 | 1 | 8 | 6 | log-l1-6',
      'C | c0001 | 0 | 0 | 1 | 4 | 4 | Demo',
      'C | c0002 | 0 | 0 | 5 | 8 | 6 | Demo > Skipped level',
      'C | c0003 | 0 | 0 | 9 | 11 | 4 | Demo > Sibling',
      'C | c0004 | 1 | 1 | 1 | 1 | 3 | alpha',
      'C | c0005 | 1 | 1 | 1 | 1 | 1 | zeta',
      'C | c0006 | 2 | 0 | 1 | 4 | 6 | API Reference',
      'C | c0007 | 2 | 0 | 5 | 7 | 8 | API Reference > Authentication',
      'C | c0008 | 3 | 2 | 1 | 6 | 8 | log-l1-6',
      '',
    ])
  })

  test('gives the slugs, the header and the shortened log of the specification', async () => {
    const pack = packOf(DEMO)
    expect(pack.chunks.map((chunk) => chunk.slug)).toEqual([
      'readme--demo',
      'readme--skipped-level',
      'readme--sibling',
      'conf--alpha',
      'conf--zeta',
      'api--reference',
      'api--authentication',
      'log-l1-6',
    ])
    const { 'chunks/c0008.md': log } = await listEntries(pack, true)
    expect(log).toBe(
      '@llmx\tc0008\t3\t2\t1\t6\tlog-l1-6\n\nstart\nping\n... (previous line repeated 3 more times)\nend\n',
    )
  })

  test('gives every file of a full pack, byte for byte', () => expectGolden('demo/full', packOf(DEMO), false))

  test('gives every file of a compact pack, byte for byte', () => expectGolden('demo/compact', packOf(DEMO), true))

  test('gives archives with the expected hashes', async () => {
    const pack = packOf(DEMO)
    expect(packName('demo', pack)).toBe('demo.llmx-951a98e8')
    expect([await hashZip(pack, false), await hashZip(pack, true)]).toEqual([
      '8ec754fa0326a657e1b80f540311c4c9c84d87b8cf60920bdf5396739893693d',
      '43e0c1c756f77951b11dc49a74ad01cc6109f8ff7588902022cc5c407bd52fa9',
    ])
  })
})

describe('a mixed folder', () => {
  test('gives every file of a full pack, byte for byte', () => expectGolden('mixed/full', packOf(MIXED, 400), false))

  test('gives every file of a compact pack, byte for byte', () => {
    return expectGolden('mixed/compact', packOf(MIXED, 400), true)
  })

  test('gives every file of each part when it is split', async () => {
    const parts = splitPack(packOf(MIXED, 400), 250)
    expect(parts.map((part) => part.refs.length)).toEqual([8, 11, 2])
    for (const [i, part] of parts.entries()) await expectGolden(`mixed/part-${i + 1}`, part, false)
  })

  test('gives archives with the expected hashes', async () => {
    const pack = packOf(MIXED, 400)
    expect([await hashZip(pack, false), await hashZip(pack, true)]).toEqual([
      '17e7dd347f4c45e099f466ab8d15b69d70f24fb4140166cc7e623084b72e4533',
      '102f7c3c7eed88ddeaec27de65889faff842daa69349ce9987247a25834ded18',
    ])
  })

  test('warns of missing or sensitive content, never with the value', () => {
    expect(packOf(MIXED).warnings).toEqual([
      { path: 'latin1.txt', code: 'utf8', message: 'skipped: not valid UTF-8' },
      { path: 'secret.ini', code: 'secret', message: 'line 2 looks like a password or key' },
      { path: 'thing.bin2', code: 'binary', message: 'skipped: not a text file' },
    ])
  })

  test('contains no time, host or absolute path', async () => {
    const text = Object.values(await listEntries(packOf(MIXED), false)).join('\n')
    expect(text).not.toContain(process.cwd())
    expect(text).not.toMatch(/\b20\d\d-\d\d-\d\d\b|mtime|hostname/)
  })
})
