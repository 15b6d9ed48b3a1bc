import { dirname, join } from 'node:path'
import type { ProjectFile } from '../locked-package.ts'
import { entriesOf, fieldOf, textOf } from '../lockfiles/fields.ts'
import { parseYaml } from '../lockfiles/yaml-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  type Credential,
  createSettingsError,
  expandVariables,
  folderOf,
  parseAddress,
  readSettingsFile,
  type Setting,
  writeBasic,
} from './client-settings.ts'
import { parseIni } from './ini-syntax.ts'
import { rethrowAsSettings } from './settings-syntax.ts'

/** Settings by name; those of the strongest origin win. */
type Settings = Map<string, Setting>

/**
 * Reads which registries npm, pnpm and Yarn use: https://docs.npmjs.com/cli/configuring-npm/npmrc and
 * https://yarnpkg.com/configuration/yarnrc. The environment takes precedence over the project, that over the user, and that over all users.
 */
export async function readNpmSettings(places: ClientPlaces): Promise<ClientRegistries> {
  const settings: Settings = new Map()
  for (const level of await readLevels(places)) {
    for (const [name, setting] of level) if (!settings.has(name)) settings.set(name, setting)
  }
  const { environment } = places
  const found = readAddress(settings.get('registry'), environment)
  const scopes = new Map<string, string>()
  const credentials: Credential[] = [...found.credentials]
  for (const [name, setting] of settings) {
    const [, scope] = /^(@[^:/]+):registry$/.exec(name) ?? []
    if (scope === undefined) continue
    const parsed = readAddress(setting, environment)
    for (const address of parsed.addresses) scopes.set(scope, address)
    credentials.push(...parsed.credentials)
  }
  return {
    addresses: found.addresses,
    scopes,
    credentials: [...readCredentials(settings, environment), ...credentials],
  }
}

/** The settings of each origin, strongest first. */
async function readLevels({ home, environment, nodeFolder, project }: ClientPlaces): Promise<Settings[]> {
  const own = readEnvironment(environment)
  const userFile = own.get('userconfig')?.value ?? join(home, '.npmrc')
  const prefix = own.get('prefix')?.value ?? environment['PREFIX'] ?? nodeFolder
  const globalFile = own.get('globalconfig')?.value ?? join(prefix, 'etc', 'npmrc')
  return [
    own,
    ...(project === undefined
      ? []
      : [await readNpmrc(join(project, '.npmrc')), ...(await readYarnrcs(project, environment))]),
    await readNpmrc(userFile),
    await readYarnrc(join(home, '.yarnrc.yml'), environment),
    await readNpmrc(globalFile),
  ]
}

/** `npm_config_registry`, also in upper case; `_` stands for `-`, except in the names of credentials. */
function readEnvironment(environment: ClientPlaces['environment']): Settings {
  const settings: Settings = new Map()
  for (const [variable, value = ''] of Object.entries(environment)) {
    const [, name] = /^npm_config_(.+)$/i.exec(variable) ?? []
    if (name === undefined || value === '') continue
    settings.set(/^[@/]/.test(name) ? name : name.toLowerCase(), { value, file: variable, line: 1 })
  }
  return settings
}

async function readNpmrc(path: string): Promise<Settings> {
  const settings: Settings = new Map()
  const file = await readSettingsFile(path)
  // npm ignores what it does not understand, and so do other programs that share the file.
  for (const { key, value, line } of parseIni(file?.text ?? '', { hasContinuedLines: false, separator: /=/ }).entries) {
    settings.set(key, { value: unquote(value), file: path, line })
  }
  return settings
}

/** A value without its quotes, or without the comment after it. */
function unquote(value: string): string {
  const [, quoted] = /^"(.*)"$/.exec(value) ?? /^'(.*)'$/.exec(value) ?? []
  return quoted ?? value.replace(/(?<!\\)[;#].*$/, '').trim()
}

/** The settings of Yarn in the folders from a project upwards, nearest first. */
async function readYarnrcs(project: string, environment: ClientPlaces['environment']): Promise<Settings[]> {
  const found: Settings[] = []
  for (let folder = project; ; folder = dirname(folder)) {
    found.push(await readYarnrc(join(folder, '.yarnrc.yml'), environment))
    if (dirname(folder) === folder) return found
  }
}

/** The settings of Yarn under the names that npm uses. */
async function readYarnrc(path: string, environment: ClientPlaces['environment']): Promise<Settings> {
  const settings: Settings = new Map()
  const file = await readSettingsFile(path)
  if (file === undefined) return settings
  const [value] = rethrowAsSettings(file, () => parseYaml(file))
  const set = (name: string, text: string | undefined) => {
    if (text !== undefined) settings.set(name, { value: text, file: path, line: findLine(file, text) })
  }
  const setSecrets = (target: unknown, server: string | undefined) => {
    const expanded = server === undefined ? undefined : expandVariables(server, environment)
    const url = URL.parse(expanded?.replace(/^\/\//, 'https://') ?? '')
    if (url === null) return
    const key = `//${url.host}${folderOf(url.pathname)}`
    set(`${key}:_authToken`, textOf(target, 'npmAuthToken'))
    const ident = textOf(target, 'npmAuthIdent')
    // Yarn takes `name:password` as well as its Base64 form.
    set(`${key}:_auth`, ident?.includes(':') === true ? Buffer.from(ident).toString('base64') : ident)
  }
  const registry = textOf(value, 'npmRegistryServer')
  set('registry', registry)
  setSecrets(value, registry)
  for (const [name, scope] of entriesOf(fieldOf(value, 'npmScopes'))) {
    const server = textOf(scope, 'npmRegistryServer')
    set(`@${name.replace(/^@/, '')}:registry`, server)
    setSecrets(scope, server ?? registry)
  }
  for (const [server, target] of entriesOf(fieldOf(value, 'npmRegistries'))) {
    setSecrets(target, server)
  }
  return settings
}

function findLine({ text }: ProjectFile, value: string): number {
  return text.slice(0, Math.max(text.indexOf(value), 0)).split('\n').length
}

function readAddress(
  setting: Setting | undefined,
  environment: ClientPlaces['environment'],
): { readonly addresses: readonly string[]; readonly credentials: readonly Credential[] } {
  if (setting === undefined) return { addresses: [], credentials: [] }
  const { value, file, line } = setting
  const expanded = expandVariables(value, environment)
  if (expanded === undefined) {
    throw createSettingsError(file, line, 'the address of a registry names a variable that is not set')
  }
  const parsed = parseAddress(expanded)
  if (parsed === undefined) throw createSettingsError(file, line, 'the address of a registry is no web address')
  return { addresses: [parsed.address], credentials: parsed.credentials }
}

/**
 * The secrets of registries: `//host/path/:_authToken=…`. A secret whose variable is not set is left out, because public packages do not
 * need it.
 */
function readCredentials(settings: Settings, environment: ClientPlaces['environment']): Credential[] {
  const byPlace = new Map<string, Map<string, string>>()
  for (const [name, { value }] of settings) {
    const [, place, kind] = /^\/\/(.+?)\/?:(_authToken|_auth|username|_password)$/i.exec(name) ?? []
    const secret = place === undefined ? undefined : expandVariables(value, environment)
    if (place === undefined || kind === undefined || secret === undefined || secret === '') continue
    byPlace.set(place, (byPlace.get(place) ?? new Map<string, string>()).set(kind.toLowerCase(), secret))
  }
  return [...byPlace].flatMap(([place, secrets]) => {
    const url = URL.parse(`https://${place}`)
    const authorization = writeAuthorization(Object.fromEntries(secrets))
    return url === null || authorization === undefined
      ? []
      : [{ host: url.host, path: folderOf(url.pathname), authorization }]
  })
}

function writeAuthorization(secrets: Readonly<Record<string, string>>): string | undefined {
  const { _authtoken: token, _auth: basic, username, _password: password } = secrets
  if (token !== undefined) return `Bearer ${token}`
  if (basic !== undefined) return `Basic ${basic}`
  if (username === undefined || password === undefined) return undefined
  return writeBasic(username, Buffer.from(password, 'base64').toString('utf8'))
}
