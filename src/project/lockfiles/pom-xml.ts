import { writeList } from '../../core/text/list.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { FROM_FOLDER } from './origins.ts'
import { createPackageList, type PackageFacts } from './package-list.ts'
import { type PomElement, parsePomSyntax } from './pom-syntax.ts'

/** A `pom.xml` with the parents of it that are in the project, nearest first. */
interface Pom {
  readonly project: PomElement
  readonly parents: readonly PomElement[]
}

/** Versions of modules that `dependencyManagement` sets, with the scope. */
type Managed = ReadonlyMap<string, PomElement>

/**
 * Parses the `pom.xml` of a project and of its modules. Parents in other repositories and imported lists of versions are not read, so what
 * takes its version from there is skipped with that reason.
 */
export function parsePoms(files: readonly ProjectFile[]): Lockfile {
  const projects = files.map((file) => parsePomSyntax(file))
  const byName = new Map(projects.map((project) => [nameOf(project), project]))
  const list = createPackageList('maven')
  for (const project of projects) {
    const pom = { project, parents: findParents(project, byName) }
    const managed = readManaged(pom)
    for (const dependency of listDependencies(project)) {
      const described = describeDependency(dependency, pom, managed)
      // Modules of the project need each other.
      if (byName.has(described.name)) continue
      if ('reason' in described) list.skip(described.name, described.reason)
      else list.add(described)
    }
  }
  return list.finish()
}

/** The modules that a `pom.xml` names, as paths of folders or files. */
export function listPomModules(file: ProjectFile): string[] {
  const project = parsePomSyntax(file)
  const owners = [project, ...project.children('profiles', 'profile')]
  return owners.flatMap((owner) => owner.children('modules', 'module').map((module) => module.text.trim()))
}

/** The name of the artifact of a `pom.xml`. */
export function readPomName(file: ProjectFile): string | undefined {
  return parsePomSyntax(file).find('artifactId')?.text.trim()
}

/** The package that a dependency asks for, or the reason why there is none. */
function describeDependency(
  dependency: PomElement,
  pom: Pom,
  managed: Managed,
): PackageFacts | { readonly name: string; readonly reason: string } {
  const written = `${textIn(dependency, 'groupId')}:${textIn(dependency, 'artifactId')}`
  const name = resolveText(written, pom)
  if (name === undefined) return { name: written, reason: 'its name has a property that is not defined in the project' }
  const scope = textIn(dependency, 'scope') || textIn(managed.get(name), 'scope')
  if (scope === 'system') return { name, reason: FROM_FOLDER }
  const label = textIn(dependency, 'version') || textIn(managed.get(name), 'version')
  if (label === '') return { name, reason: describeMissing(pom) }
  const range = resolveText(label, pom)
  if (range === undefined) {
    const shown = sanitizeText(label.slice(0, MAX_TEXT_CHARS))
    return { name, reason: `its version ${shown} has a property that is not defined in the project` }
  }
  const exact = /^\[([^,[\]()]+)\]$/.exec(range)?.[1] ?? range
  const isRange = /[[(,]/.test(exact) || exact === 'LATEST' || exact === 'RELEASE'
  return { name, version: isRange ? null : exact, range, isDirect: true, isDev: scope === 'test' }
}

/** Why a dependency has no version: it is in the parent, or in a list of versions, of another repository. */
function describeMissing(pom: Pom): string {
  const owners = [pom.project, ...pom.parents]
  const imported = owners.flatMap((owner) =>
    owner
      .children('dependencyManagement', 'dependencies', 'dependency')
      .filter((dependency) => textIn(dependency, 'scope') === 'import'),
  )
  const parent = owners.at(-1)?.find('parent')
  const names = [...imported, ...(parent === undefined ? [] : [parent])]
    .slice(0, MAX_NAMED)
    .map((one) =>
      ['groupId', 'artifactId', 'version']
        .map((field) => resolveText(textIn(one, field), pom) ?? textIn(one, field))
        .join(':'),
    )
  return names.length === 0
    ? 'its version is not in the project'
    : `its version is not in the project but set by ${sanitizeText(writeList(names, 'or'))}`
}

const MAX_NAMED = 3

/** The dependencies of a project and of its profiles. */
function listDependencies(project: PomElement): PomElement[] {
  return [project, ...project.children('profiles', 'profile')].flatMap((owner) =>
    owner.children('dependencies', 'dependency'),
  )
}

/** The versions that a project and its parents set; the nearest one counts. */
function readManaged(pom: Pom): Managed {
  const managed = new Map<string, PomElement>()
  for (const owner of [pom.project, ...pom.parents]) {
    for (const dependency of owner.children('dependencyManagement', 'dependencies', 'dependency')) {
      const name = `${resolveText(textIn(dependency, 'groupId'), pom)}:${resolveText(textIn(dependency, 'artifactId'), pom)}`
      if (textIn(dependency, 'scope') !== 'import' && !managed.has(name)) managed.set(name, dependency)
    }
  }
  return managed
}

function findParents(project: PomElement, byName: ReadonlyMap<string, PomElement>): PomElement[] {
  const parents: PomElement[] = []
  for (let child = project; parents.length < MAX_PARENTS; ) {
    const reference = child.find('parent')
    const parent = reference && byName.get(`${textIn(reference, 'groupId')}:${textIn(reference, 'artifactId')}`)
    if (parent === undefined || parents.includes(parent) || parent === project) break
    parents.push(parent)
    child = parent
  }
  return parents
}

const MAX_PARENTS = 20
const MAX_PASSES = 20
const MAX_TEXT_CHARS = 1000

/** Replaces properties by their values, which may have properties too. Undefined if one is not defined. */
function resolveText(text: string, pom: Pom): string | undefined {
  let resolved = text
  // Properties that refer to each other never end; this gives up on them.
  for (let pass = 0; resolved.includes('${'); pass++) {
    if (pass === MAX_PASSES || resolved.length > MAX_TEXT_CHARS) return undefined
    let isDefined = true
    resolved = resolved.replaceAll(/\$\{([^{}]*)\}/g, (_, property: string) => {
      const value = findProperty(property.trim(), pom)
      isDefined &&= value !== undefined
      return value ?? ''
    })
    if (!isDefined) return undefined
  }
  return resolved
}

function findProperty(property: string, { project, parents }: Pom): string | undefined {
  for (const owner of [project, ...parents]) {
    const value = owner.find('properties')?.find(property)
    if (value !== undefined) return value.text.trim()
  }
  const path = /^(?:project|pom)\.(parent\.)?(groupId|artifactId|version)$/.exec(property)
  if (path === null) return undefined
  const [, parent, field = ''] = path
  const element =
    parent === undefined
      ? (project.find(field) ?? project.find('parent')?.find(field))
      : project.find('parent')?.find(field)
  return element?.text.trim()
}

/** `group:artifact` of a project, whose group may be that of its parent. */
function nameOf(project: PomElement): string {
  const group = textIn(project, 'groupId') || textIn(project.find('parent'), 'groupId')
  return `${group}:${textIn(project, 'artifactId')}`
}

function textIn(element: PomElement | undefined, name: string): string {
  return element?.find(name)?.text.trim() ?? ''
}
