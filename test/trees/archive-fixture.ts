import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readPage } from '../../src/crawl/read-page.ts'
import { nodeSha256 } from '../../src/ingest/sha256.ts'
import { type OpenTreeReader, openTreeReader, type TreeReaderOptions } from '../../src/ingest/tree-reader.ts'
import type { OpenTree, TreeOptions } from '../../src/library/ports/tree.ts'
import { closeLater } from '../close-later.ts'
import { openNodeGrammars } from '../node-grammars.ts'

/** Creates a folder that is deleted after the test. */
export function createTempFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-trees-')))
  closeLater(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Files by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** Writes files below a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
    fs.writeFileSync(join(folder, path), content)
  }
}

/** Runs a program of the system, which has to succeed. */
export function run(folder: string, program: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}

/** How the programs of the system pack all that is in a folder. */
const PACKERS: Readonly<Record<string, (folder: string, archive: string) => void>> = {
  zip: (folder, archive) => run(folder, 'zip', '-q', '-r', '-y', archive, '.'),
  tar: (folder, archive) => run(folder, 'tar', '-cf', archive, '.'),
  'tar.gz': (folder, archive) => run(folder, 'tar', '-czf', archive, '.'),
  tgz: (folder, archive) => run(folder, 'tar', '-czf', archive, '.'),
  'tar.zst': (folder, archive) => run(folder, 'tar', '--zstd', '-cf', archive, '.'),
}

/** File extensions of the archives that can be packed. */
export const EXTENSIONS: readonly string[] = Object.keys(PACKERS)

/** Packs files with the programs of the system. The extension determines the kind of archive, and an existing archive is replaced. */
export function packFiles(archive: string, files: Files, prepare?: (folder: string) => void): string {
  const folder = createTempFolder()
  writeFiles(folder, files)
  prepare?.(folder)
  fs.rmSync(archive, { force: true })
  const extension = EXTENSIONS.find((one) => archive.endsWith(`.${one}`))
  PACKERS[extension ?? '']?.(folder, archive)
  return archive
}

/** Opens a reader of trees that closes with the test. It reads no documents. */
export function openReader(options: Partial<TreeReaderOptions> = {}): OpenTreeReader {
  const reader = openTreeReader({
    readPage: async (snapshot, key) => readPage(snapshot, key, nodeSha256),
    readDocument: () => Promise.reject(new Error('no document is read here')),
    openGrammars: () => openNodeGrammars([]),
    maxFileBytes: 1_000_000,
    ...options,
  })
  closeLater(() => reader.close())
  return reader
}

/** Opens a tree that closes with the test. */
export async function openTree(
  address: string,
  options: Partial<TreeReaderOptions> = {},
  treeOptions?: TreeOptions,
): Promise<OpenTree> {
  const url = address.startsWith('/') ? pathToFileURL(address).href : address
  const tree = await openReader(options).open(url, treeOptions)
  closeLater(() => tree.close())
  return tree
}

/** Entries of a tree: `{ 'a.md': 'file', 'b.png': 'not-text *.png' }` */
export async function listTree(tree: OpenTree): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const entry of tree.walk(new AbortController().signal)) {
    found[entry.path] = entry.type === 'refused' ? `${entry.refusal.reason} ${entry.refusal.pattern}` : entry.type
  }
  return found
}

/** Folders of archives that this process has not cleared away. */
export function listLeftoverArchives(): string[] {
  return fs.readdirSync(tmpdir()).filter((name) => name.startsWith(`pharos-archive-${process.pid}-`))
}
