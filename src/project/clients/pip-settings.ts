import { delimiter, join } from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import { readRequirementsFiles } from '../ecosystems/python-files.ts'
import type { ProjectFile } from '../locked-package.ts'
import { openProjectFolder } from '../project-folder.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  type Credential,
  createSettingsError,
  parseAddress,
  readSettingsFiles,
  refuseVariables,
  type Setting,
  UNRESOLVED_ADDRESS,
} from './client-settings.ts'
import { parseIni } from './ini-syntax.ts'

/** The addresses that one origin of settings gives. */
interface PipLevel {
  readonly index?: Setting | undefined
  readonly extra?: Setting | undefined
  /** Whether packages may come from an index at all. */
  readonly noIndex?: Setting | undefined
}

/**
 * Reads which indexes pip uses: https://pip.pypa.io/en/stable/topics/configuration/. A requirements file takes precedence over the
 * environment, that over the file of the virtual environment, then come those of the user and of all users.
 */
export async function readPipSettings(places: ClientPlaces): Promise<ClientRegistries> {
  const levels = [
    await readRequirements(places),
    readEnvironment(places.environment),
    ...(await readSettingsFiles(listFiles(places))).map(parsePipConf),
  ]
  const noIndex = levels.find((level) => level.noIndex !== undefined)?.noIndex
  if (noIndex !== undefined && !/^(?:0|n|no|f|false|off)$/i.test(noIndex.value ?? '')) {
    throw createSettingsError(noIndex.file, noIndex.line, 'no-index turns off every index of packages')
  }
  const index = levels.find((level) => level.index !== undefined)?.index
  const extra = levels.find((level) => level.extra !== undefined)?.extra
  if (index === undefined && extra === undefined) return { addresses: [], credentials: [] }
  const settings = [index ?? { value: PUBLIC_INDEX, file: '', line: 1 }, ...(extra === undefined ? [] : [extra])]
  const addresses: string[] = []
  const credentials: Credential[] = []
  for (const { value, file, line } of settings) {
    if (value === undefined) throw createSettingsError(file, line, UNRESOLVED_ADDRESS)
    for (const text of value.split(/\s+/).filter(Boolean)) {
      const parsed = parseAddress(text)
      if (parsed === undefined) throw createSettingsError(file, line, 'the address of an index is no web address')
      addresses.push(toRegistry(parsed.address))
      // The packages are often beside the index: `/pypi/simple/` and `/pypi/packages/`.
      credentials.push(...parsed.credentials.map((one) => ({ ...one, path: one.path.replace(/\/simple\/$/, '/') })))
    }
  }
  return { addresses: [...new Set(addresses)], credentials }
}

/** The index that pip uses if no setting names one. */
const PUBLIC_INDEX = `${PUBLIC_REGISTRIES.pypi}simple/`

/** The public index is read through its JSON, which has more than the list of files. */
function toRegistry(address: string): string {
  return `${address.replace(/(?<!\/)\/+$/, '')}/` === PUBLIC_INDEX ? PUBLIC_REGISTRIES.pypi : `simple+${address}`
}

/** The settings files of pip, strongest first. */
function listFiles(places: ClientPlaces): string[] {
  const { environment, platform, project } = places
  const name = platform === 'win32' ? 'pip.ini' : 'pip.conf'
  const given = environment['PIP_CONFIG_FILE'] ?? ''
  // pip reads no file at all if this one is the null device.
  if (given === '/dev/null' || given.toLowerCase() === 'nul') return []
  const site = [
    ...(project === undefined ? [] : [join(project, '.venv'), join(project, 'venv')]),
    ...(environment['VIRTUAL_ENV'] ? [environment['VIRTUAL_ENV']] : []),
  ].map((folder) => join(folder, name))
  const { user, all } = listCommonFiles(places)
  // A file that a variable names replaces those of the user.
  return given === '' ? [...site, ...user, ...all] : [given, ...site, ...all]
}

/** The files of the user and of all users, strongest first. */
function listCommonFiles({ home, environment, platform, systemFolder }: ClientPlaces): {
  readonly user: readonly string[]
  readonly all: readonly string[]
} {
  if (platform === 'win32') {
    const roaming = environment['APPDATA'] || join(home, 'AppData', 'Roaming')
    const shared = environment['PROGRAMDATA'] || 'C:\\ProgramData'
    return {
      user: [join(roaming, 'pip', 'pip.ini'), join(home, 'pip', 'pip.ini')],
      all: [join(shared, 'pip', 'pip.ini')],
    }
  }
  const config = environment['XDG_CONFIG_HOME'] || join(home, '.config')
  const user = [join(config, 'pip', 'pip.conf'), join(home, '.pip', 'pip.conf')]
  if (platform === 'darwin') {
    const support = ['Library', 'Application Support', 'pip', 'pip.conf']
    return { user: [join(home, ...support), ...user], all: [join('/', ...support)] }
  }
  const shared = (environment['XDG_CONFIG_DIRS'] || join(systemFolder, 'xdg')).split(delimiter)
  return { user, all: [join(systemFolder, 'pip.conf'), ...shared.map((folder) => join(folder, 'pip', 'pip.conf'))] }
}

/** Commands whose sections say where packages come from, strongest first. */
const SECTIONS = ['install', 'download', 'global']

function parsePipConf({ path, text }: ProjectFile): PipLevel {
  const { entries, badLine } = parseIni(text, { hasContinuedLines: true, separator: /[=:]/ })
  if (badLine !== undefined) throw createSettingsError(path, badLine, 'expected `[section]` or `name = value`')
  const find = (name: string): Setting | undefined => {
    const found = SECTIONS.flatMap((section) => {
      return entries.filter((entry) => entry.section === section && normalize(entry.key) === name)
    }).at(0)
    return found === undefined ? undefined : { value: found.value, file: path, line: found.line }
  }
  return { index: find('index-url'), extra: find('extra-index-url'), noIndex: find('no-index') }
}

/** pip takes `index_url` and `--index-url` as well. */
function normalize(key: string): string {
  return key.toLowerCase().replaceAll('_', '-').replace(/^-+/, '')
}

function readEnvironment(environment: ClientPlaces['environment']): PipLevel {
  const find = (file: string): Setting | undefined => {
    const value = environment[file] ?? ''
    return value === '' ? undefined : { value, file, line: 1 }
  }
  return { index: find('PIP_INDEX_URL'), extra: find('PIP_EXTRA_INDEX_URL'), noIndex: find('PIP_NO_INDEX') }
}

const INDEX_OPTION = /^\s*(?:(-i|--index-url|--extra-index-url)(?:\s*=\s*|\s+)(\S+)|(--no-index)\b)/

/** The indexes that the requirements of a project name. Several files may name several indexes; the last line of a file counts. */
async function readRequirements({ project }: ClientPlaces): Promise<PipLevel> {
  const files = project === undefined ? [] : await listRequirements(project)
  const found = files.map(({ path, text }) => {
    return text.split(/\r?\n/).flatMap((line, index) => {
      const [, name = '', value = '', isOff] = INDEX_OPTION.exec(line) ?? []
      const place = { file: path, line: index + 1 }
      if (isOff !== undefined) return [{ name: isOff, value: 'true', ...place }]
      return name === '' ? [] : [{ name, value: refuseVariables(value), ...place }]
    })
  })
  const isIndex = ({ name }: { readonly name: string }) => name === '-i' || name === '--index-url'
  return {
    index: joinValues(found.map((lines) => lines.findLast(isIndex)).filter((one) => one !== undefined)),
    extra: joinValues(found.flat().filter(({ name }) => name === '--extra-index-url')),
    noIndex: found.flat().find(({ name }) => name === '--no-index'),
  }
}

/** The requirements files from which the packages of a project are read, by absolute paths. */
async function listRequirements(project: string): Promise<ProjectFile[]> {
  try {
    const files = await readRequirementsFiles(await openProjectFolder(project))
    return files.map((file) => ({ ...file, path: join(project, file.path) }))
  } catch (cause) {
    // There is no such folder; reading the project says so.
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) return []
    throw cause
  }
}

/** One setting with the values of all, separated by spaces; undefined if one of them is not known. */
function joinValues(settings: readonly Setting[]): Setting | undefined {
  const broken = settings.find(({ value }) => value === undefined)
  return broken ?? (settings[0] && { ...settings[0], value: settings.map(({ value }) => value).join(' ') })
}
