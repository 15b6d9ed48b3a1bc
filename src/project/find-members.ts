import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareUtf8 } from '../core/text/order.ts'
import { matchesPathGlob, type PathGlob, parsePathGlob } from '../core/url/path-glob.ts'

const MAX_DEPTH = 8
const MAX_FOLDERS = 20_000
const MAX_MEMBERS = 2000

/** Folders of workspace members. */
export interface FoundMembers {
  /** Paths relative to the project, sorted. */
  readonly folders: readonly string[]
  /** Whether there may be more than the limits allow. */
  readonly isPartial: boolean
}

/**
 * Finds the folders that the globs of a workspace name, such as `packages/*`, `apps/**` and `!apps/old`. Looks into the folders that a glob
 * can match only, never into `node_modules`, hidden folders, linked folders and folders outside the project.
 */
export async function findMembers(root: string, patterns: readonly string[]): Promise<FoundMembers> {
  const normal = patterns.map((pattern) =>
    pattern
      .trim()
      .replace(/^(!?)(?:\.?\/)*/, '$1')
      .replace(/(?<!\/)\/+$/, ''),
  )
  const excluded = normal.flatMap((pattern) => (pattern.startsWith('!') ? parseGlob(pattern.slice(1)) : []))
  const found = new Set<string>()
  let folderCount = 0

  async function walk(folder: string, depth: number, glob: PathGlob): Promise<void> {
    if (matchesPathGlob(glob, `/${folder}`)) found.add(folder)
    if (depth === 0) return
    for (const name of await listFolders(join(root, folder))) {
      if (++folderCount > MAX_FOLDERS || found.size >= MAX_MEMBERS) return
      await walk(folder === '' ? name : `${folder}/${name}`, depth - 1, glob)
    }
  }

  for (const pattern of normal) {
    if (pattern === '' || pattern === '.' || pattern.startsWith('!')) continue
    const segments = pattern.split('/')
    const wild = segments.findIndex((segment) => /[*?[{]/.test(segment))
    const start = (wild < 0 ? segments : segments.slice(0, wild)).join('/')
    if (segments.includes('..') || segments.includes('node_modules')) continue
    const depth = wild < 0 ? 0 : segments.includes('**') ? MAX_DEPTH : segments.length - wild
    for (const glob of expandBraces(pattern).flatMap(parseGlob)) await walk(start, depth, glob)
  }
  const folders = [...found].filter((folder) => !excluded.some((glob) => matchesPathGlob(glob, `/${folder}`)))
  return {
    folders: folders.filter((folder) => folder !== '').toSorted(compareUtf8),
    isPartial: folderCount > MAX_FOLDERS || found.size >= MAX_MEMBERS,
  }
}

/** The compiled glob; none for a pattern that is no glob. */
function parseGlob(pattern: string): PathGlob[] {
  try {
    return [parsePathGlob(`/${pattern}`)]
  } catch (error) {
    if (error instanceof TypeError) return []
    throw error
  }
}

/** `{apps,packages}/*` → both patterns. Only the first group is expanded. */
function expandBraces(pattern: string): string[] {
  const [, before = '', inside, after = ''] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(pattern) ?? []
  return inside === undefined ? [pattern] : inside.split(',').map((one) => before + one + after)
}

/** The names of the folders in a folder; none if it cannot be read. */
async function listFolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .toSorted(compareUtf8)
  } catch {
    // A glob may name a folder that does not exist.
    return []
  }
}
