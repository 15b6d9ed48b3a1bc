import { parse as parseToml } from 'smol-toml'
import { type PackageName, packageTitle, parsePackageUrl } from '../core/url/package-url.ts'
import { readPastedAddress } from '../core/url/pasted-address.ts'
import type { ArchiveContent } from './archive/content.ts'
import type { PackageArchive, PackageKind } from './registry/package-archive.ts'

/** Maximum number of documentation addresses of a package. */
const MAX_LINKS = 2

/** Larger metadata files are not read. */
const MAX_METADATA_BYTES = 2 ** 20

/** The web page of a package version on the site of its public registry. */
export function writePackagePage(name: PackageName, version: string): string {
  const release = encodeURIComponent(version)
  switch (name.type) {
    case 'golang':
      return `https://pkg.go.dev/${packageTitle(name)}@${release}`
    case 'npm':
      return `https://www.npmjs.com/package/${packageTitle(name)}/v/${release}`
    case 'pypi':
      return `https://pypi.org/project/${name.name}/${release}/`
    case 'cargo':
      return `https://crates.io/crates/${name.name}/${release}`
    case 'maven':
      return `https://central.sonatype.com/artifact/${name.namespace}/${name.name}/${release}`
  }
}

/** Lists the addresses of the documentation and homepage that the metadata of a package name, documentation first. */
export async function readDocumentation(
  { kind, readLinks }: Pick<PackageArchive, 'kind' | 'readLinks'>,
  content: ArchiveContent,
  top: string,
): Promise<readonly string[]> {
  try {
    return pickDocumentation((await readLinks?.()) ?? (await readManifestLinks(kind, content, top)))
  } catch {
    // Metadata are written by strangers, and the package is complete without these addresses.
    return []
  }
}

/** Links from the manifest inside an archive. */
async function readManifestLinks(kind: PackageKind, content: ArchiveContent, top: string): Promise<readonly unknown[]> {
  const manifest = MANIFESTS[kind]
  const size = manifest === undefined ? undefined : content.files.get(top + manifest.path)?.size
  if (manifest === undefined || size === undefined || size > MAX_METADATA_BYTES) return []
  return manifest.listLinks(new TextDecoder().decode(await content.read(top + manifest.path)))
}

/** The manifest of each kind of archive that has one, and how it names links. */
const MANIFESTS: Readonly<
  Partial<Record<PackageKind, { readonly path: string; readonly listLinks: (text: string) => readonly unknown[] }>>
> = {
  npm: {
    path: 'package.json',
    listLinks: (text) => [(JSON.parse(text) as Record<string, unknown> | null)?.['homepage']],
  },
  crate: {
    path: 'Cargo.toml',
    listLinks: (text) => {
      const { documentation, homepage } = (parseToml(text)['package'] ?? {}) as Record<string, unknown>
      return [documentation, homepage]
    },
  },
}

/** Picks the links that can be added as a source: web addresses other than pages of packages and of code hosts without a repository. */
export function pickDocumentation(links: readonly unknown[]): readonly string[] {
  const picked = links.flatMap((link) => {
    const url = typeof link === 'string' ? URL.parse(link.trim()) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return []
    url.hash = ''
    const { url: understood, isCodeHostPage } = readPastedAddress(url.href)
    return isCodeHostPage === true || parsePackageUrl(understood) !== undefined ? [] : [url.href]
  })
  return [...new Set(picked)].slice(0, MAX_LINKS)
}

/** The address of the project itself in a `pom`; deeper elements such as licences have addresses of their own. */
export function readPomLinks(text: string): readonly unknown[] {
  const pom = text.replaceAll(/<!--.*?(?:-->|$)/gs, '')
  let depth = 0
  for (const [, close = '', tag, attributes = '', content] of pom.matchAll(
    /<(\/?)([\w.:-]+)(?![\w.:-])([^<>]*)>([^<]*)/g,
  )) {
    if (close === '' && depth === 1 && tag === 'url') return [content]
    if (close === '' && !attributes.endsWith('/')) depth++
    if (close !== '') depth--
  }
  return []
}
