import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAX_IGNORE_BYTES } from '../core/folder/walk-tree.ts'
import { createPack } from '../core/pack/pack.ts'
import { chunkFolder, type FolderOptions } from './chunk-folder.ts'
import { writePack } from './pack-output.ts'

let root = ''

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-walk-')))
})

afterEach(() => {
  fs.rmSync(root, { recursive: true })
})

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
  }
}

/** Reads a folder. Returns the files read, the paths skipped with their reasons, and the warnings, in a form that is easy to compare. */
async function readFolder(folder = root, options: FolderOptions = {}) {
  const { files, skipped } = await chunkFolder(folder, options)
  const pack = createPack(files)
  return {
    read: pack.files.map((file) => file.path),
    skipped: Object.fromEntries(skipped.map(({ path, reason }) => [path, reason])),
    warnings: pack.warnings.map(({ path, code, message }) => `${path} ${code}: ${message}`),
  }
}

describe('ignore files', () => {
  test('ignore files apply below their folder; the nearer file and the later line win', async () => {
    write({
      '.gitignore': '*.log\n!keep.log\n/only-here.txt\n',
      'a.log': 'a',
      'keep.log': 'a',
      'only-here.txt': 'a',
      'sub/only-here.txt': 'a',
      'sub/.gitignore': '!a.log\nkeep.log\n',
      'sub/a.log': 'a',
      'sub/b.log': 'a',
      'sub/keep.log': 'a',
    })
    expect(await readFolder()).toEqual({
      read: ['.gitignore', 'keep.log', 'sub/.gitignore', 'sub/a.log', 'sub/only-here.txt'],
      skipped: { 'a.log': 'ignored', 'only-here.txt': 'ignored', 'sub/b.log': 'ignored', 'sub/keep.log': 'ignored' },
      warnings: [],
    })
  })

  test('ignore files cannot re-include a file of an ignored folder', async () => {
    write({ '.gitignore': 'gen/\n!gen/keep.md\n', 'gen/keep.md': 'a', 'a.md': 'a' })
    expect(await readFolder()).toEqual({ read: ['.gitignore', 'a.md'], skipped: { gen: 'ignored' }, warnings: [] })
  })

  test('ignore files apply from above the folder, up to the folder with .git', async () => {
    write({
      '.gitignore': '*.md\n',
      'repo/.gitignore': '*.log\n/docs/draft.txt\n',
      'repo/.git/HEAD': 'ref: refs/heads/main\n',
      'repo/docs/a.md': 'a',
      'repo/docs/a.log': 'a',
      'repo/docs/draft.txt': 'a',
    })
    expect(await readFolder(join(root, 'repo/docs'))).toEqual({
      read: ['a.md'],
      skipped: { 'a.log': 'ignored', 'draft.txt': 'ignored' },
      warnings: [],
    })
  })

  test('ignore files do not apply from above without a repository', async () => {
    write({ '.gitignore': '*.md\n', 'docs/a.md': 'a' })
    expect((await readFolder(join(root, 'docs'))).read).toEqual(['a.md'])
  })

  test('an explicitly requested folder overrides only the rule that ignores it', async () => {
    write({ '.git/HEAD': '', '.gitignore': 'generated/\n.env\n', 'generated/api.md': 'a', 'generated/.env': 'KEY=1' })
    expect(await readFolder(join(root, 'generated'))).toEqual({
      read: ['api.md'],
      skipped: { '.env': 'ignored' },
      warnings: [],
    })
  })

  test('.pharosignore overrides .gitignore in the same folder', async () => {
    write({ '.gitignore': '*.txt\n', '.pharosignore': '!a.txt\n*.md\n', 'a.txt': 'a', 'b.txt': 'a', 'c.md': 'a' })
    const { read, skipped } = await readFolder()
    expect(read).toEqual(['.gitignore', '.pharosignore', 'a.txt'])
    expect(skipped).toEqual({ 'b.txt': 'ignored', 'c.md': 'ignored' })
  })

  test('an ignore file that is a link or a pipe is not applied, and does not block', async () => {
    write({ 'rules.txt': '*.md\n', 'a.md': 'a', 'sub/b.md': 'a' })
    fs.symlinkSync('rules.txt', join(root, '.gitignore'))
    execFileSync('mkfifo', [join(root, 'sub/.gitignore')])
    expect(await readFolder()).toEqual({
      read: ['a.md', 'rules.txt', 'sub/b.md'],
      skipped: { '.gitignore': 'link', 'sub/.gitignore': 'special' },
      warnings: [],
    })
  })

  test('ignore files are applied up to a size limit, with a warning', async () => {
    const lines = `a.md\n${'never-there.md\n'.repeat(MAX_IGNORE_BYTES / 15)}*.md\n`
    write({ '.gitignore': lines, 'a.md': 'a', 'b.md': 'a' })
    const { read, warnings } = await readFolder()
    expect(read).toEqual(['.gitignore', 'b.md'])
    expect(warnings).toEqual([
      `.gitignore ignore_rules: only the first ${MAX_IGNORE_BYTES} bytes of its rules are obeyed`,
    ])
  })
})

describe('skipped files and folders', () => {
  test('skips folders of builds, dependencies and version control', async () => {
    const folders = ['.git', 'node_modules', 'target', 'dist', 'build', '.cache', '__pycache__', '.venv']
    write(Object.fromEntries(folders.map((folder) => [`src/${folder}/a.md`, 'a'])))
    write({ 'building/a.md': 'a', 'module/.git': 'gitdir: ../.git/modules/module\n' })
    expect(await readFolder()).toEqual({
      read: ['building/a.md'],
      skipped: {
        ...Object.fromEntries(folders.map((folder) => [`src/${folder}`, 'build-folder'])),
        'module/.git': 'build-folder',
      },
      warnings: [],
    })
  })

  test('reads a build folder that was requested explicitly', async () => {
    write({ 'dist/a.md': 'a' })
    expect((await readFolder(join(root, 'dist'))).read).toEqual(['a.md'])
  })

  test('skips binary files, by extension or content', async () => {
    const bytes = Uint8Array.from([1, 2, 0, 3])
    write({ 'a.PDF': 'text', 'b.wasm': bytes, 'c.what': bytes, data: bytes, 'd.what': 'text' })
    expect(await readFolder()).toEqual({
      read: ['d.what'],
      skipped: { 'a.PDF': 'binary', 'b.wasm': 'binary' },
      warnings: ['c.what binary: skipped: not a text file', 'data binary: skipped: not a text file'],
    })
  })

  test('reads a text file whose name is, or ends in, a binary extension', async () => {
    const names = ['.db', '.env.pack', 'a', 'bin/pack', 'de.mo', 'lib', 'node', 'o', 'old.dat', 'shape.obj', 'x.lib']
    write(Object.fromEntries(names.map((name) => [name, 'text'])))
    write({ 'libx.a': 'text', 'raw.dat': Uint8Array.from([1, 0]) })
    expect(await readFolder()).toEqual({
      read: names,
      skipped: { 'libx.a': 'binary' },
      warnings: ['raw.dat binary: skipped: not a text file'],
    })
  })

  test('skips links, wherever they lead', async () => {
    const outside = fs.mkdtempSync(join(tmpdir(), 'pharos-outside-'))
    fs.writeFileSync(join(outside, 'secret.md'), 'outside')
    write({ 'a.md': 'a', 'sub/b.md': 'b' })
    fs.symlinkSync(outside, join(root, 'to-outside'))
    fs.symlinkSync(join(outside, 'secret.md'), join(root, 'outside.md'))
    fs.symlinkSync('..', join(root, 'sub/loop'))
    fs.symlinkSync('nowhere', join(root, 'dangling.md'))
    fs.symlinkSync('a.md', join(root, 'inside.md'))
    fs.symlinkSync('self', join(root, 'self'))
    expect(await readFolder()).toEqual({
      read: ['a.md', 'sub/b.md'],
      skipped: {
        'dangling.md': 'link',
        'inside.md': 'link',
        'outside.md': 'link',
        self: 'link',
        'sub/loop': 'link',
        'to-outside': 'link',
      },
      warnings: [],
    })
    fs.rmSync(outside, { recursive: true })
  })

  test('follows a link that was requested explicitly', async () => {
    write({ 'real/a.md': 'a' })
    fs.symlinkSync('real', join(root, 'link'))
    expect((await readFolder(join(root, 'link'))).read).toEqual(['a.md'])
  })

  test('skips pipes and sockets without blocking', async () => {
    write({ 'a.md': 'a' })
    execFileSync('mkfifo', [join(root, 'pipe.md')])
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(root, 'socket.md'), resolve))
    expect(await readFolder()).toEqual({
      read: ['a.md'],
      skipped: { 'pipe.md': 'special', 'socket.md': 'special' },
      warnings: [],
    })
    await new Promise((resolve) => server.close(resolve))
  })

  test('skips earlier packs, whatever their name', async () => {
    write({ 'a.md': '# A\n\nText.\n' })
    const pack = createPack((await chunkFolder(root)).files)
    await writePack(pack, { out: join(root, 'folder'), root })
    await writePack(pack, { out: join(root, 'deep/er/compact'), root, compact: true })
    await writePack(pack, { out: join(root, 'archive.zip'), root })
    await writePack(pack, { out: join(root, 'docs.llmx-0123abcd.part-1.zip'), root })
    write({ 'old.llmx-0123abcd/c.md': 'a' })
    expect(await readFolder()).toEqual({
      read: ['a.md'],
      skipped: {
        'archive.zip': 'binary',
        'deep/er/compact/': 'pack',
        'docs.llmx-0123abcd.part-1.zip': 'pack',
        'folder/': 'pack',
        'old.llmx-0123abcd/': 'pack',
      },
      warnings: [],
    })
  })

  test('skips leftovers of a killed run', async () => {
    write({
      'a.md': 'a',
      '.docs.pharos-0123abcd-12-0/llm.md': 'a',
      '.docs.pharos-0123abcd-12-0-old/llm.md': 'a',
      '.d.zip.pharos-0123abcd-1-0': 'a',
    })
    expect(await readFolder()).toEqual({
      read: ['a.md'],
      skipped: {
        '.d.zip.pharos-0123abcd-1-0': 'pack',
        '.docs.pharos-0123abcd-12-0': 'pack',
        '.docs.pharos-0123abcd-12-0-old': 'pack',
      },
      warnings: [],
    })
  })

  test('skips the output path, even if the folder is reached through a link', async () => {
    write({ 'real/a.md': 'a', 'real/out/b.md': 'a' })
    fs.symlinkSync('real', join(root, 'link'))
    const exclude = [join(root, 'link/out')]
    expect(await readFolder(join(root, 'link'), { exclude })).toEqual({
      read: ['a.md'],
      skipped: { out: 'pack' },
      warnings: [],
    })
  })
})

describe('an invalid source folder', () => {
  test.each([
    ['nowhere', 'SOURCE_NOT_FOUND', 'there is nothing at ROOT/nowhere'],
    ['a.md', 'SOURCE_UNREADABLE', 'ROOT/a.md cannot be used: it is a file, not a folder'],
    ['a.md/b', 'SOURCE_UNREADABLE', 'ROOT/a.md/b cannot be used: it cannot be read (ENOTDIR)'],
    ['loop', 'SOURCE_UNREADABLE', 'ROOT/loop cannot be used: it cannot be read (ELOOP)'],
    ['pack', 'SOURCE_IS_PACK', 'ROOT/pack is itself a pack'],
  ])('%s is refused with %s', async (name, code, message) => {
    write({ 'a.md': 'a' })
    fs.symlinkSync('loop', join(root, 'loop'))
    await writePack(createPack((await chunkFolder(root)).files), { out: join(root, 'pack'), root })
    const refusal = { code, message: message.replace('ROOT', root) }
    await expect(chunkFolder(join(root, name))).rejects.toMatchObject(refusal)
  })
})

describe('file names', () => {
  test('file names may contain any text', async () => {
    const names = ['tab\tname.md', 'two\nlines.md', 'back\\slash.md', ' lead.md', '日本.md', '-rf.md', '"quote".md']
    write(Object.fromEntries(names.map((name) => [name, 'a'])))
    const { read, skipped, warnings } = await readFolder()
    expect(new Set(read)).toEqual(new Set(names))
    expect({ skipped, warnings }).toEqual({ skipped: {}, warnings: [] })
  })

  test('names that are not UTF-8 exclude only their own file or folder, with a warning', async () => {
    const place = (name: Uint8Array) => Buffer.concat([Buffer.from(`${root}/`), name])
    write({ 'good.md': 'a', 'bad\u{fffd}.md': 'the real one' })
    fs.writeFileSync(place(Buffer.from('bad\xff.md', 'latin1')), 'a')
    fs.writeFileSync(place(Buffer.from('bad\xfe.md', 'latin1')), 'a')
    fs.mkdirSync(place(Buffer.from('dir\xff', 'latin1')))
    expect(await readFolder()).toEqual({
      read: ['bad\u{fffd}.md', 'good.md'],
      skipped: { 'bad\u{fffd}.md': 'name', 'dir\u{fffd}': 'name' },
      warnings: [
        'bad\u{fffd}.md unreadable: left out: its name is not valid UTF-8',
        'bad\u{fffd}.md unreadable: left out: its name is not valid UTF-8',
        'dir\u{fffd} unreadable: left out: its name is not valid UTF-8',
      ],
    })
  })

  test('files may be nested two hundred folders deep', async () => {
    write({ 'a.md': 'a' })
    const deep = 'd/'.repeat(200)
    write({ [`${deep}deep.md`]: 'a' })
    expect((await readFolder()).read).toEqual(['a.md', `${deep}deep.md`])
  })
})

test('unreadable entries are skipped with a warning, and their siblings are read', () => {
  write({ 'open.md': 'a', 'closed.md': 'a', 'closed/in.md': 'a', 'half/in.md': 'a' })
  fs.chmodSync(join(root, 'closed.md'), 0)
  fs.chmodSync(join(root, 'closed'), 0)
  // The names in this folder can be listed, but its files cannot be opened.
  fs.chmodSync(join(root, 'half'), 0o444)
  fs.chmodSync(root, 0o755)
  const result = runUnprivileged(`
    const { chunkFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'chunk-folder.ts'))})
    const { files, skipped } = await chunkFolder(${JSON.stringify(root)})
    console.log(JSON.stringify({ skipped, files: files.map(({ file, chunks, warnings }) =>
      [file.path, chunks.length, ...warnings.map(({ code, message }) => code + ': ' + message)]) }))`)
  expect(result).toEqual({
    skipped: [{ path: 'closed/', reason: 'unreadable' }],
    files: [
      ['closed.md', 0, 'unreadable: left out: cannot be read (EACCES)'],
      ['half/in.md', 0, 'unreadable: left out: cannot be read (EACCES)'],
      ['open.md', 1],
      ['closed/', 0, 'unreadable: left out: the folder cannot be read'],
    ],
  })
  fs.chmodSync(join(root, 'closed'), 0o755)
})

test('reports an unreadable source folder', () => {
  fs.chmodSync(root, 0)
  const result = runUnprivileged(`
    const { chunkFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'chunk-folder.ts'))})
    const error = await chunkFolder(${JSON.stringify(root)}).catch((error) => error)
    console.log(JSON.stringify([error.code, error.message]))`)
  expect(result).toEqual(['SOURCE_UNREADABLE', `${root} cannot be used: it cannot be read (EACCES)`])
  fs.chmodSync(root, 0o755)
})

/** Runs a program as an unprivileged user, because permissions do not apply to root. */
function runUnprivileged(program: string): unknown {
  const identity = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    ...identity,
    encoding: 'utf8',
    env: { NODE_NO_WARNINGS: '1' },
    cwd: '/',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
