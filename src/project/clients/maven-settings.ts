import { isAbsolute, join } from 'node:path'
import { PharosError } from '../../core/errors.ts'
import { PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import type { ProjectFile } from '../locked-package.ts'
import { type PomElement, parsePomSyntax } from '../lockfiles/pom-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  type Credential,
  createCredential,
  createSettingsError,
  parseAddress,
  readSettingsFile,
  readSettingsFiles,
  writeBasic,
} from './client-settings.ts'
import { rethrowAsSettings } from './settings-syntax.ts'

/** A repository, or a mirror, of Maven. */
interface Repository {
  readonly id: string
  readonly url: string
  readonly file: string
  /** Whether the settings of the user name it. Only then it gets the password of a server with its id. */
  readonly isOwn: boolean
}

interface Mirror extends Repository {
  readonly mirrorOf: string
  readonly isBlocked: boolean
}

/**
 * Reads which repositories Maven uses: https://maven.apache.org/settings.html. Those of active profiles come first, then those of the
 * project, then the central one; of several with one id the first counts. A mirror takes the place of those that it names.
 */
export async function readMavenSettings(places: ClientPlaces): Promise<ClientRegistries> {
  const files = await readSettingsFiles(listFiles(places))
  const settings = files.map((file) => ({
    path: file.path,
    root: rethrowAsSettings(file, () => parsePomSyntax(file, 'settings')),
  }))
  const pom = places.project === undefined ? undefined : await readSettingsFile(join(places.project, 'pom.xml'))
  const expand = (text: string) => expandProperties(text, places)
  const mirrors = settings.flatMap(({ path, root }) => {
    return root.children('mirrors', 'mirror').map((one) => readMirror(one, path, expand))
  })
  const named: Repository[] = [
    ...settings.flatMap(({ path, root }) => listProfiles(root).map((one) => readRepository(one, path, expand))),
    ...(pom === undefined ? [] : listOfProject(pom)),
    { id: 'central', url: PUBLIC_REGISTRIES.maven, file: '', isOwn: false },
  ]
  // Maven replaces a repository by a stronger one of the same id.
  const distinct = named.filter(({ id }, index) => id === '' || named.findIndex((one) => one.id === id) === index)
  const servers = settings.flatMap(({ root }) => root.children('servers', 'server'))
  const addresses: string[] = []
  const credentials: Credential[] = []
  for (const repository of distinct) {
    const mirror = findMirror(mirrors, repository)
    const { id, url, file, isOwn } = mirror ?? repository
    // The folder of a project or of this machine.
    if (mirror === undefined && /^file:/i.test(url)) continue
    if (url.includes('${')) throw createSettingsError(file, undefined, `the address of ${id} ${UNRESOLVED}`)
    const parsed = parseAddress(url)
    if (parsed === undefined) throw createSettingsError(file, undefined, `the repository ${id} has no web address`)
    if (mirror?.isBlocked === true) {
      throw createSettingsError(file, undefined, `the mirror ${id} blocks the repository ${repository.id}`)
    }
    addresses.push(parsed.address)
    credentials.push(...parsed.credentials, ...(isOwn ? readServer(servers, id, parsed.address, expand) : []))
  }
  return { addresses: [...new Set(addresses)], credentials }
}

/** The folder in which Maven keeps what it downloads, if the settings of the user name one. */
export async function findLocalRepository(places: ClientPlaces): Promise<string | undefined> {
  try {
    for (const file of await readSettingsFiles(listFiles(places))) {
      const root = rethrowAsSettings(file, () => parsePomSyntax(file, 'settings'))
      const folder = expandProperties(textOf(root, 'localRepository'), places)
      if (isAbsolute(folder) && !folder.includes('${')) return folder
    }
  } catch (error) {
    // Broken settings are reported where the repositories are read.
    if (!(error instanceof PharosError)) throw error
  }
  return undefined
}

const UNRESOLVED = 'has a variable that is not set, or a property; in files of a project, neither is expanded'

/** The settings files of Maven, strongest first. */
function listFiles({ home, environment, systemFolder }: ClientPlaces): string[] {
  const installations = [environment['MAVEN_HOME'], environment['M2_HOME']].filter(
    (path) => path !== undefined && path !== '',
  )
  return [
    join(home, '.m2', 'settings.xml'),
    ...installations.map((folder) => join(String(folder), 'conf', 'settings.xml')),
    join(systemFolder, 'maven', 'settings.xml'),
  ]
}

/** Reads a repository of the user's settings. */
function readRepository(element: PomElement, file: string, expand: (text: string) => string): Repository {
  return { id: textOf(element, 'id'), url: expand(textOf(element, 'url')), file, isOwn: true }
}

function readMirror(element: PomElement, file: string, expand: (text: string) => string): Mirror {
  const isBlocked = textOf(element, 'blocked') === 'true'
  return { ...readRepository(element, file, expand), mirrorOf: textOf(element, 'mirrorOf'), isBlocked }
}

function textOf(element: PomElement | undefined, name: string): string {
  return element?.find(name)?.text.trim() ?? ''
}

/** The repositories of the profiles that are always active. */
function listProfiles(root: PomElement): PomElement[] {
  const active = new Set(root.children('activeProfiles', 'activeProfile').map(({ text }) => text.trim()))
  return root
    .children('profiles', 'profile')
    .filter((profile) => {
      const isDefault = profile.children('activation', 'activeByDefault').some(({ text }) => text.trim() === 'true')
      return isDefault || active.has(profile.find('id')?.text.trim() ?? '')
    })
    .flatMap((profile) => profile.children('repositories', 'repository'))
}

/** The repositories of a project. Nothing is expanded in them: they may come from a stranger. */
function listOfProject(pom: ProjectFile): Repository[] {
  return parsePomSyntax(pom)
    .children('repositories', 'repository')
    .map((one) => ({ id: textOf(one, 'id'), url: textOf(one, 'url'), file: pom.path, isOwn: false }))
}

/** The mirror of a repository. One that names exactly this repository takes precedence over patterns. */
function findMirror(mirrors: readonly Mirror[], repository: Repository): Mirror | undefined {
  return (
    mirrors.find(({ mirrorOf }) => mirrorOf === repository.id) ??
    mirrors.find(({ mirrorOf }) => isMirrorOf(mirrorOf, repository))
  )
}

/** Whether a pattern of a mirror matches a repository: `central`, `*`, `external:*`, `a,b`, `*,!c`. */
function isMirrorOf(mirrorOf: string, { id, url }: Repository): boolean {
  const patterns = mirrorOf.split(',').map((text) => text.trim())
  if (patterns.includes(`!${id}`)) return false
  const isLocal = /^(?:file:|https?:\/\/(?:localhost|127\.0\.0\.1)(?=[:/]|$))/i.test(url)
  return patterns.some((pattern) => {
    if (pattern === '*' || pattern === id) return true
    return (pattern === 'external:*' || (pattern === 'external:http:*' && /^http:/i.test(url))) && !isLocal
  })
}

/** The name and password of a server, for the addresses below it. An encrypted password is left out, because only Maven can read it. */
function readServer(
  servers: readonly PomElement[],
  id: string,
  address: string,
  expand: (text: string) => string,
): Credential[] {
  const server = servers.find((one) => textOf(one, 'id') === id)
  const name = expand(textOf(server, 'username'))
  const password = expand(textOf(server, 'password'))
  if (name === '' || password === '' || /^\{.*\}$/s.test(password) || /\$\{/.test(name + password)) return []
  return [createCredential(new URL(address), writeBasic(`${name}:${password}`))]
}

/** Replaces `${env.NAME}` and `${user.home}`; other properties stay as they are. */
function expandProperties(text: string, { environment, home }: ClientPlaces): string {
  return text.replace(/\$\{(?:env\.([^{}]+)|(user\.home))\}/g, (all, name?: string, isHome?: string) => {
    return isHome === undefined ? (environment[name ?? ''] ?? all) : home
  })
}
