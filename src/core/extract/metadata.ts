import type { Element } from '../html/tree.ts'
import type { Alternate, Page, Snapshot } from '../model.ts'
import { clipText } from '../text/lines.ts'
import type { ElementIndex } from './element-index.ts'
import { chooseAuthor } from './metadata/author.ts'
import { parseDate } from './metadata/dates.ts'
import { gatherMetadata } from './metadata/declared-metadata.ts'
import { readJsonLd, typeName } from './metadata/json-ld.ts'
import { cleanLine, MAX_AUTHOR, MAX_DESCRIPTION, MAX_NAME, MAX_TITLE } from './metadata/line.ts'
import { type HeaderLink, readLinkHeader } from './metadata/link-header.ts'
import { readRobots } from './metadata/robots.ts'
import { chooseTitle } from './metadata/title.ts'
import { resolveHttp, withoutFragment } from './resolve.ts'

/** The metadata that a page declares. */
export type Metadata = Pick<
  Page,
  'title' | 'description' | 'author' | 'publishedAt' | 'modifiedAt' | 'language' | 'canonical' | 'alternates' | 'robots'
> &
  Required<Pick<Page, 'types' | 'section'>>

/** Reads the metadata of a document and of its response headers. Relative addresses resolve against `base`. */
export function readMetadata(index: ElementIndex, base: string, headers: Snapshot['headers'] = {}): Metadata {
  const declared = gatherMetadata(index)
  const { meta, items } = declared
  const jsonLd = readJsonLd(declared.jsonLd)
  const host = URL.canParse(base) ? new URL(base).hostname : ''
  const links = [...declared.links.map(relationIn), ...readLinkHeader(headers['link'] ?? '')]
  const values = (...names: string[]) => names.flatMap((name) => meta.get(name) ?? [])
  const [description = jsonLd.description] = values('description', 'og:description', 'twitter:description')
  const published = [jsonLd.datePublished, ...values(...PUBLISHED), ...(items.get('datepublished') ?? [])]
  const modified = [jsonLd.dateModified, ...values(...MODIFIED), ...(items.get('datemodified') ?? [])]
  const [ogType] = values('og:type')
  const [section = jsonLd.section] = values(...SECTION)
  const types = [...jsonLd.types, ...declared.itemTypes.map(typeName)].filter((type) => type !== '')
  if (ogType !== undefined) types.push(`og:${clipText(ogType.toLowerCase(), MAX_NAME)}`)
  return {
    title: cleanLine(chooseTitle(declared, jsonLd.headline, host), MAX_TITLE) ?? '',
    description: cleanLine(description, MAX_DESCRIPTION),
    author: cleanLine(chooseAuthor(declared, jsonLd.author) ?? '', MAX_AUTHOR),
    publishedAt: firstDate([...published, ...declared.times]),
    modifiedAt: firstDate(modified),
    language: firstLanguage([
      declared.language,
      ...values('content-language', 'og:locale', 'language', 'dc.language'),
      jsonLd.language,
      headers['content-language'] ?? '',
    ]),
    canonical: canonicalOf(links, base, meta.get('og:url')?.[0]),
    alternates: alternatesOf(links, base),
    robots: readRobots(values('robots'), headers['x-robots-tag'] ?? ''),
    types: [...new Set(types)].slice(0, MAX_TYPES),
    section: cleanLine(section, MAX_NAME) ?? cleanLine(items.get('articlesection')?.[0] ?? '', MAX_NAME),
  }
}

/** A page declares few types of its own; a longer list comes from embedded items, such as the products of a shop. */
const MAX_TYPES = 30

/** Names of `<meta>` for the section of a page, best first. */
const SECTION = ['article:section', 'og:article:section', 'articlesection', 'parsely-section', 'dc.subject.section']

/** Names of `<meta>` for the publication date, best first. */
const PUBLISHED = [
  'article:published_time',
  'article:published',
  'og:published_time',
  'datepublished',
  'date',
  'dc.date',
  'dc.date.issued',
  'dc.date.created',
  'dcterms.date',
  'dcterms.issued',
  'dcterms.created',
  'pubdate',
  'publishdate',
  'publish-date',
  'publish_date',
  'parsely-pub-date',
  'sailthru.date',
  'citation_publication_date',
  'citation_date',
]

const MODIFIED = [
  'article:modified_time',
  'article:modified',
  'og:updated_time',
  'datemodified',
  'dc.date.modified',
  'dcterms.modified',
  'lastmod',
  'last-modified',
  'revised',
]

function firstDate(texts: readonly string[]): string | null {
  for (const text of texts) {
    const date = parseDate(text)
    if (date !== null) return date
  }
  return null
}

function firstLanguage(tags: readonly string[]): string | null {
  for (const tag of tags) {
    const [first = ''] = tag.split(/[,;]/)
    const language = first.trim().replaceAll('_', '-')
    if (/^[a-z]{2,3}(?:-[a-z\d]{1,8})*$/i.test(language)) return language
  }
  return null
}

/** A link with a relation, from a `<link>` element or the `Link` header. */
type Relation = HeaderLink

function relationIn(link: Element): Relation {
  return {
    href: link.attribute('href') ?? '',
    rel: (link.attribute('rel') ?? '').toLowerCase().split(/\s+/),
    type: link.attribute('type') ?? '',
    language: link.attribute('hreflang') ?? '',
  }
}

/** The canonical address of a document. `ogUrl` is the address that it declares in `og:url`. */
export function canonicalOf(links: readonly Relation[], base: string, ogUrl?: string): string | null {
  const link = links.find(({ rel }) => rel.includes('canonical'))
  for (const href of [link?.href, ogUrl]) {
    const url = href === undefined || href.trim() === '' ? undefined : resolveHttp(href, base)
    if (url !== undefined) return withoutFragment(url)
  }
  return null
}

/** Other languages and formats of a document, each once. */
export function alternatesOf(links: readonly Relation[], base: string): Alternate[] {
  const alternates = new Map<string, Alternate>()
  for (const link of links) {
    const language = cleanLine(link.language, MAX_NAME)
    const type = cleanLine(link.type.toLowerCase(), MAX_NAME)
    const isAlternate = link.rel.includes('alternate') && !link.rel.includes('stylesheet') && !type?.includes('oembed')
    const url = isAlternate && (language ?? type) !== null ? resolveHttp(link.href, base) : undefined
    if (url !== undefined) alternates.set(`${url} ${language} ${type}`, { url, language, type })
  }
  return [...alternates.values()]
}
