import { PharosError } from '../../core/errors.ts'
import { PUBLIC_REGISTRIES, type Registries } from '../../core/url/package-url.ts'
import type { PackageRegistries } from '../../library/ports/registries.ts'
import { readCargoSettings } from './cargo-settings.ts'
import type { ClientPlaces, ClientRegistries, Credential } from './client-settings.ts'
import { readMavenSettings } from './maven-settings.ts'
import { readNpmSettings } from './npm-settings.ts'
import { readPipSettings } from './pip-settings.ts'

type RegistryType = keyof Registries

const READERS: Readonly<Record<RegistryType, (places: ClientPlaces) => Promise<ClientRegistries>>> = {
  npm: readNpmSettings,
  pypi: readPipSettings,
  crates: readCargoSettings,
  maven: readMavenSettings,
}

/**
 * Finds the registry of each type: the one that Pharos is configured for, else the one that the package manager of the user is configured
 * for, else the public one. A broken settings file stops only the packages of its type: they must not come from a public registry that may
 * have other packages of the same names.
 */
export async function readRegistries(
  configured: Readonly<Partial<Registries>>,
  places: ClientPlaces,
): Promise<PackageRegistries> {
  const registries: Record<RegistryType, string> = { ...PUBLIC_REGISTRIES, ...configured }
  const further: Partial<Record<RegistryType, readonly string[]>> = {}
  const broken: Partial<Record<RegistryType, PharosError>> = {}
  const credentials: Partial<Record<RegistryType, readonly Credential[]>> = {}
  let npmScopes: ReadonlyMap<string, string> = new Map()
  for (const type of Object.keys(READERS) as RegistryType[]) {
    if (configured[type] !== undefined) continue
    try {
      const found = await READERS[type](places)
      const [first, ...rest] = found.addresses
      if (first !== undefined) registries[type] = first
      if (rest.length > 0) further[type] = rest
      npmScopes = found.scopes ?? npmScopes
      credentials[type] = found.credentials
    } catch (error) {
      if (!(error instanceof PharosError)) throw error
      broken[type] = error
    }
  }
  const { project, ...ofUser } = places
  return {
    ...(project === undefined ? {} : { ofUser: await readRegistries(configured, ofUser) }),
    ...registries,
    npmScopes,
    further,
    broken,
    authorize: (url, type) => findCredential(credentials[type] ?? [], type, url),
  }
}

/** Types whose packages often have another path than the index on the same host. */
const HOST_WIDE: ReadonlySet<RegistryType> = new Set<RegistryType>(['pypi', 'crates'])

/**
 * The header for an address: that of the longest path above it on its host. A credential that is the only one of its type on its host
 * counts for the whole host, if packages have other paths than their index.
 */
function findCredential(
  credentials: readonly Credential[],
  type: RegistryType,
  { host, pathname }: URL,
): string | undefined {
  const onHost = credentials.filter((one) => one.host === host)
  const matching = onHost.filter((one) => `${pathname}/`.startsWith(one.path))
  const [longest] = matching.toSorted((a, b) => b.path.length - a.path.length)
  if (longest !== undefined) return longest.authorization
  const [only, ...others] = new Set(HOST_WIDE.has(type) ? onHost.map(({ authorization }) => authorization) : [])
  return others.length === 0 ? only : undefined
}
