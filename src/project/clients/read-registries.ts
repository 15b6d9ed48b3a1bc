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
  const credentials: Credential[] = []
  let npmScopes: ReadonlyMap<string, string> = new Map()
  for (const type of Object.keys(READERS) as RegistryType[]) {
    if (configured[type] !== undefined) continue
    try {
      const found = await READERS[type](places)
      const [first, ...rest] = found.addresses
      if (first !== undefined) registries[type] = first
      if (rest.length > 0) further[type] = rest
      npmScopes = found.scopes ?? npmScopes
      credentials.push(...found.credentials)
    } catch (error) {
      if (!(error instanceof PharosError)) throw error
      broken[type] = error
    }
  }
  return { ...registries, npmScopes, further, broken, authorize: (url) => findCredential(credentials, url) }
}

/** The header for an address: that of the longest path above it on its host. */
function findCredential(credentials: readonly Credential[], { host, pathname }: URL): string | undefined {
  const matching = credentials.filter((one) => one.host === host && `${pathname}/`.startsWith(one.path))
  return matching.toSorted((a, b) => b.path.length - a.path.length)[0]?.authorization
}
