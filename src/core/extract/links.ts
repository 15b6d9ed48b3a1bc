import type { Element } from '../html/tree.ts'
import type { Link, Snapshot } from '../model.ts'
import { clipText } from '../text/lines.ts'
import type { ElementIndex } from './element-index.ts'
import { createResolver, resolveHttp, withoutFragment } from './resolve.ts'
import { NO_BASE } from './write/address.ts'

/** Maximum length of a base. Every relative link becomes longer than the base, so a long base would inflate a small document. */
const MAX_BASE = 2000

/** The base of relative addresses in a document: its `<base>`, else its own address. */
export function baseOf({ bases }: ElementIndex, url: string): string {
  // As in browsers, the first base with an address counts, anywhere in the document.
  const href = bases.find((element) => element.hasAttribute('href'))?.attribute('href')
  return (href === undefined || href.length > MAX_BASE ? undefined : resolveHttp(href, url)) ?? url
}

/** The base of addresses in the Markdown of a document. If the document has its own `<base>`, `relativeLinks` is ignored. */
export function linkBaseOf({ url, relativeLinks = 'resolved' }: Snapshot, base: string): string {
  if (relativeLinks === 'resolved' || base !== url) return base
  return relativeLinks === 'kept' ? NO_BASE : UNRESOLVABLE_BASE
}

/** Base address that makes relative links resolve to no web page, so that they are left out. */
const UNRESOLVABLE_BASE = 'file:///'

const MAX_TEXT = 200
/** No server takes longer addresses. */
export const MAX_URL = 8000

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A link that is being read. */
interface OpenLink {
  readonly url: string
  readonly element: Element
  /** Undefined if an earlier link to the same address has text, so that no text is collected for this link. */
  text: string | undefined
}

/** The user name and password of an address that cannot be parsed. */
const LOGIN = /\/\/[^/?#]*@/

/**
 * Every link except to a fragment of the document itself, in source order, each address once and without its fragment. Links in dropped
 * parts count too.
 * `content` holds the elements chosen as the content. Links are absolute: if the document has no web address, its relative links are left
 * out. An address that cannot be parsed stays as written, so that a crawl can tell it.
 */
export function readLinks(index: ElementIndex, base: string, content: readonly Element[]): Link[] {
  const links = new Map<string, Mutable<Link>>()
  const resolve = createResolver(base)
  const ownUrl = withoutFragment(resolveHttp('', base) ?? '')
  const isContent = createContentTest(content)

  const open = (element: Element): OpenLink | undefined => {
    const href = hrefOf(element)?.trim()
    if (href === undefined || href === '' || href.startsWith('#')) return undefined
    const url = resolve(href) || (ownUrl !== '' && URL.parse(href, base) === null ? href.replace(LOGIN, '//') : '')
    if (url === '' || url.length > MAX_URL || (url === ownUrl && href.includes('#'))) return undefined
    const known = links.get(url)
    const link = { url, element, text: known === undefined || known.text === '' ? '' : undefined }
    if (known === undefined) links.set(url, { url, text: '', rel: relationsOf(element), isContent: isContent(element) })
    else mergeLink(known, relationsOf(element), isContent(element))
    return link
  }

  /** Number of link elements visited so far. */
  let visitedCount = 0
  const visit = (element: Element, outerLink: OpenLink | undefined) => {
    if (element.name === 'template') return
    const isLink = LINK_NAMES.has(element.name)
    if (isLink) visitedCount++
    const link = isLink ? open(element) : undefined
    const isText = element.dropped === undefined && element.name !== 'script' && element.name !== 'style'
    const currentLink = link ?? (isText ? outerLink : undefined)
    if (element.name === 'img' && currentLink !== undefined) addText(currentLink, ` ${element.attribute('alt') ?? ''} `)
    for (const child of element.children) {
      if (typeof child !== 'string') visit(child, currentLink)
      else if (currentLink !== undefined) addText(currentLink, child)
    }
    if (link !== undefined) setLinkText(links, link)
  }
  // Nested links follow their outer link in `index.links`. They were visited together with the outer link, so the loop skips them.
  for (let link = index.links[0]; link !== undefined; link = index.links[visitedCount]) visit(link, undefined)
  return [...links.values()]
}

/** Relations by which a page does not vouch for a link. */
const NOFOLLOW_RELATIONS = new Set(['nofollow', 'ugc', 'sponsored'])

/** Merges a second link to the same address. The page vouches for the address if one of its links does. */
function mergeLink(known: Mutable<Link>, rel: readonly string[], isContent: boolean): void {
  known.isContent ||= isContent
  if (known.rel.length > 0) known.rel = known.rel.filter((name) => !NOFOLLOW_RELATIONS.has(name) || rel.includes(name))
}

const LINK_NAMES = new Set(['a', 'area', 'frame', 'link'])

function hrefOf(element: Element): string | undefined {
  switch (element.name) {
    case 'a':
    case 'area':
      return element.attribute('href')
    case 'frame':
      return element.attribute('src')
    case 'link':
      return /(?:^|\s)(?:next|prev)(?:\s|$)/i.test(element.attribute('rel') ?? '')
        ? element.attribute('href')
        : undefined
    default:
      return undefined
  }
}

/** Creates a test for whether an element is inside the content and not inside a dropped part of it. */
function createContentTest(content: readonly Element[]): (element: Element) => boolean {
  const tops = new Set(content)
  /** Links are often siblings, so the result for the last parent is cached. */
  let lastParent: Element | undefined
  let isLastParentContent = false
  return (element) => {
    if (element.dropped !== undefined) return false
    if (tops.has(element)) return true
    if (lastParent === element.parent) return isLastParentContent
    lastParent = element.parent
    let at = lastParent
    while (at !== undefined && at.dropped === undefined && !tops.has(at)) at = at.parent
    isLastParentContent = at !== undefined && at.dropped === undefined
    return isLastParentContent
  }
}

function relationsOf(element: Element): readonly string[] {
  const rel = element.attribute('rel') ?? ''
  return rel === '' ? [] : rel.toLowerCase().split(/\s+/).filter(Boolean)
}

/** Appends text up to `MAX_TEXT`. White space between the texts of two nodes becomes one space. */
function addText(link: OpenLink, text: string): void {
  if (link.text === undefined || link.text.length >= MAX_TEXT) return
  const line = text.slice(0, 10 * MAX_TEXT).replace(/\s+/g, ' ')
  link.text += link.text === '' || link.text.endsWith(' ') ? line.trimStart() : line
}

/** Sets the text of a link, unless an earlier link to the same address has one. A link without text is named by its attributes. */
function setLinkText(links: ReadonlyMap<string, Mutable<Link>>, { url, element, text }: OpenLink): void {
  const known = links.get(url)
  if (text === undefined || known === undefined || known.text !== '') return
  const label = element.attribute('aria-label') ?? element.attribute('title') ?? element.attribute('alt') ?? ''
  const line = (text.trim() === '' ? label : text).replace(/\s+/g, ' ').trim()
  known.text = clipText(line, MAX_TEXT)
}
