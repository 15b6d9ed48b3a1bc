import { dirname, join } from 'node:path'
import { PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import type { ProjectFile } from '../locked-package.ts'
import { fieldOf, textOf } from '../lockfiles/fields.ts'
import { parseToml } from '../lockfiles/parse-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  createSettingsError,
  parseAddress,
  readSettingsFile,
} from './client-settings.ts'
import { rethrowAsSettings } from './settings-syntax.ts'

/** A settings file of Cargo. */
interface CargoFile {
  readonly path: string
  readonly value: unknown
}

/**
 * Reads which registry Cargo uses instead of the public one: https://doc.rust-lang.org/cargo/reference/source-replacement.html. A file in a
 * deeper folder takes precedence.
 */
export async function readCargoSettings(places: ClientPlaces): Promise<ClientRegistries> {
  const { environment, home } = places
  const cargoHome = environment['CARGO_HOME'] || join(home, '.cargo')
  const files = await readConfigFiles(places, cargoHome)
  const find = (...path: readonly string[]) => findValue(files, path)
  const visited = new Set<string>()
  let name = 'crates-io'
  let origin = ''
  for (
    let next = find('source', name, 'replace-with');
    next !== undefined;
    next = find('source', name, 'replace-with')
  ) {
    visited.add(name)
    name = next.text
    origin = next.path
    if (visited.has(name)) throw createSettingsError(origin, undefined, 'its sources replace each other in a circle')
  }
  if (visited.size === 0) return { addresses: [], credentials: [] }
  const variable = `CARGO_REGISTRIES_${name.toUpperCase().replace(/[-.]/g, '_')}`
  const index =
    environment[`${variable}_INDEX`] || (find('source', name, 'registry') ?? find('registries', name, 'index'))?.text
  // A folder with packages: those that it has are read from the disk.
  if (index === undefined) return { addresses: [], credentials: [] }
  const parsed = index.startsWith('sparse+') ? parseAddress(index.slice('sparse+'.length), 'sparse+') : undefined
  if (parsed === undefined) {
    const problem = `the registry ${name} has no sparse index, which is the only kind that can be read`
    throw createSettingsError(origin, undefined, problem)
  }
  const { host } = new URL(parsed.address.slice('sparse+'.length))
  const token =
    environment[`${variable}_TOKEN`] || (await readToken(cargoHome, name)) || find('registries', name, 'token')?.text
  // Cargo sends the token as it is, also for the download of packages, which have another path than the index.
  const own = token === undefined ? parsed.credentials : [{ host, path: '/', authorization: token }]
  // The token of the public registry is for publishing.
  const isPublic = `${parsed.address.slice('sparse+'.length).replace(/\/+$/, '')}/` === PUBLIC_REGISTRIES.crates
  return { addresses: [parsed.address], credentials: isPublic ? [] : own }
}

async function readConfigFiles({ project }: ClientPlaces, cargoHome: string): Promise<CargoFile[]> {
  const folders: string[] = []
  if (project !== undefined) {
    for (let folder = project; ; folder = dirname(folder)) {
      folders.push(join(folder, '.cargo'))
      if (dirname(folder) === folder) break
    }
  }
  const files: CargoFile[] = []
  for (const folder of new Set([...folders, cargoHome])) {
    // Cargo prefers the name without an ending if both exist.
    const file =
      (await readSettingsFile(join(folder, 'config'))) ?? (await readSettingsFile(join(folder, 'config.toml')))
    if (file !== undefined) files.push({ path: file.path, value: parseConfig(file) })
  }
  return files
}

function parseConfig(file: ProjectFile): unknown {
  return rethrowAsSettings(file, () => parseToml(file))
}

/** The token that `cargo login` stored for a registry. */
async function readToken(cargoHome: string, name: string): Promise<string | undefined> {
  const file =
    (await readSettingsFile(join(cargoHome, 'credentials'))) ??
    (await readSettingsFile(join(cargoHome, 'credentials.toml')))
  return file && textOf(fieldOf(fieldOf(parseConfig(file), 'registries'), name), 'token')
}

function findValue(
  files: readonly CargoFile[],
  path: readonly string[],
): { readonly text: string; readonly path: string } | undefined {
  for (const file of files) {
    const found = path.reduce<unknown>(fieldOf, file.value)
    if (typeof found === 'string') return { text: found, path: file.path }
  }
  return undefined
}
