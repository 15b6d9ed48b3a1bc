import { parseDigest } from '../../core/integrity.ts'
import { fieldOf, listOf, textOf, textsOf } from '../../core/json/fields.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { parseCargoWorkspace } from './cargo-manifest.ts'
import { findReachable } from './find-reachable.ts'
import { FROM_FOLDER, FROM_GIT } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { parseToml } from './parse-syntax.ts'
import { readPackages } from './python-lock.ts'

/** A package of a `Cargo.lock`. */
interface Crate {
  readonly name: string
  readonly version: string
  /** Undefined for the members of the workspace and other folders. */
  readonly source: string | undefined
  /** `name`, or `name version` if there are several versions, or with the source after that. */
  readonly dependencies: readonly string[]
  readonly checksum: string | undefined
}

/**
 * Parses `Cargo.lock`. The lock file says what the members of a workspace ask for. The `Cargo.toml` files say which packages are members,
 * the ranges, and what is for development.
 */
export function parseCargoLock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const value = parseToml(lock)
  // Old versions of Cargo write the project itself as `root`.
  const metadata = fieldOf(value, 'metadata')
  const crates = [...listOf([fieldOf(value, 'root')]), ...readPackages(lock, value, 'package')].map((entry): Crate => {
    const name = textOf(entry, 'name') ?? ''
    const version = textOf(entry, 'version') ?? ''
    const source = textOf(entry, 'source')
    // Old versions of Cargo write all checksums into one table.
    const checksum = textOf(entry, 'checksum') ?? textOf(metadata, `checksum ${name} ${version} (${source})`)
    return { name, version, source, checksum, dependencies: textsOf(fieldOf(entry, 'dependencies')) }
  })
  const byName = Map.groupBy(crates, ({ name }) => name)
  const find = (dependency: string): readonly Crate[] => {
    const [name = '', version] = dependency.split(' ')
    const sameName = byName.get(name) ?? []
    return version === undefined ? sameName : sameName.filter((one) => one.version === version)
  }
  const members = new Map(parseCargoWorkspace(manifests).map((one) => [one.name, one.dependencies]))
  const isMember = ({ name, source }: Crate): boolean =>
    source === undefined && (members.size === 0 || members.has(name))

  const ranges = new Map<Crate, string | undefined>()
  const productionRoots: Crate[] = []
  for (const member of crates.filter(isMember)) {
    const asked = Map.groupBy(members.get(member.name) ?? [], ({ name }) => name)
    for (const crate of member.dependencies.flatMap(find)) {
      const dependencies = asked.get(crate.name)
      if (ranges.get(crate) === undefined)
        ranges.set(crate, dependencies?.find(({ range }) => range !== undefined)?.range)
      if (dependencies?.every(({ isDev }) => isDev) !== true) productionRoots.push(crate)
    }
  }
  const inProduction = findReachable(productionRoots, (crate) =>
    isMember(crate) ? [] : crate.dependencies.flatMap(find),
  )
  const list = createPackageList('cargo')
  for (const crate of crates) {
    const reason = findReason(crate)
    if (isMember(crate) || crate.name === '') continue
    if (reason !== undefined) list.skip(crate.name, reason)
    else {
      const { name, version, checksum } = crate
      const digest = parseDigest('sha256', checksum)
      const use = { range: ranges.get(crate), isDirect: ranges.has(crate), isDev: !inProduction.has(crate) }
      list.add({ name, version, ...use, hashes: digest === undefined ? [] : [digest] })
    }
  }
  return list.finish()
}

/** Why a crate is not from crates.io; undefined if it is. */
function findReason({ source }: Crate): string | undefined {
  if (source === undefined) return FROM_FOLDER
  if (source.startsWith('git+')) return FROM_GIT
  const isPublic =
    /^registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|\+https:\/\/index\.crates\.io\/?/.test(source)
  return isPublic ? undefined : 'it comes from another registry than crates.io'
}
