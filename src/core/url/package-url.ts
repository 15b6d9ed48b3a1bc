/** The known kinds of packages. Modules of Go have no registry: they are read where they are installed. */
export type PackageType = 'npm' | 'pypi' | 'cargo' | 'maven' | 'golang'

/** The addresses of the package registries. */
export interface Registries {
  readonly npm: string
  /** With the JSON of PyPI; after `simple+`, an index that only lists files, as the settings of pip name it. */
  readonly pypi: string
  /** The sparse index of crates. */
  readonly crates: string
  readonly maven: string
}

/** The public registries. */
export const PUBLIC_REGISTRIES: Registries = {
  npm: 'https://registry.npmjs.org/',
  pypi: 'https://pypi.org/',
  crates: 'https://index.crates.io/',
  maven: 'https://repo.maven.apache.org/maven2',
}

/** A package of a registry. */
export interface PackageName {
  readonly type: PackageType
  /** `@scope` of npm, the group of Maven, the path before the last part of a Go module; null if there is none. */
  readonly namespace: string | null
  readonly name: string
  /** A version; for npm also a range or a tag. Null for the newest version. */
  readonly version: string | null
}

/** Short prefixes of package types. */
const SHORT_PREFIXES: ReadonlyMap<string, PackageType> = new Map(
  Object.entries({
    npm: 'npm',
    pypi: 'pypi',
    crates: 'cargo',
    cargo: 'cargo',
    maven: 'maven',
    golang: 'golang',
  }),
)

/** Names as their registries allow them, so that no name can lead to another address. */
const NAMES: Readonly<Record<PackageType, { readonly namespace: RegExp | null; readonly name: RegExp }>> = {
  npm: { namespace: /^@[a-z0-9~-][a-z0-9._~-]*$/i, name: /^[a-z0-9~-][a-z0-9._~-]*$/i },
  pypi: { namespace: null, name: /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i },
  cargo: { namespace: null, name: /^[a-z][a-z0-9_-]*$/i },
  maven: { namespace: /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i, name: /^[a-z0-9_-][a-z0-9._-]*$/i },
  // https://go.dev/ref/mod#go-mod-file-ident
  golang: {
    namespace: /^[a-z0-9][a-z0-9._~-]*(?:\/[a-z0-9_~+-][a-z0-9._~+-]*)*$/i,
    name: /^[a-z0-9][a-z0-9._~+-]*$/i,
  },
}

const MAX_CHARS = 214
const VERSION = /^[a-z0-9][a-z0-9.+_!-]{0,127}$/i
/** `^18`, `>=1.2 <2`, `1.x || 2.x`, `next` */
const NPM_VERSION = /^[a-z0-9.+_~^<>=*| -]{1,128}$/i

/**
 * Parses the address of a package (https://github.com/package-url/purl-spec): `pkg:npm/%40scope/name@1.2.3`, or in short
 * `npm:@scope/name@1.2.3`, `pypi:requests`, `crates:serde`, `maven:group:artifact@1.2.3`, `golang:example.com/name@v1.2.3`. Undefined for
 * anything else.
 */
export function parsePackageUrl(text: string): PackageName | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):([^?#]*)/i.exec(text.trim()) ?? []
  const kind = scheme.toLowerCase()
  if (kind === 'pkg') {
    const [, type = '', path = ''] = /^\/*([a-z]+)\/(.+)$/i.exec(rest) ?? []
    return [...SHORT_PREFIXES.values()].includes(type.toLowerCase() as PackageType)
      ? readName(type.toLowerCase() as PackageType, path)
      : undefined
  }
  const type = SHORT_PREFIXES.get(kind)
  if (type === undefined || rest === '' || rest.startsWith('/')) return undefined
  if (type === 'maven') return readName(type, rest.replace(':', '/').replace(':', '@'))
  // pip writes versions as `name==1.0`.
  return readName(type, type === 'pypi' ? rest.replace('==', '@') : rest)
}

/** Whether a text begins with the short prefix of a package type. */
export function isShortPackageUrl(text: string): boolean {
  return SHORT_PREFIXES.has(/^([a-z]+):/i.exec(text.trim())?.[1]?.toLowerCase() ?? '')
}

/**
 * Parses the common name of a package, as {@link packageTitle} writes it: `@scope/name`, `group:artifact`, `name`. Undefined if its registry
 * does not allow the name.
 */
export function parsePackageTitle(type: PackageType, title: string): PackageName | undefined {
  const parts = title.split(type === 'maven' ? ':' : '/')
  return title.length > MAX_CHARS ? undefined : createName(type, parts, null)
}

function readName(type: PackageType, path: string): PackageName | undefined {
  // The scope of npm begins with `@`, which also precedes a version.
  const [, whole = '', version] = /^(.[^@]*)(?:@(.*))?$/s.exec(path) ?? []
  const label = version === undefined || version === '' ? null : decode(version)
  if (label !== null && !(type === 'npm' ? NPM_VERSION : VERSION).test(label)) return undefined
  return whole.length > MAX_CHARS ? undefined : createName(type, whole.split('/').map(decode), label)
}

function createName(type: PackageType, parts: readonly string[], version: string | null): PackageName | undefined {
  const name = parts.at(-1)
  const namespace = parts.length > 1 ? parts.slice(0, -1).join('/') : null
  const rules = NAMES[type]
  if (name === undefined || !rules.name.test(name)) return undefined
  if (namespace === null ? type === 'maven' : rules.namespace?.test(namespace) !== true) return undefined
  return { type, namespace, name: type === 'pypi' ? normalizePypiName(name) : name, version }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return ''
    throw error
  }
}

/** `Flask_SQLAlchemy` → `flask-sqlalchemy` (PEP 503) */
export function normalizePypiName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

/** Writes the canonical address of a package. */
export function writePackageUrl({ type, namespace, name, version }: PackageName): string {
  const prefix = namespace === null ? '' : `${encodeURIComponent(namespace).replaceAll('%2F', '/')}/`
  return `pkg:${type}/${prefix}${name}${version === null ? '' : `@${encodeURIComponent(version)}`}`
}

/** The common name of a package: `@scope/name`, `group:artifact`, `name`. */
export function packageTitle({ type, namespace, name }: PackageName): string {
  return namespace === null ? name : `${namespace}${type === 'maven' ? ':' : '/'}${name}`
}

/** The package with the type declarations of an npm package that has none itself: `@scope/name` → `@types/scope__name`. */
export function typesPackageOf(title: string): string {
  return `@types/${title.replace(/^@/, '').replace('/', '__')}`
}
