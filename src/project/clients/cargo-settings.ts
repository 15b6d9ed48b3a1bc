import { join } from 'node:path'
import { fieldOf, textOf } from '../../core/json/fields.ts'
import { PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import type { ProjectFile } from '../locked-package.ts'
import { parseToml } from '../lockfiles/parse-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  createCredential,
  createSettingsError,
  listProjectFolders,
  parseAddress,
  readSettingsFile,
} from './client-settings.ts'
import { rethrowAsSettings } from './settings-syntax.ts'

/** A settings file of Cargo. */
interface CargoFile {
  readonly path: string
  readonly value: unknown
  /** Whether it is the user's, not a file of a project. */
  readonly isOwn: boolean
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
  const given = environment[`${variable}_INDEX`] ?? ''
  const index =
    given === ''
      ? (find('source', name, 'registry') ?? find('registries', name, 'index'))
      : { text: given, path: `${variable}_INDEX`, isOwn: true }
  if (index === undefined) {
    // A folder replaces the registry only by the same packages, and those that it has are read from the disk.
    if (FOLDER_SOURCES.some((kind) => find('source', name, kind) !== undefined)) {
      return { addresses: [], credentials: [] }
    }
    throw createSettingsError(origin, undefined, `it replaces crates.io by the source ${name}, which has no address`)
  }
  const parsed = index.text.startsWith(SPARSE) ? parseAddress(index.text.slice(SPARSE.length), SPARSE) : undefined
  if (parsed === undefined) {
    const problem = `the registry ${name} has no sparse index, which is the only kind that can be read`
    throw createSettingsError(origin, undefined, problem)
  }
  const url = new URL(parsed.address.slice(SPARSE.length))
  // The token of the public registry is for publishing.
  if (`${url.href.replace(/(?<!\/)\/+$/, '')}/` === PUBLIC_REGISTRIES.crates)
    return { addresses: [parsed.address], credentials: [] }
  // A project could give its own address to a name for which the user has a token.
  const token = index.isOwn
    ? environment[`${variable}_TOKEN`] || (await readToken(cargoHome, name)) || findOwnToken(files, name)
    : undefined
  // Cargo sends the token as it is.
  const credentials = token === undefined ? parsed.credentials : [createCredential(url, token)]
  return { addresses: [parsed.address], credentials }
}

const SPARSE = 'sparse+'

/** Sources that are folders of this machine. */
const FOLDER_SOURCES = ['directory', 'local-registry']

function findOwnToken(files: readonly CargoFile[], name: string): string | undefined {
  const own = files.filter(({ isOwn }) => isOwn)
  return findValue(own, ['registries', name, 'token'])?.text
}

async function readConfigFiles(places: ClientPlaces, cargoHome: string): Promise<CargoFile[]> {
  const folders = listProjectFolders(places).map((folder) => join(folder, '.cargo'))
  const files: CargoFile[] = []
  for (const folder of new Set([...folders, cargoHome])) {
    // Cargo prefers the name without an ending if both exist.
    const file =
      (await readSettingsFile(join(folder, 'config'))) ?? (await readSettingsFile(join(folder, 'config.toml')))
    if (file !== undefined) files.push({ path: file.path, value: parseConfig(file), isOwn: folder === cargoHome })
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
): { readonly text: string; readonly path: string; readonly isOwn: boolean } | undefined {
  for (const file of files) {
    const found = path.reduce<unknown>(fieldOf, file.value)
    if (typeof found === 'string') return { text: found, path: file.path, isOwn: file.isOwn }
  }
  return undefined
}
