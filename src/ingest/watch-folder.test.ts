import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PathSelection } from '../core/folder/path-selection.ts'
import type { TreeEntry, TreeWatch } from '../library/ports/tree.ts'
import { type OpenTreeReader, openTreeReader } from './tree-reader.ts'

let root = ''
let reader: OpenTreeReader
const watches: TreeWatch[] = []
const reported = new Set<string>()

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-watch-')))
  const unused = () => Promise.reject(new Error('nothing is read'))
  const exclude = [join(root, 'lib.db-wal')]
  reader = openTreeReader({ readPage: unused, readDocument: unused, openGrammars: unused, maxFileBytes: 1000, exclude })
})

afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close()
  await reader.close()
  reported.clear()
  fs.rmSync(root, { recursive: true, force: true })
  fs.rmSync(`${root}-away`, { recursive: true, force: true })
})

async function open(pollMs?: number): Promise<TreeWatch> {
  const onChange = (path: string) => void reported.add(path)
  const watch = await reader.watch?.(pathToFileURL(root).href, { onChange, pollMs })
  if (watch === undefined) throw new Error('folders cannot be watched here')
  watches.push(watch)
  return watch
}

async function walk(watch: TreeWatch, ...paths: string[]): Promise<string[]> {
  const focus = paths.length === 0 ? undefined : new PathSelection(paths)
  const entries: TreeEntry[] = []
  for await (const entry of watch.walk(focus, new AbortController().signal)) entries.push(entry)
  return entries.filter(({ type }) => type === 'file').map(({ path }) => path)
}

function write(path: string, text = 'x'): void {
  fs.mkdirSync(join(root, path, '..'), { recursive: true })
  fs.writeFileSync(join(root, path), text)
}

/** Waits until all of these paths were reported. */
async function waitForReports(...paths: string[]): Promise<void> {
  await vi.waitFor(() => expect([...reported]).toEqual(expect.arrayContaining(paths)), { timeout: 10_000 })
}

describe('a folder watch', () => {
  test('reports created, written, replaced, moved and removed files, with watches on folders only', async () => {
    write('a/x.md')
    write('b/c/y.md')
    const watch = await open()
    expect(await walk(watch)).toHaveLength(2)
    expect(watch.folders).toBe(4)
    write('new.md')
    fs.appendFileSync(join(root, 'a/x.md'), 'more')
    write('b/tmp~')
    fs.renameSync(join(root, 'b/tmp~'), join(root, 'b/c/y.md'))
    await waitForReports('new.md', 'a/x.md', 'b/tmp~', 'b/c/y.md')
    reported.clear()
    fs.rmSync(join(root, 'a/x.md'))
    fs.renameSync(join(root, 'b'), join(root, 'd'))
    await waitForReports('a/x.md', 'b', 'd')
    reported.clear()
    // From the next walk on, a moved file has its new name.
    expect(await walk(watch, 'b', 'd')).toEqual(['d/c/y.md'])
    expect(watch.folders).toBe(4)
    write('d/c/z.md')
    await waitForReports('d/c/z.md')
    expect([...reported].filter((path) => path.startsWith('b'))).toEqual([])
  })

  test('reports a new folder; walking it finds its content and watches it', async () => {
    const watch = await open()
    await walk(watch)
    write('n/m/k/deep.md')
    await waitForReports('n')
    expect(await walk(watch, 'n')).toEqual(['n/m/k/deep.md'])
    write('n/m/k/deeper.md')
    await waitForReports('n/m/k/deeper.md')
    fs.rmSync(join(root, 'n'), { recursive: true })
    await waitForReports('n')
    expect(await walk(watch, 'n')).toEqual([])
    expect(watch.folders).toBe(1)
    reported.clear()
    write('n/again.md')
    await waitForReports('n')
    expect(await walk(watch, 'n')).toEqual(['n/again.md'])
  })

  test('does not watch skipped folders: those of tools, ignored ones, links, and those of the library', async () => {
    write('.gitignore', 'out/\n')
    write('out/a.md')
    write('node_modules/p/a.md')
    write('in/a.md')
    fs.symlinkSync('/etc', join(root, 'etc'))
    const watch = await open()
    await walk(watch)
    expect(watch.folders).toBe(2)
    write('out/b.md')
    write('node_modules/p/b.md')
    write('lib.db-wal')
    write('in/b.md')
    await waitForReports('in/b.md')
    expect([...reported]).toEqual(['in/b.md'])
  })

  test('reports a folder that is gone or was replaced', async () => {
    write('a.md')
    const watch = await open()
    await walk(watch)
    const gone = expect.objectContaining({ code: 'SOURCE_NOT_FOUND' })
    fs.renameSync(root, `${root}-away`)
    await expect(walk(watch)).rejects.toEqual(gone)
    fs.mkdirSync(root)
    await expect(walk(watch, 'a.md')).rejects.toEqual(gone)
    await expect(walk(await open())).resolves.toEqual([])
  })

  test('refuses a path that is not a folder', async () => {
    write('a.md')
    const listener = { onChange: () => undefined }
    const file = reader.watch?.(pathToFileURL(join(root, 'a.md')).href, listener)
    await expect(file).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    const nothing = reader.watch?.(pathToFileURL(join(root, 'b')).href, listener)
    await expect(nothing).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  })
})

test('polling reports the same changes of files', async () => {
  write('a/x.md')
  write('y.md')
  const watch = await open(20)
  expect(await walk(watch)).toHaveLength(2)
  expect([watch.folders, watch.polling?.everyMs]).toEqual([0, 20])
  write('a/b/z.md')
  fs.rmSync(join(root, 'y.md'))
  fs.appendFileSync(join(root, 'a/x.md'), 'more')
  await waitForReports('a/b/z.md', 'y.md', 'a/x.md')
  reported.clear()
  // When the folder is gone, all its files are reported, and the next walk fails with the reason.
  fs.renameSync(root, `${root}-away`)
  await waitForReports('a/x.md')
  await expect(walk(watch, 'a/x.md')).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})
