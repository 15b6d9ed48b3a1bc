import { fieldOf, textsOf } from '../../core/json/fields.ts'
import { findMembers } from '../find-members.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { parseBunLock } from '../lockfiles/bun-lock.ts'
import { parseNpmLock } from '../lockfiles/npm-lock.ts'
import { parseNpmManifest, parseNpmManifests } from '../lockfiles/npm-manifest.ts'
import { parsePnpmLock } from '../lockfiles/pnpm-lock.ts'
import { parseYaml } from '../lockfiles/yaml-syntax.ts'
import { parseYarnLock } from '../lockfiles/yarn-lock.ts'
import type { ProjectFolder } from '../project-folder.ts'
import { chooseLock, type EcosystemFiles, readAll } from './ecosystem.ts'

const PARSERS: ReadonlyMap<string, (lock: ProjectFile, manifests: readonly ProjectFile[]) => Lockfile> = new Map([
  ['npm-shrinkwrap.json', parseNpmLock],
  ['package-lock.json', parseNpmLock],
  ['pnpm-lock.yaml', parsePnpmLock],
  ['yarn.lock', parseYarnLock],
  ['bun.lock', parseBunLock],
])

/** Finds the files of npm, pnpm, Yarn and Bun. */
export async function findNpmFiles(folder: ProjectFolder): Promise<EcosystemFiles | undefined> {
  // npm ignores package-lock.json beside npm-shrinkwrap.json.
  const names = [...PARSERS.keys()].filter(
    (name) => name !== 'package-lock.json' || !folder.names.has('npm-shrinkwrap.json'),
  )
  const { lock, notes } = await chooseLock(folder, names)
  const root = await folder.read('package.json')
  const parseLock = lock && PARSERS.get(lock.path)
  if (parseLock === undefined && root === undefined) return undefined
  const manifest = root && parseNpmManifest(root)
  const patterns = [...(manifest?.workspaces ?? []), ...(await readPnpmWorkspace(folder))]
  const { folders, isPartial } = await findMembers(folder.path, patterns)
  const members = await readAll(
    folder,
    folders.map((one) => `${one}/package.json`),
  )
  const manifests = root === undefined ? members : [root, ...members]
  return {
    type: 'npm',
    files: lock === undefined ? manifests.map(({ path }) => path) : [lock.path],
    name: manifest?.name,
    notes: [
      ...notes,
      ...(isPartial ? ['the workspace has more members than can be read'] : []),
      ...(lock === undefined && folder.names.has('bun.lockb')
        ? ['bun.lockb is binary; `bun install --save-text-lockfile` writes bun.lock, which can be read']
        : []),
    ],
    parse: () => (lock && parseLock ? parseLock(lock, manifests) : parseNpmManifests(manifests)),
  }
}

/** The globs of members that pnpm has in a file of its own. */
async function readPnpmWorkspace(folder: ProjectFolder): Promise<string[]> {
  const file = await folder.read('pnpm-workspace.yaml')
  return file === undefined ? [] : textsOf(fieldOf(parseYaml(file)[0], 'packages'))
}
