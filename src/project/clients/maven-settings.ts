import { join } from 'node:path'
import { PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import type { ProjectFile } from '../locked-package.ts'
import { type PomElement, parsePomSyntax } from '../lockfiles/pom-syntax.ts'
import {
  type ClientPlaces,
  type ClientRegistries,
  type Credential,
  createSettingsError,
  folderOf,
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
}

/**
 * Reads which repositories Maven uses: https://maven.apache.org/settings.html. Those of active profiles come first, then those of the
 * project, then the central one; a mirror takes the place of those that it names.
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
    return root.children('mirrors', 'mirror').map((mirror) => ({
      ...readRepository(mirror, path, expand),
      mirrorOf: mirror.find('mirrorOf')?.text.trim() ?? '',
    }))
  })
  const named = [
    ...settings.flatMap(({ path, root }) => listProfiles(root).map((one) => readRepository(one, path, expand))),
    ...(pom === undefined ? [] : listOfProject(pom).map((one) => readRepository(one, pom.path, expand))),
  ]
  const used = [...named, { id: 'central', url: PUBLIC_REGISTRIES.maven, file: '' }].map((one) => {
    return mirrors.find((mirror) => isMirrorOf(mirror.mirrorOf, one)) ?? one
  })
  const servers = settings.flatMap(({ root }) => root.children('servers', 'server'))
  const addresses: string[] = []
  const credentials: Credential[] = []
  for (const { id, url, file } of used) {
    const parsed = parseAddress(url)
    // An address with a property that only Maven knows.
    if (parsed === undefined && url.includes('${')) continue
    if (parsed === undefined) throw createSettingsError(file, undefined, `the repository ${id} has no web address`)
    addresses.push(parsed.address)
    credentials.push(...parsed.credentials, ...readServer(servers, id, parsed.address, expand))
  }
  return { addresses: [...new Set(addresses)], credentials }
}

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

function readRepository(element: PomElement, file: string, expand: (text: string) => string): Repository {
  return { id: element.find('id')?.text.trim() ?? '', url: expand(element.find('url')?.text.trim() ?? ''), file }
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

function listOfProject(pom: ProjectFile): PomElement[] {
  return parsePomSyntax(pom).children('repositories', 'repository')
}

/** Whether a mirror stands for a repository: `central`, `*`, `external:*`, `a,b`, `*,!c`. */
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
  const server = servers.find((one) => one.find('id')?.text.trim() === id)
  const name = expand(server?.find('username')?.text.trim() ?? '')
  const password = expand(server?.find('password')?.text.trim() ?? '')
  if (name === '' || password === '' || /^\{.*\}$/s.test(password) || /\$\{/.test(name + password)) return []
  const url = new URL(address)
  return [{ host: url.host, path: folderOf(url.pathname), authorization: writeBasic(name, password) }]
}

/** Replaces `${env.NAME}` and `${user.home}`; other properties stay as they are. */
function expandProperties(text: string, { environment, home }: ClientPlaces): string {
  return text.replace(/\$\{(?:env\.([^{}]+)|(user\.home))\}/g, (all, name?: string, isHome?: string) => {
    return isHome === undefined ? (environment[name ?? ''] ?? all) : home
  })
}
