import { PharosError } from '../../core/errors.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { urlKey } from '../../core/url/key.ts'
import { findGlobProblem } from '../../core/url/path-glob.ts'
import { DEFAULT_SCOPE, type Scope } from '../../core/url/scope.ts'
import { isFolder } from '../folder.ts'
import type { Library } from '../library.ts'
import { DEFAULT_SETTINGS, type Source, type SourceSettings } from '../source.ts'

/** What a source is made from. */
export interface SourceInput {
  readonly url: string
  /**
   * Whether it may be a folder or file of this machine. Only whoever owns the machine may say so, never a page or a request.
   * @default false
   */
  readonly isOwnFolder?: boolean
  /** @default the host, with the path where there is one */
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly scope?: Partial<Scope>
  readonly settings?: Partial<SourceSettings>
}

/** Records a source. Nothing is fetched. */
export async function addSource(library: Library, input: SourceInput): Promise<Source> {
  const isOwn = input.isOwnFolder === true && library.folders !== undefined && isFolder(input)
  const start = isOwn ? new URL(input.url) : parseStart(input.url)
  const scope = resolveScope(DEFAULT_SCOPE, input.scope ?? {})
  const settings = { ...DEFAULT_SETTINGS, ...input.settings }
  for (const url of [...settings.seeds, ...(settings.llmsTxtUrl === null ? [] : [settings.llmsTxtUrl])]) parseStart(url)
  const source: Source = {
    id: library.newId(),
    name: checkLabel('name', input.name ?? nameOf(start)),
    version: input.version === undefined ? null : checkLabel('version', input.version),
    url: start.href,
    siteUrl: start.href,
    scope,
    settings,
    createdAt: library.clock.now(),
  }
  await library.store.addSource(source)
  return source
}

/** A scope with what was given on top; its patterns are checked. */
export function resolveScope(base: Scope, given: Partial<Scope>): Scope {
  const scope = { ...base, ...given }
  for (const pattern of [...scope.allow, ...scope.block]) {
    const problem = findGlobProblem(pattern)
    if (problem !== undefined)
      throw new PharosError('USAGE', { problem: `pattern ${JSON.stringify(pattern)}: ${problem}` })
  }
  return scope
}

/** Reads an address that a person gave to begin with; refused when it is none, or carries credentials. */
export function parseStart(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const shown = hideCredentials(text)
  if (url === undefined) throw new PharosError('URL_INVALID', { url: shown, problem: 'it is no address' })
  if (urlKey(url) === undefined) {
    throw new PharosError('URL_INVALID', { url: shown, problem: `its scheme is ${url.protocol.slice(0, -1)}` })
  }
  if (url.username !== '' || url.password !== '') {
    const problem = 'it carries a user name or password; give them with --header instead'
    throw new PharosError('URL_INVALID', { url: shown, problem })
  }
  url.hash = ''
  return url
}

/** `https://docs.example/v2/guide/` → `docs.example/v2/guide`, `file:///home/me/docs/` → `docs` */
function nameOf({ protocol, host, pathname }: URL): string {
  if (protocol !== 'file:') return `${host}${pathname.replace(/\/(?:index\.\w+)?$/, '')}`.replaceAll('@', '-')
  const folder = decodeURIComponent(/([^/]*)\/?$/.exec(pathname)?.[1] ?? '')
  return folder.replaceAll('@', '-').replaceAll(INVISIBLE, '-') || '/'
}

/** Control characters, line ends, directions of writing, and whatever else cannot be seen or typed. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Reads the name or version of a source. `@` stands between the two, and both are shown in lines of text. */
export function checkLabel(what: 'name' | 'version', label: string): string {
  const shown = `the ${what} ${JSON.stringify(label)}`
  if (label.trim() === '') throw new PharosError('USAGE', { problem: `${shown} is empty` })
  if (label.includes('@')) {
    throw new PharosError('USAGE', { problem: `${shown} contains @, which stands before a version` })
  }
  if (label.search(INVISIBLE) >= 0)
    throw new PharosError('USAGE', { problem: `${shown} contains an invisible character` })
  return label.trim()
}
