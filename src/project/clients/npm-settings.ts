import { join } from 'node:path'
import { entriesOf, fieldOf, textOf } from '../../core/json/fields.ts'
import type { ProjectFile } from '../locked-package.ts'
import { parseYaml } from '../lockfiles/yaml-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  type Credential,
  createCredential,
  createSettingsError,
  type Expand,
  expandVariables,
  folderOf,
  listProjectFolders,
  parseAddress,
  readSettingsFile,
  refuseVariables,
  type Setting,
  UNRESOLVED_ADDRESS,
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
  const found = readAddress(settings.get('registry'))
  const scopes = new Map<string, string>()
  const credentials: Credential[] = [...found.credentials]
  for (const [name, setting] of settings) {
    const [, scope] = /^(@[^:/]+):registry$/.exec(name) ?? []
    if (scope === undefined) continue
    const parsed = readAddress(setting)
    for (const address of parsed.addresses) scopes.set(scope, address)
    credentials.push(...parsed.credentials)
  }
  return {
    addresses: found.addresses,
    scopes,
    credentials: [...readCredentials(settings), ...credentials],
  }
}

/** The settings of each origin, strongest first. */
async function readLevels(places: ClientPlaces): Promise<Settings[]> {
  const { home, environment, nodeFolder } = places
  const expand: Expand = (text) => expandVariables(text, environment)
  const own = readEnvironment(environment, expand)
  const userFile = own.get('userconfig')?.value ?? join(home, '.npmrc')
  const prefix = own.get('prefix')?.value ?? environment['PREFIX'] ?? nodeFolder
  const globalFile = own.get('globalconfig')?.value ?? join(prefix, 'etc', 'npmrc')
  const [project, ...above] = listProjectFolders(places)
  const levels = [own]
  if (project !== undefined) {
    levels.push(await readNpmrc(join(project, '.npmrc'), refuseVariables))
    for (const folder of [project, ...above])
      levels.push(await readYarnrc(join(folder, '.yarnrc.yml'), refuseVariables))
  }
  levels.push(await readNpmrc(userFile, expand))
  levels.push(await readYarnrc(join(home, '.yarnrc.yml'), expand))
  levels.push(await readNpmrc(globalFile, expand))
  return levels
}

/** `npm_config_registry`, also in upper case. */
function readEnvironment(environment: ClientPlaces['environment'], expand: Expand): Settings {
  const settings: Settings = new Map()
  for (const [variable, value = ''] of Object.entries(environment)) {
    const [, name] = /^npm_config_(.+)$/i.exec(variable) ?? []
    if (name === undefined || value === '') continue
    const key = /^[@/]/.test(name) ? name : name.toLowerCase()
    set(settings, key, { value: expand(value), file: variable, line: 1 })
  }
  return settings
}

/**
 * Adds a setting. A secret whose variable is not set is left out: public packages do not need it, and a weaker origin may have it.
 */
function set(settings: Settings, name: string, setting: Setting): void {
  if (setting.value !== undefined || !SECRET.test(name)) settings.set(name, setting)
}

async function readNpmrc(path: string, expand: Expand): Promise<Settings> {
  const settings: Settings = new Map()
  const file = await readSettingsFile(path)
  // npm ignores what it does not understand, and so do other programs that share the file.
  for (const { key, value, line } of parseIni(file?.text ?? '', { hasContinuedLines: false, separator: /=/ }).entries) {
    set(settings, key, { value: expand(unquote(value)), file: path, line })
  }
  return settings
}

/** A value without its quotes, or without the comment after it. */
function unquote(value: string): string {
  const [, quoted] = /^"(.*)"$/.exec(value) ?? /^'(.*)'$/.exec(value) ?? []
  return quoted ?? value.replace(/(?<!\\)[;#].*$/, '').trim()
}

/** The settings of Yarn under the names that npm uses. */
async function readYarnrc(path: string, expand: Expand): Promise<Settings> {
  const settings: Settings = new Map()
  const file = await readSettingsFile(path)
  if (file === undefined) return settings
  const [value] = rethrowAsSettings(file, () => parseYaml(file))
  const add = (name: string, text: string | undefined, write = (plain: string) => plain) => {
    if (text === undefined) return
    const expanded = expand(text)
    const line = findLine(file, text)
    set(settings, name, { value: expanded === undefined ? undefined : write(expanded), file: path, line })
  }
  const setSecrets = (target: unknown, server: string | undefined) => {
    const expanded = server === undefined ? undefined : expand(server)
    const url = URL.parse(expanded?.replace(/^\/\//, 'https://') ?? '')
    if (url === null) return
    const key = `//${url.host}${folderOf(url.pathname)}`
    add(`${key}:_authToken`, textOf(target, 'npmAuthToken'))
    // Yarn takes `name:password` as well as its Base64 form.
    add(`${key}:_auth`, textOf(target, 'npmAuthIdent'), (ident) => {
      return ident.includes(':') ? Buffer.from(ident).toString('base64') : ident
    })
  }
  const registry = textOf(value, 'npmRegistryServer')
  add('registry', registry)
  setSecrets(value, registry)
  for (const [name, scope] of entriesOf(fieldOf(value, 'npmScopes'))) {
    const server = textOf(scope, 'npmRegistryServer')
    add(`@${name.replace(/^@/, '')}:registry`, server)
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

function readAddress(setting: Setting | undefined): {
  readonly addresses: readonly string[]
  readonly credentials: readonly Credential[]
} {
  if (setting === undefined) return { addresses: [], credentials: [] }
  const { value, file, line } = setting
  if (value === undefined) throw createSettingsError(file, line, UNRESOLVED_ADDRESS)
  const parsed = parseAddress(value)
  if (parsed === undefined) throw createSettingsError(file, line, 'the address of a registry is no web address')
  return { addresses: [parsed.address], credentials: parsed.credentials }
}

/** The name of a secret of a registry: `//host/path/:_authToken`. */
const SECRET = /^\/\/(.+?)\/?:(_authToken|_auth|username|_password)$/i

/** The secrets of registries: `//host/path/:_authToken=…`. */
function readCredentials(settings: Settings): Credential[] {
  const byPlace = new Map<string, Map<string, string>>()
  for (const [name, { value = '' }] of settings) {
    const [, place, kind] = SECRET.exec(name) ?? []
    if (place === undefined || kind === undefined || value === '') continue
    byPlace.set(place, (byPlace.get(place) ?? new Map<string, string>()).set(kind.toLowerCase(), value))
  }
  return [...byPlace].flatMap(([place, secrets]) => {
    const url = URL.parse(`https://${place}`)
    const authorization = writeAuthorization(Object.fromEntries(secrets))
    return url === null || authorization === undefined ? [] : [createCredential(url, authorization)]
  })
}

function writeAuthorization(secrets: Readonly<Record<string, string>>): string | undefined {
  const { _authtoken: token, _auth: basic, username, _password: password } = secrets
  if (token !== undefined) return `Bearer ${token}`
  if (basic !== undefined) return `Basic ${basic}`
  if (username === undefined || password === undefined) return undefined
  return writeBasic(`${username}:${Buffer.from(password, 'base64').toString('utf8')}`)
}
