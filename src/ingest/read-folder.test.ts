import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPack } from '../core/pack/pack.ts'
import { readPage } from '../crawl/read-page.ts'
import type { FileReading } from '../library/ports/tree.ts'
import { readDocument } from '../processes/read-document.ts'
import { chunkFolder } from './chunk-folder.ts'
import { writePack } from './pack-output.ts'
import { nodeSha256 } from './sha256.ts'
import { openTreeReader } from './tree-reader.ts'

let root = ''

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-read-')))
})

afterEach(() => {
  fs.rmSync(root, { recursive: true, force: true })
})

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
  }
}

const UNKNOWN = { version: null, stamp: null }

/** Opens a folder as if an hour had passed, so that all files are old, unless another time is given. */
function open(path = root, now = Date.now() + 3_600_000) {
  const reader = openTreeReader({
    readPage: async (snapshot, key) => readPage(snapshot, key, nodeSha256),
    readDocument: (snapshot, path, { chunks } = {}) => readDocument(snapshot, path, nodeSha256, chunks),
    openGrammars: () => Promise.reject(new Error('no code is read here')),
    maxFileBytes: 1000,
    exclude: [join(root, 'library.db-wal')],
    now: () => now,
  })
  return reader.open(pathToFileURL(path).href)
}

async function walk(path?: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const entry of (await open(path)).walk(new AbortController().signal)) {
    found[entry.path] = entry.type === 'refused' ? `${entry.refusal.reason} ${entry.refusal.pattern}` : entry.type
  }
  return found
}

test('lists the files to read, and the others with their reasons', async () => {
  write({
    'a.md': 'a',
    'b.GIF': 'b',
    'library.db-wal': 'x',
    '.venv/x.py': 'x',
    'sub/.gitignore': '/x.txt',
    'sub/x.txt': 'x',
  })
  fs.symlinkSync('a.md', join(root, 'c.md'))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from('bad\xff.md', 'latin1')]), 'a')
  expect(await walk()).toEqual({
    'a.md': 'file',
    'b.GIF': 'not-text *.gif',
    'library.db-wal': 'excluded what Pharos wrote',
    '.venv/': 'excluded .venv',
    'c.md': 'excluded symbolic links',
    'bad\u{fffd}.md': 'bad-url its name is not valid UTF-8',
    'sub/.gitignore': 'file',
    'sub/x.txt': 'ignored /x.txt',
  })
  expect(await walk(join(root, 'a.md'))).toEqual({ 'a.md': 'file' })
})

describe('a file that was read before', () => {
  test('a file with the same stamp is not read again, and one with the same bytes counts as unchanged', async () => {
    write({ 'a.md': '# A\n\na\n' })
    const first = await (await open()).read({ path: 'a.md', part: null }, UNKNOWN)
    expect(first).toMatchObject({ type: 'page', bytes: 7, version: nodeSha256('# A\n\na\n') })
    const known = knownOf(first)
    expect(await (await open()).read({ path: 'a.md', part: null }, known)).toEqual({
      type: 'unchanged',
      ...known,
      bytes: 0,
      detail: null,
    })
    fs.utimesSync(join(root, 'a.md'), new Date(0), new Date(0))
    const touched = await (await open()).read({ path: 'a.md', part: null }, known)
    expect(touched).toMatchObject({ type: 'unchanged', bytes: 7, version: known.version })
    expect(knownOf(touched).stamp).not.toBe(known.stamp)
    write({ 'a.md': '# A\n\nb\n' })
    expect((await (await open()).read({ path: 'a.md', part: null }, known)).type).toBe('page')
    // Without the version of its bytes, the stamp proves nothing.
    expect((await (await open()).read({ path: 'a.md', part: null }, { ...known, version: null })).type).toBe('page')
  })

  test("a file written just now is read again, because it could have changed within the clock's resolution", async () => {
    write({ 'a.md': '# A\n\na\n' })
    const fresh = await (await open(root, Date.now() + 1000)).read({ path: 'a.md', part: null }, UNKNOWN)
    expect(knownOf(fresh)).toEqual({ version: nodeSha256('# A\n\na\n'), stamp: null })
  })
})

describe('a file that does not exist', () => {
  test('a file is missing while its folder exists; without that folder the source is not found', async () => {
    write({ 'docs/a.md': 'a', 'docs/b': 'b' })
    const folder = await open(join(root, 'docs'))
    expect(await folder.read({ path: 'x.md', part: null }, UNKNOWN)).toEqual({ type: 'missing' })
    expect(await folder.read({ path: 'b/x.md', part: null }, UNKNOWN)).toEqual({ type: 'missing' })
    fs.renameSync(join(root, 'docs'), join(root, 'moved'))
    await expect(folder.read({ path: 'a.md', part: null }, UNKNOWN)).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
    fs.mkdirSync(join(root, 'docs'))
    await expect(folder.read({ path: 'a.md', part: null }, UNKNOWN)).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  })

  test('a path cannot lead out of the folder', async () => {
    write({ 'docs/a.md': 'a', 'secret.md': 's' })
    const folder = await open(join(root, 'docs'))
    for (const path of ['../secret.md', 'x/../../secret.md', '/etc/passwd', '.', '']) {
      expect(await folder.read({ path: path, part: null }, UNKNOWN), path).toEqual({ type: 'missing' })
    }
  })
})

test('links are not followed, and pipes are not opened', async () => {
  write({ 'a.md': 'a' })
  fs.symlinkSync('a.md', join(root, 'link.md'))
  spawnSync('mkfifo', [join(root, 'pipe.md')])
  const folder = await open()
  expect(await folder.read({ path: 'link.md', part: null }, UNKNOWN)).toMatchObject({
    type: 'failed',
    reason: 'unreadable',
  })
  expect(await folder.read({ path: 'pipe.md', part: null }, UNKNOWN)).toMatchObject({
    type: 'no-page',
    reason: 'not-text',
  })
})

describe('files that Markdown includes', () => {
  const markdownOf = (reading: FileReading) => (reading.type === 'page' ? reading.record.page.markdown : reading.type)

  test('are read from the same folder, and the page that includes them is read again in each run', async () => {
    write({
      'docs/en/a.md': '# A\n\n--8<-- "part.md"\n\n{* ../../src/a.py *}\n',
      'docs/en/part.md': '!!! tip\n    Dry.\n',
      'src/a.py': 'x = 1\n',
    })
    const folder = await open()
    const reading = await folder.read({ path: 'docs/en/a.md', part: null }, UNKNOWN)
    expect(markdownOf(reading)).toBe('# A\n\n> [!TIP]\n> Dry.\n\n```py\nx = 1\n```\n')
    expect(reading).toMatchObject(UNKNOWN)
  })

  test('are left out if they are outside the folder, ignored, links, or contain credentials', async () => {
    const key = `AKIA${'Q7RT2MXZ5WBN3KVP'}`
    write({
      'in/.gitignore': 'private\n',
      'in/private/a.txt': 'hidden',
      'in/.env': 'A=hidden',
      'in/key.txt': `key = ${key}`,
      'out.txt': 'hidden',
      'in/a.md': ['../out.txt', 'private/a.txt', '.env', 'link.txt', 'key.txt', join(root, 'out.txt')]
        .map((path) => `<<< ${path}\n`)
        .join('\n'),
    })
    fs.symlinkSync('../out.txt', join(root, 'in/link.txt'))
    const folder = await open(join(root, 'in'))
    expect(markdownOf(await folder.read({ path: 'a.md', part: null }, UNKNOWN))).toBe(
      '`out.txt`\n\n`a.txt`\n\n`.env`\n\n`link.txt`\n\n`key.txt`\n\n`out.txt`\n',
    )
  })

  test('are not read if the source is a single file', async () => {
    write({ 'a.md': '# A\n\n<<< b.js\n', 'b.js': 'hidden' })
    const file = await open(join(root, 'a.md'))
    expect(markdownOf(await file.read({ path: 'a.md', part: null }, UNKNOWN))).toBe('# A\n\n`b.js`\n')
  })
})

test('a file with the extension .mdx is read as MDX', async () => {
  write({ 'a.mdx': "import X from './x'\n\n# A\n\n<Note>Mind {x}.</Note>\n" })
  const folder = await open()
  expect(await folder.read({ path: 'a.mdx', part: null }, UNKNOWN)).toMatchObject({
    record: { page: { markdown: '# A\n\n> [!NOTE]\n> Mind .\n' } },
  })
})

test('a file with a likely credential is left out, and the credential is never repeated', async () => {
  const key = `AKIA${'Q7RT2MXZ5WBN3KVP'}`
  const password = 'password: "correct-horse-battery"\n'
  write({
    'a.sql': `-- ${key}\n`,
    'b.yaml': password,
    '.env.local': password,
    'c.sql': password,
    'f.sql': `-- Authorization: Basic ${'dXNlcjpwYXNzd29yZA'}==\n`,
    'f.conf': `Authorization: Basic ${'dXNlcjpwYXNzd29yZA'}==\n`,
    'd.md': key,
    'e.rst': password,
  })
  const folder = await open()
  const read = async (path: string) => {
    const reading = await folder.read({ path: path, part: null }, UNKNOWN)
    expect(JSON.stringify({ ...reading, record: undefined })).not.toMatch(/AKIA|correct-horse/)
    return reading.type === 'no-page' ? `${reading.reason} ${reading.pattern}` : reading.type
  }
  expect(await read('a.sql')).toBe('secret line 1 looks like an AWS access key')
  expect(await read('b.yaml')).toBe('secret line 1 looks like a password or key')
  expect(await read('.env.local')).toBe('secret line 1 looks like a password or key')
  expect(await read('f.conf')).toBe('secret line 1 looks like an authorization header')
  for (const path of ['c.sql', 'd.md', 'e.rst', 'f.sql']) expect(await read(path)).toBe('page')
  expect(await folder.read({ path: 'c.sql', part: null }, UNKNOWN)).toMatchObject({
    detail: 'line 1 looks like a password or key',
  })
})

test.each([
  ['nowhere', 'SOURCE_NOT_FOUND', 'there is nothing at ROOT/nowhere'],
  ['a.md/b', 'SOURCE_UNREADABLE', 'ROOT/a.md/b cannot be used: it cannot be read (ENOTDIR)'],
  ['pipe', 'SOURCE_UNREADABLE', 'ROOT/pipe cannot be used: it is neither a folder nor a file'],
  ['m.tar.xz', 'SOURCE_UNREADABLE', 'ROOT/m.tar.xz cannot be used: archives of its kind are not read'],
  ['pack', 'SOURCE_IS_PACK', 'ROOT/pack is itself a pack'],
])('the source %s is refused with %s', async (name, code, message) => {
  write({ 'a.md': 'a', 'm.tar.xz': 'x' })
  spawnSync('mkfifo', [join(root, 'pipe')])
  await writePack(createPack((await chunkFolder(root)).files), { out: join(root, 'pack'), root })
  await expect(open(join(root, name))).rejects.toMatchObject({ code, message: message.replace('ROOT', root) })
})

test('an unreadable file fails, and does not count as deleted', () => {
  write({ 'open.md': 'a', 'closed.md': 'a', 'closed/in.md': 'a' })
  fs.chmodSync(join(root, 'closed.md'), 0)
  fs.chmodSync(join(root, 'closed'), 0)
  fs.chmodSync(root, 0o755)
  const program = `
    const { openTreeReader } = await import(${JSON.stringify(join(import.meta.dirname, 'tree-reader.ts'))})
    const readPage = async () => ({ extraction: { type: 'no-page', reason: 'empty', detail: '', target: null }, record: null })
    const folder = await openTreeReader({ readPage, maxFileBytes: 1000 }).open(${JSON.stringify(pathToFileURL(root).href)})
    const entries = await Array.fromAsync(folder.walk(new AbortController().signal))
    const known = { version: null, stamp: null }
    const read = [await folder.read({ path: 'closed.md', part: null }, known), await folder.read({ path: 'closed/in.md', part: null }, known)]
    console.log(JSON.stringify([Object.fromEntries(entries.map(({ path, type }) => [path, type])), ...read]))`
  const identity = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    ...identity,
    encoding: 'utf8',
    env: { NODE_NO_WARNINGS: '1' },
    cwd: '/',
  })
  fs.chmodSync(join(root, 'closed'), 0o755)
  if (stdout === '') throw new Error(stderr)
  const failed = { type: 'failed', reason: 'unreadable', detail: 'cannot be read (EACCES)' }
  expect(JSON.parse(stdout)).toEqual([
    { 'open.md': 'file', 'closed.md': 'file', 'closed/': 'unreadable' },
    failed,
    failed,
  ])
})

function knownOf(reading: FileReading): { readonly version: string | null; readonly stamp: string | null } {
  if (!('version' in reading)) throw new Error(`nothing is known of a file that is ${reading.type}`)
  return { version: reading.version, stamp: reading.stamp }
}
