import { realpathSync } from 'node:fs'
import type { DeclarationFiles } from '../core/check/module-graph.ts'
import { AdditionFiles } from './addition-files.ts'
import { readText, statFile } from './read-text.ts'
import { nativePath, slashPath } from './slash-path.ts'

/** Larger files are not read. The declarations of a browser have 2 MB. */
const MAX_BYTES = 4_000_000

/** Reads the declarations of the packages that are installed on this machine. Remembers what exists. */
export function openDeclarationFiles(): DeclarationFiles {
  const sizes = new Map<string, number | undefined>()
  const folders = new Map<string, string | undefined>()
  const sizeOf = (path: string): number | undefined => {
    if (!sizes.has(path)) sizes.set(path, statFile(nativePath(path))?.size)
    return sizes.get(path)
  }
  const findAbove = (name: string, folder: string): string | undefined => {
    for (let at = folder.replace(/(?<!\/)\/+$/, ''); ; at = at.slice(0, at.lastIndexOf('/'))) {
      const candidate = `${at}/node_modules/${name}`
      if (sizeOf(`${candidate}/package.json`) !== undefined) return realPath(candidate)
      if (!at.includes('/')) return undefined
    }
  }
  const findPackage = (name: string, folder: string): string | undefined => {
    const key = `${folder}\n${name}`
    if (!folders.has(key)) folders.set(key, findAbove(name, folder))
    return folders.get(key)
  }
  const additions = new AdditionFiles(findPackage)
  return {
    read(path) {
      const size = sizeOf(path)
      return size === undefined || size > MAX_BYTES ? undefined : readText(nativePath(path))
    },
    hasFile: (path) => sizeOf(path) !== undefined,
    findPackage,
    findAdditions: (name, folder) => additions.find(name, folder),
  }
}

function realPath(path: string): string | undefined {
  try {
    return slashPath(realpathSync(nativePath(path)))
  } catch {
    // It was removed.
    return undefined
  }
}
