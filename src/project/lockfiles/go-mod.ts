import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { FROM_FOLDER } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { createLockfileError } from './parse-syntax.ts'

/** What a `go.mod` says (https://go.dev/ref/mod#go-mod-file). */
export interface GoModule {
  readonly name: string | undefined
  readonly required: readonly { readonly name: string; readonly version: string; readonly isDirect: boolean }[]
  /** Replacements by `name` or `name version`: another module with its version, or a folder without one. */
  readonly replaced: ReadonlyMap<string, { readonly name: string; readonly version: string | undefined }>
}

/** Parses the `go.mod` files of a project. Go selects the highest version that any of them asks for. */
export function parseGoModules(files: readonly ProjectFile[]): Lockfile {
  const list = createPackageList('golang')
  const modules = files.map(parseGoModule)
  const members = new Set(modules.map((one) => one.name))
  for (const { required, replaced } of modules) {
    for (const { name, version, isDirect } of required) {
      if (members.has(name)) continue
      const target = replaced.get(`${name} ${version}`) ?? replaced.get(name) ?? { name, version }
      if (target.version === undefined) list.skip(name, FROM_FOLDER)
      else list.add({ name: target.name, version: target.version, isDirect })
    }
  }
  return list.finish()
}

const MAX_LINE_CHARS = 10_000

/** Parses a `go.mod`. */
export function parseGoModule(file: ProjectFile): GoModule {
  let name: string | undefined
  let block: string | undefined
  const required: GoModule['required'][number][] = []
  const replaced = new Map<string, { readonly name: string; readonly version: string | undefined }>()
  for (const [index, line] of file.text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.length > MAX_LINE_CHARS) throw createLockfileError(file, 'the line is too long', { line: index + 1 })
    const { words, comment } = readWords(line)
    if (words[0] === undefined) continue
    if (block !== undefined && words[0] === ')') {
      block = undefined
      continue
    }
    if (block === undefined && words[1] === '(') {
      block = words[0]
      continue
    }
    const [directive, ...values] = block === undefined ? words : [block, ...words]
    const [first = '', second] = values
    if (directive === 'module') name = first
    else if (directive === 'require') {
      if (second === undefined) throw createLockfileError(file, 'a version is missing', { line: index + 1 })
      required.push({ name: first, version: second, isDirect: !/^indirect\b/.test(comment) })
    } else if (directive === 'replace') {
      const arrow = values.indexOf('=>')
      const target = values[arrow + 1]
      if (arrow < 1 || target === undefined)
        throw createLockfileError(file, 'this replaces nothing', { line: index + 1 })
      replaced.set(values.slice(0, arrow).join(' '), { name: target, version: values[arrow + 2] })
    }
  }
  if (block !== undefined) throw createLockfileError(file, `the block of ${block} has no end`)
  return { name, required, replaced }
}

/** The folders of a `go.work`. */
export function parseGoWork(file: ProjectFile): string[] {
  const folders: string[] = []
  let isInBlock = false
  for (const line of file.text.split('\n')) {
    const [first, ...rest] = readWords(line).words
    if (isInBlock && first === ')') isInBlock = false
    else if (isInBlock && first !== undefined) folders.push(first)
    else if (first === 'use' && rest[0] === '(') isInBlock = true
    else if (first === 'use' && rest[0] !== undefined) folders.push(rest[0])
  }
  return folders
}

/** The words of a line, which may be in quotes, and its comment. */
function readWords(line: string): { readonly words: readonly string[]; readonly comment: string } {
  const start = line.search(/(?:^|\s)\/\//)
  const code = start < 0 ? line : line.slice(0, start)
  const words = code.match(/"[^"]*"|`[^`]*`|[()]|[^\s()"`]+/g) ?? []
  return {
    words: words.map((word) => word.replace(/^(["`])(.*)\1$/, '$2')),
    comment:
      start < 0
        ? ''
        : line
            .slice(start)
            .replace(/^\s*\/\/\s*/, '')
            .trim(),
  }
}
