import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { PharosError } from './core/errors.ts'
import { writeDuration } from './core/text/duration.ts'
import { isPostgres, nameDatabase } from './core/url/postgres-address.ts'
import type { GitAccess } from './core/url/repository-url.ts'
import { type GivenValue, parseValue, type SettingOrigin } from './settings/parse-value.ts'
import { NO_FILE, parseConfigText, readConfigFile } from './settings/read-config-file.ts'
import { SERVER_SETTINGS } from './settings/server-settings.ts'
import {
  type Config,
  flagName,
  SETTINGS,
  type SettingName,
  settingNames,
  type Value,
  variableName,
} from './settings/settings.ts'
import {
  createSiteHeaderLookup,
  listHeaderVariables,
  parseSiteHeaders,
  type SiteHeaderLookup,
} from './settings/site-headers.ts'
import { createTokenLookup, parseTokens, TOKEN_SETTINGS, type TokenLookup } from './settings/token-variables.ts'
import { writeVariable } from './settings/write-value.ts'

/** Variables of other programs that also set a setting, with lower priority than `PHAROS_…`. `read` returns undefined to ignore a value. */
const FOREIGN_VARIABLES: Partial<
  Record<SettingName, { readonly name: string; readonly read: (text: string) => string | undefined }>
> = {
  port: { name: 'PORT', read: (text) => text },
  failures: { name: 'FAILED_DOCS_LOG', read: (text) => text },
  maxCrawls: { name: 'UI_ALLOW_MULTI_JOBS', read: (text) => (/^(?:1|true)$/i.test(text) ? '4' : undefined) },
}

/** The effective values, and the origin of each. */
export interface EffectiveConfig {
  readonly values: Config
  readonly origins: Readonly<Record<SettingName, SettingOrigin>>
  /** The configuration file that was read, if any. */
  readonly file: string | undefined
  /** `PHAROS_…` variables that match no setting, probably misspelled. */
  readonly unknownVariables: readonly string[]
}

/** Inputs of the configuration. */
export interface ConfigInput {
  /** Values given on the command line, as text, by setting name. */
  readonly flags?: Readonly<Partial<Record<SettingName, string | boolean | readonly string[]>>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly folder?: string
  /** Path of a configuration file, which must exist, or `none`. */
  readonly file?: string | undefined
  /** Text to use instead of that of `file`. */
  readonly text?: string
}

/** The configuration file that is read: the given one, or that of the environment; undefined for the one in the current folder. */
export function configFileIn(
  given: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  return given ?? (environment['PHAROS_CONFIG'] || undefined)
}

/** Reads the configuration: the environment overrides the file, and flags override both. Checks every value; errors name its origin. */
export function readConfig(input: ConfigInput = {}): EffectiveConfig {
  const environment = withoutEmpty(input.environment ?? process.env)
  const given = configFileIn(input.file, environment)
  const { file, values: fromFile } =
    input.text === undefined
      ? readConfigFile(given, input.folder ?? '.')
      : { file: given, values: parseConfigText(input.text, given ?? '') }
  const values: Record<string, Value> = {}
  const origins: Record<string, SettingOrigin> = {}
  for (const name of settingNames()) {
    const candidates: GivenValue[] = [
      { origin: 'flag', label: `--${flagName(name)}`, value: input.flags?.[name] },
      { origin: 'environment', label: variableName(name), value: environment[variableName(name)] },
      readForeign(name, environment),
      { origin: 'file', label: `${file}: ${name}`, value: fromFile[name] },
    ]
    const chosen = candidates.find(({ value }) => value !== undefined)
    const folder = chosen?.origin === 'file' && file !== undefined ? dirname(file) : (input.folder ?? '.')
    values[name] = chosen === undefined ? defaultValue(name, environment) : parseValue(name, chosen, folder)
    origins[name] = chosen?.origin ?? 'default'
  }
  checkJitter(values['jitterMin'], values['jitterMax'])
  for (const name of TOKEN_SETTINGS) parseTokens(name, values[name] as Config[typeof name])
  parseSiteHeaders(values['siteHeaders'] as Config['siteHeaders'])
  for (const [name, endpoint] of SERVICES) {
    if (origins[name] === 'default' && values[endpoint] !== '') refuseUnused(name, endpoint)
  }
  const known = new Set([...settingNames().map(variableName), 'PHAROS_CONFIG'])
  return {
    // The loop above has set every name to a value of its type.
    values: values as unknown as Config,
    origins: origins as Record<SettingName, SettingOrigin>,
    file,
    unknownVariables: Object.keys(environment).filter((name) => name.startsWith('PHAROS_') && !known.has(name)),
  }
}

/** Reads the variable of another program for a setting. */
function readForeign(name: SettingName, environment: Readonly<Record<string, string | undefined>>): GivenValue {
  const { name: label = '', read } = FOREIGN_VARIABLES[name] ?? {}
  return { origin: 'environment', label, value: read?.(environment[label] ?? '') || undefined }
}

function checkJitter(min: Value | undefined, max: Value | undefined): void {
  if (Number(min) <= Number(max)) return
  const problem = `${writeDuration(Number(min))} is more than jitterMax, ${writeDuration(Number(max))}`
  throw new PharosError('CONFIG_INVALID', { origin: 'jitterMin', problem })
}

const GIT_VARIABLES = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'SYSTEMROOT', 'TMPDIR', 'TEMP']

/** Reads the environment for git. Tokens are read on demand and not stored. */
export function readGitAccess(
  { gitTokens }: Pick<Config, 'gitTokens'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): GitAccess {
  const passed = GIT_VARIABLES.flatMap((name) => {
    const value = environment[name] ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  return {
    environment: Object.fromEntries(passed),
    tokenFor: createTokenLookup('gitTokens', gitTokens, environment),
  }
}

/** Returns a function that reads registry tokens on demand; they are not stored. */
export function readRegistryTokens(
  { registryTokens }: Pick<Config, 'registryTokens'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TokenLookup {
  return createTokenLookup('registryTokens', registryTokens, environment)
}

/** Returns a lookup that reads the headers of sites on demand; they are not stored. */
export function readSiteHeaders(
  { siteHeaders }: Pick<Config, 'siteHeaders'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): SiteHeaderLookup {
  return createSiteHeaderLookup(siteHeaders, environment)
}

/** Lists the variables for headers of sites that are not set. */
export function listUnsetSiteVariables(
  { siteHeaders }: Pick<Config, 'siteHeaders'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  return listHeaderVariables(siteHeaders).filter((name) => (environment[name] ?? '').trim() === '')
}

/** Lists the variables of the environment that a crawl uses: those that give a setting, apart from the library, and those that settings name. */
export function listCrawlVariables({ values, origins }: Pick<EffectiveConfig, 'values' | 'origins'>): string[] {
  const given = settingNames().filter((name) => {
    return origins[name] === 'environment' && name !== 'library' && !(name in SERVER_SETTINGS)
  })
  const tokens = TOKEN_SETTINGS.flatMap((name) => [...parseTokens(name, values[name]).values()])
  return [...new Set([...given.map(variableName), ...tokens, ...listHeaderVariables(values.siteHeaders)])]
}

/** The settings with the type and the endpoint of each service: an endpoint without a type would never be used. */
const SERVICES = [
  ['embedder', 'embedEndpoint'],
  ['reranker', 'rerankEndpoint'],
] as const satisfies readonly (readonly [SettingName, SettingName])[]

function refuseUnused(name: SettingName, endpoint: SettingName): never {
  const { choices = [], default: defaultChoice } = SETTINGS[name]
  const serviceTypes = choices.filter((choice) => choice !== defaultChoice)
  const problem = `expected ${serviceTypes.join(' or ')}, because ${endpoint} names a service`
  throw new PharosError('CONFIG_INVALID', { origin: name, problem })
}

/** Removes empty variables: `NAME=` in a script means not set. */
function withoutEmpty(environment: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

function defaultValue(name: SettingName, environment: Readonly<Record<string, string | undefined>>): Value {
  if (name === 'cacheFolder') return cacheHome(environment)
  if (name === 'library') return join(dataFolder(environment), 'pharos', 'library.db')
  return SETTINGS[name].default
}

/** Whether the terminal supports only plain text. */
export function isDumbTerminal(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return environment['TERM'] === 'dumb'
}

/** Whether the user wants colors even in a pipe. Node itself honours NO_COLOR, and FORCE_COLOR before it, on a terminal. */
export function isColorForced(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const forced = environment['FORCE_COLOR']
  return forced !== undefined && forced !== '0' && forced !== 'false'
}

/** Terminals known to support hyperlinks, by their program name. */
const HYPERLINK_PROGRAMS = new Set(['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'rio', 'zed', 'WarpTerminal'])
const HYPERLINK_TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|wezterm|contour|rio)/

/** Whether the terminal supports hyperlinks behind text (OSC 8). Guessed from the environment, because terminals cannot be asked. */
export function canShowHyperlinks(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const forced = environment['FORCE_HYPERLINK'] ?? ''
  if (forced !== '') return forced !== '0'
  const program = environment['TERM_PROGRAM'] ?? ''
  // Inside tmux, tmux displays the output; tmux passes links on since version 3.4.
  if (program === 'tmux') return Number.parseFloat(environment['TERM_PROGRAM_VERSION'] ?? '') >= 3.4
  if (environment['TERM'] === 'dumb' || /^(?:screen|tmux)/.test(environment['TERM'] ?? '')) return false
  return (
    HYPERLINK_PROGRAMS.has(program) ||
    HYPERLINK_TERMS.test(environment['TERM'] ?? '') ||
    Number(environment['VTE_VERSION'] ?? 0) >= 5000 ||
    (environment['WT_SESSION'] ?? environment['KONSOLE_VERSION'] ?? '') !== ''
  )
}

/** Folder of Node's compile cache, inside the cache folder. */
export function codeCacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(cacheHome(withoutEmpty(environment)), 'code')
}

/** Folder for data that can be recreated. */
function cacheHome(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pharos')
}

/** Folder for user data of programs. */
function dataFolder(environment: Readonly<Record<string, string | undefined>>): string {
  if (process.platform === 'win32') return environment['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  const given = environment['XDG_DATA_HOME'] ?? ''
  // The XDG specification requires relative paths to be ignored.
  return isAbsolute(given) ? given : join(homedir(), '.local', 'share')
}

/** Folder for state of this user that is neither data nor a cache. */
export function stateFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  if (process.platform === 'win32' || process.platform === 'darwin') return join(dataFolder(environment), 'pharos')
  const given = environment['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'pharos')
}

/** File with the hits of the last search of this user. */
export function lastSearchFile(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(stateFolder(environment), 'last-search.json')
}

/** The command that opens a web address or a file: the first of BROWSER, or that of the system. */
export function browserCommand(
  kind: 'web' | 'file',
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): readonly string[] {
  const [first = ''] = (environment['BROWSER'] ?? '').split(platform === 'win32' ? ';' : ':')
  if (first.trim() !== '') return first.trim().split(/\s+/)
  if (platform === 'darwin') return ['open']
  // `start` would need a shell, which reads characters of an address as commands.
  if (platform === 'win32' && kind === 'web') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Windows runs a script that is opened, so its file is only shown in its folder.
  return platform === 'win32' ? ['explorer', '/select,"%s"'] : ['xdg-open']
}

/** Folders in which programs of this user keep their configuration. */
export function userFolders(environment: Readonly<Record<string, string | undefined>> = process.env): {
  readonly home: string
  readonly applicationConfig: string
  readonly config: string
} {
  const home = homedir()
  const given = environment['XDG_CONFIG_HOME'] ?? ''
  const config = isAbsolute(given) ? given : join(home, '.config')
  if (process.platform === 'win32') {
    const roaming = environment['APPDATA'] || join(home, 'AppData', 'Roaming')
    return { home, applicationConfig: roaming, config: roaming }
  }
  const isMac = process.platform === 'darwin'
  return { home, applicationConfig: isMac ? join(home, 'Library', 'Application Support') : config, config }
}

/** Where package managers of this user keep their settings. */
export function clientPlaces(environment: Readonly<Record<string, string | undefined>> = process.env): {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: string
  readonly nodeFolder: string
  readonly systemFolder: string
} {
  const nodeFolder = dirname(dirname(process.execPath))
  return { home: homedir(), environment, platform: process.platform, nodeFolder, systemFolder: '/etc' }
}

/** The file that a shell of this user starts for the name of a program. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** Where package managers of this user keep what they install. */
export function packageFolders(environment: Readonly<Record<string, string | undefined>> = process.env): {
  readonly home: string
  readonly cargoHome: string | undefined
  readonly virtualEnv: string | undefined
  readonly goModules: string | undefined
} {
  const { CARGO_HOME: cargoHome, VIRTUAL_ENV: virtualEnv, GOMODCACHE: modules, GOPATH: goPath = '' } = environment
  // Go downloads modules into the first folder of its path.
  const [goFolder = ''] = goPath.split(delimiter)
  return {
    home: homedir(),
    cargoHome: cargoHome || undefined,
    virtualEnv: virtualEnv || undefined,
    goModules: modules || (goFolder === '' ? undefined : join(goFolder, 'pkg', 'mod')),
  }
}

/** The folders that the program creates for this user if nothing else is configured: data, cache and state. */
export function ownFolders(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly [data: string, cache: string, state: string] {
  return [join(dataFolder(environment), 'pharos'), cacheHome(environment), stateFolder(environment)]
}

/** Folder for local data that belongs to a library but is not in it: the folder of its file, or a separate one for a database. */
export function libraryDataFolder(
  library: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (!isPostgres(library)) return dirname(library)
  const digest = createHash('sha256').update(nameDatabase(library)).digest('hex').slice(0, 16)
  return join(dataFolder(environment), 'pharos', 'postgres', digest)
}

/**
 * The environment of a child process with the same settings, except those of the server, above all its token. The child reads no
 * configuration file, because this environment has all effective values.
 */
export function writeEnvironment(
  values: Config,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('PHAROS_'))
  const own = settingNames()
    .filter((name) => !(name in SERVER_SETTINGS))
    .map((name) => [variableName(name), writeVariable(name, values[name])])
  return { ...Object.fromEntries(others), ...Object.fromEntries(own), PHAROS_CONFIG: NO_FILE }
}
