import { entriesOf, fieldOf, listOf, textOf, textsOf } from '../../core/json/fields.ts'
import { normalizePypiName } from '../../core/url/package-url.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { parseToml } from './parse-syntax.ts'
import { exactPythonVersion, parsePythonRequirement } from './python-requirement.ts'

/** What a project asks for, with normalised names. */
export interface PythonDependency {
  readonly name: string
  readonly range: string | undefined
  readonly version: string | null
  readonly isDev: boolean
  /** Why it is not from a registry, if it is not. */
  readonly reason?: string
}

/** What a `pyproject.toml` or `Pipfile` says. */
export interface PythonManifest {
  readonly name: string | undefined
  readonly dependencies: readonly PythonDependency[]
  /** Requirements that could not be parsed. */
  readonly unreadable: readonly string[]
}

/** Parses the `pyproject.toml` of a project that has no lock file. */
export function parsePyprojectAlone(file: ProjectFile): Lockfile {
  const { dependencies, unreadable, name: project } = parsePyproject(file)
  const list = createPackageList('pypi')
  for (const text of unreadable) list.skip(text, 'this is not a requirement of Python')
  for (const { name, reason, ...facts } of dependencies) {
    // A project may ask for itself, to name its extras.
    if (project !== undefined && name === normalizePypiName(project)) continue
    if (reason !== undefined) list.skip(name, reason)
    else list.add({ name, ...facts, isDirect: true })
  }
  return list.finish()
}

/** Parses a `pyproject.toml`: the standard tables, and those of Poetry, PDM and uv. */
export function parsePyproject(file: ProjectFile): PythonManifest {
  const value = parseToml(file)
  const project = fieldOf(value, 'project')
  const tool = fieldOf(value, 'tool')
  const poetry = fieldOf(tool, 'poetry')
  const unreadable: string[] = []
  const readAll = (texts: readonly string[], isDev: boolean): PythonDependency[] =>
    texts.flatMap((text) => readRequirement(text, isDev, unreadable))
  const dependencies = [
    ...readAll(textsOf(fieldOf(project, 'dependencies')), false),
    ...entriesOf(fieldOf(project, 'optional-dependencies')).flatMap(([, texts]) => readAll(textsOf(texts), false)),
    ...entriesOf(fieldOf(value, 'dependency-groups')).flatMap(([, texts]) => readAll(textsOf(texts), true)),
    ...readAll(textsOf(fieldOf(fieldOf(tool, 'uv'), 'dev-dependencies')), true),
    ...entriesOf(fieldOf(fieldOf(tool, 'pdm'), 'dev-dependencies')).flatMap(([, texts]) =>
      readAll(textsOf(texts), true),
    ),
    ...readPoetryTable(fieldOf(poetry, 'dependencies'), false),
    ...readPoetryTable(fieldOf(poetry, 'dev-dependencies'), true),
    ...entriesOf(fieldOf(poetry, 'group')).flatMap(([group, table]) =>
      readPoetryTable(fieldOf(table, 'dependencies'), group !== 'main'),
    ),
  ]
  return { name: textOf(project, 'name') ?? textOf(poetry, 'name'), dependencies, unreadable }
}

/** Parses a `Pipfile`. */
export function parsePipfile(file: ProjectFile): PythonManifest {
  const dependencies = entriesOf(parseToml(file))
    .filter(([section]) => !['source', 'requires', 'scripts', 'pipenv', 'pipfile'].includes(section))
    .flatMap(([section, table]) => readPoetryTable(table, section !== 'packages'))
  return { name: undefined, dependencies, unreadable: [] }
}

function readRequirement(text: string, isDev: boolean, unreadable: string[]): PythonDependency[] {
  const parsed = parsePythonRequirement(text.trim())
  if (parsed === undefined) {
    unreadable.push(text)
    return []
  }
  const name = normalizePypiName(parsed.name)
  return parsed.kind === 'registry'
    ? [{ name, range: parsed.range, version: parsed.version, isDev }]
    : [{ name, range: undefined, version: null, isDev, reason: parsed.reason }]
}

/** Reads a table of names with ranges, or with tables or lists of tables that have a range or another origin. */
function readPoetryTable(table: unknown, isDev: boolean): PythonDependency[] {
  return entriesOf(table).flatMap(([key, value]) => {
    const name = normalizePypiName(key)
    // Python itself has a version too.
    if (name === 'python') return []
    return (Array.isArray(value) ? listOf(value) : [value]).map((one) => {
      const reason = findReason(one)
      const range = typeof one === 'string' ? one : textOf(one, 'version')
      if (reason !== undefined) return { name, range: undefined, version: null, isDev, reason }
      return { name, range, version: range === undefined ? null : exactVersion(range), isDev }
    })
  })
}

/** Poetry reads a bare version as exactly that version. */
function exactVersion(range: string): string | null {
  return exactPythonVersion(/^\d[\w.+!-]*$/.test(range) ? `==${range}` : range)
}

function findReason(value: unknown): string | undefined {
  if (fieldOf(value, 'git') !== undefined) return FROM_GIT
  if (fieldOf(value, 'path') !== undefined || fieldOf(value, 'file') !== undefined) return FROM_FOLDER
  return fieldOf(value, 'url') === undefined ? undefined : FROM_URL
}

/** The ranges that the manifests ask for by name, and the names that are not only for development. */
export interface PythonAsked {
  readonly ranges: ReadonlyMap<string, string | undefined>
  readonly production: ReadonlySet<string>
}

/** Collects what manifests ask for. */
export function collectAsked(manifests: readonly PythonManifest[]): PythonAsked {
  const ranges = new Map<string, string | undefined>()
  const production = new Set<string>()
  for (const { name, range, isDev } of manifests.flatMap((one) => one.dependencies)) {
    // Other versions of Python may get other ranges.
    const known = ranges.get(name)
    ranges.set(
      name,
      known === undefined || range === undefined || known === range ? (known ?? range) : `${known} || ${range}`,
    )
    if (!isDev) production.add(name)
  }
  return { ranges, production }
}
