import { compareUtf8 } from '../../core/text/order.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { mergePackages } from '../lockfiles/package-list.ts'
import { parsePyproject, parsePyprojectAlone } from '../lockfiles/pyproject.ts'
import { parsePipfileLock, parsePoetryLock, parsePylock } from '../lockfiles/python-lock.ts'
import { listIncludes, parseRequirements } from '../lockfiles/requirements-txt.ts'
import { parseUvLock } from '../lockfiles/uv-lock.ts'
import type { ProjectFolder } from '../project-folder.ts'
import { chooseLock, type EcosystemFiles, readAll } from './ecosystem.ts'

const PARSERS: ReadonlyMap<string, (lock: ProjectFile, manifests: readonly ProjectFile[]) => Lockfile> = new Map([
  ['uv.lock', parseUvLock],
  ['poetry.lock', parsePoetryLock],
  ['Pipfile.lock', parsePipfileLock],
  ['pylock.toml', parsePylock],
])

const REQUIREMENTS = /^(?:[\w.-]+[-_])?requirements(?:[-_.][\w.-]*)?\.txt$/i

/** Finds the files of pip, Poetry, uv, Pipenv and pylock. */
export async function findPythonFiles(folder: ProjectFolder): Promise<EcosystemFiles | undefined> {
  const { lock, notes } = await chooseLock(folder, [...PARSERS.keys()])
  const pyproject = await folder.read('pyproject.toml')
  const name = pyproject && parsePyproject(pyproject).name
  const parseLock = lock && PARSERS.get(lock.path)
  if (lock !== undefined && parseLock !== undefined) {
    const manifests = await readAll(folder, ['pyproject.toml', 'Pipfile'])
    return { type: 'pypi', files: [lock.path], name, notes, parse: () => parseLock(lock, manifests) }
  }
  const requirements = await readOwnRequirements(folder)
  if (requirements.length === 0 && pyproject === undefined) return undefined
  const included = await readIncluded(folder, requirements)
  return {
    type: 'pypi',
    files: [...requirements, ...(pyproject === undefined ? [] : [pyproject])].map(({ path }) => path),
    name,
    notes,
    parse: () =>
      joinManifests(
        parseRequirements(requirements, included),
        pyproject === undefined ? undefined : parsePyprojectAlone(pyproject),
      ),
  }
}

/** The requirements files of a project, and those that they include. */
export async function readRequirementsFiles(folder: ProjectFolder): Promise<ProjectFile[]> {
  return readIncluded(folder, await readOwnRequirements(folder))
}

function readOwnRequirements(folder: ProjectFolder): Promise<ProjectFile[]> {
  const names = [...folder.names].filter((one) => REQUIREMENTS.test(one)).toSorted(compareUtf8)
  return readAll(folder, names)
}

/** Reads the files that requirements files include, and those that these include. */
async function readIncluded(folder: ProjectFolder, files: readonly ProjectFile[]): Promise<ProjectFile[]> {
  const found = new Map(files.map((file) => [file.path, file]))
  for (const file of found.values()) {
    for (const { path } of listIncludes(file)) {
      // A path that leads outside is not read.
      if (found.has(path) || path.startsWith('..')) continue
      const target = await folder.read(path)
      if (target !== undefined) found.set(path, target)
    }
  }
  return [...found.values()]
}

/** An environment has one version of a package, so an exact version answers a range. */
function joinManifests(requirements: Lockfile, pyproject: Lockfile | undefined): Lockfile {
  if (pyproject === undefined) return requirements
  const byName = Map.groupBy([...requirements.packages, ...pyproject.packages], ({ name }) => name)
  const packages = [...byName.values()].flatMap((same) => {
    const exact = same.filter(({ version }) => version !== null)
    const [first, ...rest] = exact.length > 0 ? exact : same
    if (first === undefined) return []
    const ranges = same.filter(({ version }) => version === null)
    // The range of pyproject.toml is what the project asks for.
    const merged = ranges.reduce((one, other) => mergePackages(one, other), first)
    return [merged, ...rest]
  })
  return { packages, skipped: [...requirements.skipped, ...pyproject.skipped] }
}
