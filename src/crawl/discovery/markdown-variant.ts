import { decodePlain } from '../../core/extract/decode-html.ts'
import { readRobots } from '../../core/extract/metadata/robots.ts'
import { isHtml } from '../../core/llms-txt/scan.ts'
import type { Snapshot } from '../../core/model.ts'
import { hostOf } from '../../core/url/key.ts'

/** Refusals in a row after which a host is asked no more. */
const MAX_REFUSALS = 3
const NO_PAGE = /\.(?:md|mdx|txt|pdf|docx|pptx|xlsx|odt|epub|rtf|ipynb|rst|adoc|asciidoc|org|csv|tsv|json|ya?ml)$/i
const TYPES: ReadonlySet<string> = new Set(['text/markdown', 'text/x-markdown', 'text/mdx', 'text/x-gfm', 'text/plain'])

/**
 * Addresses where the Markdown of a page may be, in the order to try them: `page.md`, then `page/index.html.md`; below a
 * folder `index.html.md`. None for what is text or a document already. A query stays, a fragment does not.
 */
export function variantsOf(url: string): string[] {
  const address = new URL(url)
  const { pathname } = address
  if (NO_PAGE.test(pathname)) return []
  if (pathname.endsWith('/')) return [withPath(address, `${pathname}index.html.md`)]
  const beside = withPath(address, `${pathname}.md`)
  // Nothing is below a file.
  return /\.x?html?$/i.test(pathname) ? [beside] : [beside, withPath(address, `${pathname}/index.html.md`)]
}

/** Tells whether the address of a page answered with Markdown, so that there may be HTML for those who ask for that. */
export function isNegotiated(url: string, { headers }: Snapshot): boolean {
  const essence = essenceOf(headers?.['content-type'])
  return essence !== 'text/plain' && TYPES.has(essence) && !NO_PAGE.test(new URL(url).pathname)
}

/**
 * Tells whether an answer is the Markdown of a page: status 200, a type of text, and no page in HTML all the same. One that
 * is not to be indexed is passed over, as sites say so of what only repeats their pages.
 */
export function acceptsVariant({ body, status = 200, headers }: Snapshot): boolean {
  const type = headers?.['content-type'] ?? ''
  if (status !== 200 || !TYPES.has(essenceOf(type))) return false
  if (!readRobots([], headers?.['x-robots-tag'] ?? '').index) return false
  const beginning = decodePlain(body.slice(0, 4096), type)
  return beginning.trim() !== '' && !isHtml(beginning)
}

/** Knows which hosts have Markdown of their pages: one that refused three pages in a row is asked no more. */
export class MarkdownVariants {
  readonly #refusals = new Map<string | undefined, number>()

  /** Addresses to try for a page; none where its host has refused too often. */
  variantsFor(url: string): string[] {
    return this.isGivenUp(url) ? [] : variantsOf(url)
  }

  /** Tells whether the host of an address is asked no more. */
  isGivenUp(url: string): boolean {
    return (this.#refusals.get(hostOf(url)) ?? 0) >= MAX_REFUSALS
  }

  /** One of the variants of a page was taken. */
  accept(url: string): void {
    if (!this.isGivenUp(url)) this.#refusals.delete(hostOf(url))
  }

  /** None of the variants of a page was. */
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
