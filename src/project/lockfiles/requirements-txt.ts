import { posix } from 'node:path'
import { type Integrity, parseNamedDigest } from '../../core/integrity.ts'
import { normalizePypiName } from '../../core/url/package-url.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { createPackageList, type PackageList } from './package-list.ts'
import { createLockfileError } from './parse-syntax.ts'
import { describeOrigin, parsePythonRequirement } from './python-requirement.ts'

/** A line of a requirements file, with its continuation lines. */
interface Line {
  readonly number: number
  readonly text: string
  /** Comments that say which requirement a tool added the line for: `# via flask`. */
  readonly via: readonly string[]
}

/** A file that a requirements file includes. */
interface Include {
  readonly path: string
  /** Whether it only limits versions (`-c`). */
  readonly isConstraint: boolean
}

/** Options of pip that say nothing about packages; some are followed by a value. */
const OPTION = /^-{1,2}[a-z]/i
const INCLUDE = /^(?:(-r|--requirement)|-c|--constraint)(?:\s+|=|(?<=^-[rc]))(.+)$/
const EDITABLE = /^(?:-e|--editable)(?:\s+|=)(.+)$/

/**
 * Parses requirements files of pip. Included files are looked up in `others` by their path; what is not there was outside the project.
 * Constraints give versions to the packages that have none.
 */
export function parseRequirements(files: readonly ProjectFile[], others: readonly ProjectFile[]): Lockfile {
  const byPath = new Map([...files, ...others].map((file) => [file.path, file]))
  const list = createPackageList('pypi')
  const constraints = new Map<string, string>()
  const visits = new Map(files.map((file) => [file.path, { file, isDev: isForDevelopment(file.path) }]))
  const included = new Set<string>()
  const constraintFiles = new Set<string>()
  // The loop also visits the files that are added during it.
  for (const { file, isDev } of visits.values()) {
    for (const { path, isConstraint } of listIncludes(file)) {
      const target = byPath.get(path)
      if (target === undefined) list.skip(path, `${file.path} includes it, and it is not in the project`)
      else if (isConstraint) constraintFiles.add(path)
      else {
        included.add(path)
        // A file for development that includes the main file does not make all of it for development.
        visits.set(path, { file: target, isDev: isDev && (visits.get(path)?.isDev ?? true) })
      }
    }
  }
  for (const path of constraintFiles) readConstraints(byPath.get(path), constraints)
  for (const [path, { file, isDev }] of visits) {
    if (constraintFiles.has(path) && !included.has(path)) continue
    addRequirements(list, file, isDev, constraints)
  }
  return list.finish()
}

/** The files that a requirements file includes, by paths relative to the project. */
export function listIncludes(file: ProjectFile): Include[] {
  return readLines(file).flatMap(({ text }) => {
    const [, requirement, target] = INCLUDE.exec(text) ?? []
    if (target === undefined) return []
    const name = target
      .replace(/\s#.*$/, '')
      .trim()
      .replace(/^["'](.*)["']$/, '$1')
    const path = /^[a-z]+:/i.test(name) ? name : posix.join(posix.dirname(file.path), name)
    return [{ path, isConstraint: requirement === undefined }]
  })
}

function readConstraints(file: ProjectFile | undefined, constraints: Map<string, string>): void {
  if (file === undefined) return
  for (const { text } of readLines(file)) {
    const requirement = OPTION.test(text) ? undefined : parsePythonRequirement(withoutOptions(text))
    if (requirement?.kind !== 'registry' || requirement.version === null) continue
    constraints.set(normalizePypiName(requirement.name), requirement.version)
  }
}

function addRequirements(
  list: PackageList,
  file: ProjectFile,
  isDev: boolean,
  constraints: ReadonlyMap<string, string>,
): void {
  for (const { number, text, via } of readLines(file)) {
    const editable = EDITABLE.exec(text)?.[1]
    if (editable !== undefined) {
      const address = withoutOptions(editable)
      list.skip(nameInAddress(address), describeOrigin(address))
      continue
    }
    if (OPTION.test(text)) continue
    const plain = withoutOptions(text)
    const requirement = parsePythonRequirement(plain)
    if (requirement?.kind === 'elsewhere') list.skip(requirement.name, requirement.reason)
    else if (requirement !== undefined) {
      list.add({
        ...requirement,
        version: requirement.version ?? constraints.get(normalizePypiName(requirement.name)) ?? null,
        hashes: readHashes(text),
        isDirect: via.length === 0 || via.some((one) => /^-[rc]\b|^[^(]*\(.*\)$/.test(one)),
        isDev,
      })
    } else if (/[/\\:]|\.(?:whl|zip|tar\.gz|tgz)$/i.test(plain)) list.skip(nameInAddress(plain), describeOrigin(plain))
    else throw createLockfileError(file, 'this is not a requirement of pip', { line: number })
  }
}

/** `requirements-dev.txt`, `requirements_test.txt`, `dev-requirements.txt` */
function isForDevelopment(path: string): boolean {
  return /(?:^|[-_./])(?:dev|devel|develop|development|tests?|testing|lint|linting|docs?)(?=[-_./])/i.test(path)
}

/** The name in `#egg=name`, or else the address itself. */
function nameInAddress(address: string): string {
  return /[#&]egg=([\w.-]+)/.exec(address)?.[1] ?? address
}

/** The digests that a line names: `--hash=sha256:…`. */
function readHashes(text: string): Integrity[] {
  return Array.from(text.matchAll(/\s--hash[= ]\s*([a-z0-9]+:[0-9a-f]+)/gi), ([, digest = '']) => digest).flatMap(
    (digest) => parseNamedDigest(digest) ?? [],
  )
}

/** A requirement without options of its line, such as `--hash=sha256:…`. */
function withoutOptions(text: string): string {
  const start = text.search(/\s--?[a-z]/i)
  return (start < 0 ? text : text.slice(0, start)).trim()
}

/** Joins continuation lines and removes comments as pip does. */
function readLines(file: ProjectFile): Line[] {
  const lines: { number: number; text: string; via: string[] }[] = []
  let joined = ''
  let start = 0
  // Tools write several names below an empty `# via`.
  let isInVia = false
  for (const [index, raw] of file.text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const comment = /^\s*#\s*(.*)$/.exec(raw)?.[1]
    if (comment !== undefined && joined === '') {
      const via: string | undefined = /^via\b\s*(.*)$/.exec(comment)?.[1] ?? (isInVia ? comment : undefined)
      isInVia = via !== undefined
      if (via) lines.at(-1)?.via.push(via.trim())
      continue
    }
    isInVia = false
    if (joined === '') start = index + 1
    const isContinued = /(?:^|[^\\])\\$/.test(raw)
    joined += isContinued ? `${raw.slice(0, -1)} ` : raw
    if (isContinued) continue
    const [, text = '', inline] = /^(.*?)(?:(?:^|\s)#\s*(.*))?$/.exec(joined) ?? []
    joined = ''
    if (text.trim() === '') continue
    const via = /^via\s+(.*)$/.exec(inline ?? '')?.[1]
    lines.push({ number: start, text: text.trim(), via: via === undefined ? [] : via.split(/,\s*/) })
  }
  if (joined.trim() !== '') lines.push({ number: start, text: joined.trim(), via: [] })
  return lines
}
