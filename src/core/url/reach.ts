import { getDomain } from 'tldts'
import { keyPath } from './key.ts'
import type { Reach } from './scope.ts'

/** The position of an address relative to a source: in its reach, on its site but out of reach, or on another site. */
export type ReachPosition = 'inside' | 'outside' | 'elsewhere'

/** A test of how far a source reaches. */
export interface ReachTest {
  /** The reach and its start: `subpages example.com/docs/`, `hostname example.com:8080`, `domain example.com`. */
  readonly pattern: string
  /** `path` is the path of the address as in its key. */
  locate(url: URL, path: string): ReachPosition
}

/**
 * Creates the test for the reach of a source. `siteUrl` is the start with the scheme and host it redirects to, or the redirect target if
 * that is in another folder. Both hosts belong to the site, because pages keep linking to a site's former address. The folder is that of
 * the start as the user gave it and, if the start redirects out of it, also the target's. A start is a page in its folder, unless it ends in
 * `/`. A start that redirects is no page, so only addresses below it count.
 */
export function createReachTest(reach: Reach, startUrl: URL, siteUrl: URL): ReachTest {
  switch (reach) {
    case 'subpages':
      return createSubpagesTest(startUrl, siteUrl)
    case 'hostname':
      return {
        pattern: `hostname ${siteUrl.host}`,
        locate: (url) => (isSameSite(url, siteUrl) || isSameSite(url, startUrl) ? 'inside' : 'elsewhere'),
      }
    case 'domain':
      return createDomainTest(startUrl, siteUrl)
  }
}

/** The address of a site after a redirect: its own path on the host of the target, if the target is below it. */
export function followRedirect(siteUrl: string, target: string): string {
  const [site, to] = [new URL(siteUrl), new URL(target)]
  if (!isInFolder(keyPath(to), baseFolder(site))) return to.href
  const below = `${site.pathname}/`
  // Only a folder redirects to a page below it. Many sites add a slash to pages too, but `/docs` must not stand for the whole host then.
  const isFolder = to.pathname.startsWith(below) && (to.pathname !== below || pageFolder(site) === '/')
  if (to.origin === site.origin && !isFolder) return siteUrl
  return new URL(isFolder ? below : site.pathname, to.origin).href
}

/** The folder of a page; of an address that ends in `/`, the address itself. Ends in `/`. */
function pageFolder(url: URL): string {
  const path = keyPath(url)
  return url.pathname.endsWith('/') && path !== '/' ? `${path}/` : path.slice(0, path.lastIndexOf('/') + 1)
}

function isInFolder(path: string, base: string): boolean {
  return path.startsWith(base) || path === base.slice(0, -1)
}

/** The folder that contains a start and everything below it; ends in `/`. */
function baseFolder(startUrl: URL): string {
  const path = keyPath(startUrl)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const isFile = !startUrl.pathname.endsWith('/') && (INDEX.test(name) || PAGE_ENDING.test(name))
  if (isFile) return path.slice(0, path.length - name.length)
  return path === '/' ? path : `${path}/`
}

const INDEX = /^index(?:\.[^.]+)?$/i

/**
 * Extensions of files that are read as pages. Not any text after a dot: `/docs/v1.2`, `/docs/11.x`, `/com.example` and `/guides/next.js`
 * are folders.
 */
const PAGE_ENDING =
  /.\.(?:[xs]?html?|xht|php\d?|phtml|aspx?|jspx?|jsf|do|action|cgi|pl|cfm|mdx?|mdown|mkdn?|markdown|rst|adoc|asciidoc|txt|text|tex|json|jsonl|xml|rss|atom|ya?ml|toml|csv|tsv|pdf|epub|docx?|odt|rtf|pptx?|xlsx?|ipynb)$/i

function createSubpagesTest(startUrl: URL, siteUrl: URL): ReachTest {
  const folder = pageFolder(startUrl)
  const base = startUrl.pathname === siteUrl.pathname ? folder : baseFolder(startUrl)
  const siteBase = pageFolder(siteUrl)
  // A redirect upwards, such as from a missing page to the home page, does not widen the source.
  const leadsUp = isSameSite(siteUrl, startUrl) && siteBase !== folder && base.startsWith(siteBase)
  const hasMoved = !leadsUp && !isInFolder(keyPath(siteUrl), base)
  return {
    pattern: `subpages ${siteUrl.host}${hasMoved ? siteBase : base}`,
    locate: (url, path) => {
      const isAtSite = isSameSite(url, siteUrl)
      if (!isAtSite && !isSameSite(url, startUrl)) return 'elsewhere'
      const isInside = isInFolder(path, base) || (hasMoved && isAtSite && isInFolder(path, siteBase))
      return isInside ? 'inside' : 'outside'
    },
  }
}

/** Hosts without a registrable domain (IP addresses, localhost, single names, public suffixes) form a domain of their own. */
function createDomainTest(startUrl: URL, siteUrl: URL): ReachTest {
  const domains = [registrableDomain(siteUrl), registrableDomain(startUrl)].filter((domain) => domain !== null)
  return {
    pattern: `domain ${registrableDomain(siteUrl) ?? siteUrl.host}`,
    locate: (url) => {
      if (isSameSite(url, siteUrl) || isSameSite(url, startUrl)) return 'inside'
      const domain = registrableDomain(url)
      return domain !== null && domains.includes(domain) ? 'inside' : 'elsewhere'
    },
  }
}

/** Suffixes under which users can register names count as public: two projects of github.io are two domains. */
function registrableDomain(url: URL): string | null {
  return getDomain(url.hostname, { allowPrivateDomains: true })
}

/** Same host and port. With default ports, http and https are the same site: one of them redirects to the other. */
function isSameSite(a: URL, b: URL): boolean {
  return a.host === b.host && (a.protocol === b.protocol || a.port === '')
}
