import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsedNameCollector } from '../core/changes/used-names.ts'
import { codeOf, PharosError } from '../core/errors.ts'
import { extensionOf } from '../core/text/path.ts'
import { walkFolder } from './walk-folder.ts'

/** Files whose imports are read. */
const CODE = new Set(['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte', 'py', 'pyi'])
const MAX_FILES = 20_000
/** A larger file is generated. */
const MAX_BYTES = 1_000_000

/**
 * Reads which names of a package the code in a folder imports and mentions. Ignored files and installed packages are left out.
 * @throws {PharosError} `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE` if there is no such folder
 */
export async function readUsedNames(folder: string, packageName: string): Promise<UsedNameCollector> {
  const root = resolve(folder)
  await requireFolder(root, folder)
  const used = new UsedNameCollector(packageName)
  let files = 0
  for await (const entry of walkFolder(root)) {
    if (entry.type !== 'file' || !CODE.has(extensionOf(entry.path))) continue
    if (/(?:^|\/)(?:node_modules|site-packages)\//.test(entry.path)) continue
    if (++files > MAX_FILES) break
    const path = join(root, entry.path)
    const { size } = await stat(path)
    if (size <= MAX_BYTES) used.add(await readFile(path, 'utf8'))
  }
  return used
}

async function requireFolder(root: string, given: string): Promise<void> {
  const found = await stat(root).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path: given }, { cause })
    throw cause
  })
  if (found.isDirectory()) return
  const problem = 'it is not a folder'
  throw new PharosError('SOURCE_UNREADABLE', { path: given, problem, advice: 'give the folder with your code' })
}
