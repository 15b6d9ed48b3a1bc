import { posix } from 'node:path'
import { findMembers } from '../find-members.ts'
import type { ProjectFile } from '../locked-package.ts'
import { parseCargoLock } from '../lockfiles/cargo-lock.ts'
import { type CargoManifest, parseCargoManifests, parseCargoWorkspace } from '../lockfiles/cargo-manifest.ts'
import type { ProjectFolder } from '../project-folder.ts'
import { type EcosystemFiles, readAll } from './ecosystem.ts'

/** Finds the files of Cargo. */
export async function findCargoFiles(folder: ProjectFolder): Promise<EcosystemFiles | undefined> {
  const [lock, root] = await Promise.all([folder.read('Cargo.lock'), folder.read('Cargo.toml')])
  const [manifest] = root === undefined ? [] : parseCargoWorkspace([root])
  if (lock === undefined && manifest === undefined) return undefined
  const members = manifest?.isWorkspace === true ? await readMembers(folder, manifest) : []
  const manifests = root === undefined ? members : [root, ...members]
  return {
    type: 'cargo',
    files: lock === undefined ? manifests.map(({ path }) => path) : [lock.path],
    name: manifest?.name,
    notes: [],
    parse: () => (lock === undefined ? parseCargoManifests(manifests) : parseCargoLock(lock, manifests)),
  }
}

/** Reads the members of a workspace. Path dependencies inside the project are members too. */
async function readMembers(folder: ProjectFolder, root: CargoManifest): Promise<ProjectFile[]> {
  const excluded = root.excluded.map((pattern) => `!${pattern}`)
  const found = new Map<string, ProjectFile>()
  let patterns = [...root.members, ...root.paths]
  while (patterns.length > 0) {
    const { folders } = await findMembers(folder.path, [...patterns, ...excluded])
    const paths = folders.map((one) => `${one}/Cargo.toml`).filter((path) => !found.has(path))
    const files = await readAll(folder, paths)
    for (const file of files) found.set(file.path, file)
    patterns = files.flatMap((file) =>
      parseCargoWorkspace([file]).flatMap(({ paths: targets }) =>
        targets.map((target) => posix.join(posix.dirname(file.path), target)),
      ),
    )
  }
  return [...found.values()]
}
