import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, PharosError } from '../../core/errors.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import type { ProjectFile } from '../locked-package.ts'

/** Where the package managers of a user keep their settings. */
export interface ClientPlaces {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: string
  /** Folder with the settings of all users: `/etc`. */
  readonly systemFolder: string
  /** Folder in which Node is installed, which npm uses for the settings of all users. */
  readonly nodeFolder: string
  /**
   * Folder of the project whose own settings count too. Absent unless the user names the folder: a cloned repository could name any address
   * of the network. Its files get no variable of the environment, and no secret that the user stored under a name. @default none
   */
  readonly project?: string
}

/** A secret for a part of a host. */
export interface Credential {
  /** Host, with its port if that is not the default. */
  readonly host: string
  /** Path with slashes at both ends; the secret is sent for addresses below it only. */
  readonly path: string
  /** Value of the Authorization header. */
  readonly authorization: string
}

/** What the settings of a package manager say about registries. */
export interface ClientRegistries {
  /** The registries in the order in which they are asked; empty if the settings name none. */
  readonly addresses: readonly string[]
  /** Registries of npm scopes. */
  readonly scopes?: ReadonlyMap<string, string>
  readonly credentials: readonly Credential[]
}

/** Size limit of a settings file. */
const MAX_BYTES = 2 ** 20

/** Reads a settings file; undefined if there is none. */
export async function readSettingsFile(path: string): Promise<ProjectFile | undefined> {
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    // A pipe or a device would never end.
    if (!stats.isFile()) return undefined
    if (stats.size > MAX_BYTES) {
      throw createSettingsError(path, undefined, `it has ${stats.size} bytes, and the limit is ${MAX_BYTES}`)
    }
    return { path, text: (await file.readFile('utf8')).replace(/^\uFEFF/, '') }
  } catch (cause) {
    if (cause instanceof PharosError) throw cause
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'].includes(codeOf(cause))) return undefined
    throw createSettingsError(path, undefined, `it cannot be read (${codeOf(cause)})`, cause)
  }
}

/**
 * The folders whose settings belong to the project: its own and those above it, nearest first. The home folder and those above it are left
 * out, because the settings in the home folder are the user's.
 */
export function listProjectFolders({ project, home }: Pick<ClientPlaces, 'project' | 'home'>): string[] {
  const folders: string[] = []
  for (let folder = project; folder !== undefined && folder !== home; folder = dirname(folder)) {
    folders.push(folder)
    if (dirname(folder) === folder) break
  }
  return folders
}

/** Reads those of several settings files that exist. */
export async function readSettingsFiles(paths: readonly string[]): Promise<ProjectFile[]> {
  const files = await Promise.all([...new Set(paths)].map(readSettingsFile))
  return files.filter((file) => file !== undefined)
}

/** An error about a settings file. The problem must not contain values, which may be secret. */
export function createSettingsError(
  path: string,
  line: number | undefined,
  problem: string,
  cause?: unknown,
): PharosError {
  const origin = sanitizeText(line === undefined ? path : `${path}:${line}`)
  const advice = 'correct this file of the package manager, or name the registry in the settings of Pharos'
  return new PharosError('CONFIG_INVALID', { origin, problem: sanitizeText(problem), advice }, { cause })
}

/** The address of a registry without its user name and password, and these as a credential for the addresses below it. */
export interface ParsedAddress {
  readonly address: string
  readonly credentials: readonly Credential[]
}

/** Longer texts are no addresses; patterns would take minutes for one of a megabyte. */
const MAX_ADDRESS_CHARS = 2000

/** Parses the address of a registry; undefined if it is no web address. `prefix` precedes it, such as `sparse+`. */
export function parseAddress(text: string, prefix = ''): ParsedAddress | undefined {
  const url = text.length > MAX_ADDRESS_CHARS ? null : URL.parse(text.trim())
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  const credentials =
    url.username + url.password === ''
      ? []
      : [createCredential(url, writeBasic(`${decode(url.username)}:${decode(url.password)}`))]
  url.username = ''
  url.password = ''
  url.hash = ''
  return { address: prefix + url.href, credentials }
}

/** A credential for the addresses below a registry. */
export function createCredential({ host, pathname }: URL, authorization: string): Credential {
  return { host, path: folderOf(pathname), authorization }
}

/** The header for `name:password`. */
export function writeBasic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign may be part of a password.
    return text
  }
}

/** The path of an address with slashes at both ends. */
export function folderOf(path: string): string {
  let end = path.length
  // A pattern would take minutes for a path with a million slashes.
  while (path[end - 1] === '/') end--
  const inner = path.slice(0, end).replace(/^\/+/, '')
  return inner === '' ? '/' : `/${inner}/`
}

/** A value with its place. */
export interface Setting {
  /** Undefined if it names a variable that is not set, or that the file may not use. */
  readonly value: string | undefined
  readonly file: string
  readonly line: number
}

/** Puts the values of variables into a text; undefined if it names a variable without a value. */
export type Expand = (text: string) => string | undefined

/** Expands nothing: a file of a project could send any variable of the environment to any address. */
export const refuseVariables: Expand = (text) => (text.search(VARIABLE) < 0 ? text : undefined)

/** The problem of an address whose variables cannot be expanded. */
export const UNRESOLVED_ADDRESS =
  'the address of a registry names a variable that is not set; in files of a project, variables are never expanded'

/**
 * Puts the values of variables into a text: `${NAME}`, `${NAME?}` and `${NAME-default}`. Undefined if a variable is not set and has no
 * default.
 */
export function expandVariables(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  let isComplete = true
  const expanded = text.replace(VARIABLE, (_all, name: string, isOptional?: string, fallback?: string) => {
    const value = environment[name]
    // Both `-` and `:-` also replace an empty value, which is never an address or a token.
    if (value !== undefined && (value !== '' || fallback === undefined)) return value
    if (isOptional === undefined && fallback === undefined) isComplete = false
    return fallback ?? ''
  })
  return isComplete ? expanded : undefined
}

const VARIABLE = /(?<!\\)\$\{([^${}?:-]+)(?:(\?)|:?-([^${}]*))?\}/g
