import { decodePlain } from '../../core/extract/decode-html.ts'
import { readRobots } from '../../core/extract/metadata/robots.ts'
import { isHtml } from '../../core/llms-txt/scan.ts'
import type { Snapshot } from '../../core/model.ts'
import { hostOf } from '../../core/url/key.ts'

/** Consecutive refusals after which a host is no longer asked for Markdown. */
const MAX_REFUSALS = 3
const NOT_A_PAGE = /\.(?:md|mdx|txt|pdf|docx|pptx|xlsx|odt|epub|rtf|ipynb|rst|adoc|asciidoc|org|csv|tsv|json|ya?ml)$/i
const TEXT_TYPES: ReadonlySet<string> = new Set([
  'text/markdown',
  'text/x-markdown',
  'text/mdx',
  'text/x-gfm',
  'text/plain',
])

/**
 * Addresses where the Markdown of a page may be, in the order to try: `page.md`, then `page/index.html.md`; for a folder `index.html.md`.
 * Empty for text files and documents. The query is kept, the fragment is not.
 */
export function variantsOf(url: string): string[] {
  const address = new URL(url)
  const { pathname } = address
  if (NOT_A_PAGE.test(pathname)) return []
  if (pathname.endsWith('/')) return [withPath(address, `${pathname}index.html.md`)]
  const beside = withPath(address, `${pathname}.md`)
  // A file such as `page.html` has no folder below it.
  return /\.x?html?$/i.test(pathname) ? [beside] : [beside, withPath(address, `${pathname}/index.html.md`)]
}

/** Whether a page address responded with Markdown, so that the server may have HTML for another Accept header. */
export function isNegotiated(url: string, { headers }: Snapshot): boolean {
  const essence = essenceOf(headers?.['content-type'])
  return essence !== 'text/plain' && TEXT_TYPES.has(essence) && !NOT_A_PAGE.test(new URL(url).pathname)
}

/**
 * Whether a response is the Markdown of a page: status 200, a text type, and no HTML in the body. A response marked noindex is refused:
 * sites mark Markdown copies this way to keep them out of search engines, but the page itself, which is read instead, may be indexed.
 */
export function acceptsVariant({ body, status = 200, headers }: Snapshot): boolean {
  const type = headers?.['content-type'] ?? ''
  if (status !== 200 || !TEXT_TYPES.has(essenceOf(type))) return false
  if (!readRobots([], headers?.['x-robots-tag'] ?? '').index) return false
  const beginning = decodePlain(body.slice(0, 4096), type)
  return beginning.trim() !== '' && !isHtml(beginning)
}

/** Remembers which hosts serve Markdown: after three consecutive refusals a host is no longer asked. */
export class MarkdownVariants {
  readonly #refusals = new Map<string | undefined, number>()

  /** Addresses to try for a page; empty if its host has refused too often. */
  variantsFor(url: string): string[] {
    return this.isGivenUp(url) ? [] : variantsOf(url)
  }

  /** Whether the host of an address is no longer asked for Markdown. */
  isGivenUp(url: string): boolean {
    return (this.#refusals.get(hostOf(url)) ?? 0) >= MAX_REFUSALS
  }

  /** Records that one of the variants of a page was accepted. */
  accept(url: string): void {
    if (!this.isGivenUp(url)) this.#refusals.delete(hostOf(url))
  }

  /** Records that no variant of a page was accepted. */
  refuse(url: string): void {
    const host = hostOf(url)
    this.#refusals.set(host, (this.#refusals.get(host) ?? 0) + 1)
  }
}

function essenceOf(type = ''): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

function withPath(address: URL, path: string): string {
  const variant = new URL(address)
  variant.pathname = path
  variant.hash = ''
  return variant.href
}
