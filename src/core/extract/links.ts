import type { Element } from '../html/tree.ts'
import type { Link } from '../model.ts'
import { clipText } from '../text/lines.ts'

/** Every relative link becomes as long as the base: a longer one only makes a small document large. */
const MAX_BASE = 2000

/** Where relative addresses of a document start: its `<base>`, else its own address. */
export function baseOf(root: Element, url: string): string {
  const href = firstBase(root)
  return (href === undefined || href.length > MAX_BASE ? undefined : resolveHttp(href, url)) ?? url
}

/** As in browsers, the first `<base>` that has an address counts, wherever it stands. */
function firstBase(element: Element): string | undefined {
  if (element.name === 'base') return element.attribute('href')
  for (const child of element.children) {
    const href = typeof child === 'string' ? undefined : firstBase(child)
    if (href !== undefined) return href
  }
  return undefined
}

/** An address made absolute, without credentials; undefined when it is none or leads elsewhere than to the web. */
export function resolveHttp(href: string, base: string): string | undefined {
  const url = parseAddress(href, base)
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (url.username !== '') url.username = ''
  if (url.password !== '') url.password = ''
  return url.href
}

function parseAddress(href: string, base: string): URL | undefined {
  try {
    return new URL(href, base)
  } catch {
    // What cannot be read as an address leads nowhere.
    return undefined
  }
}

const MAX_TEXT = 200
/** No server takes longer addresses. */
const MAX_URL = 8000

/** What is read of a link while the document is gone through. */
interface OpenLink {
  readonly url: string
  readonly rel: readonly string[]
  readonly isContent: boolean
  /** Names it when it has no text. */
  readonly label: string
  text: string
}

/**
 * Every link of a document to another one, in order, each address once and without its fragment. Links in what was
 * dropped count as well. `content` is what was taken as the content of the document. Links are absolute: where the
 * document has no address of the web, relative ones lead nowhere and are left out.
 */
export function readLinks(root: Element, base: string, content: readonly Element[]): Link[] {
  const links = new Map<string, Link>()
  const contentElements = new Set(content)
  const own = resolveHttp('', base)?.replace(/#.*$/, '')

  const open = (element: Element, isContent: boolean): OpenLink | undefined => {
    const href = hrefOf(element)?.trim()
    if (href === undefined || href === '' || href.startsWith('#')) return undefined
    const [url = '', fragment] = resolveHttp(href, base)?.split('#', 2) ?? []
    if (url === '' || url.length > MAX_URL || (url === own && fragment !== undefined)) return undefined
    const label = element.attribute('aria-label') ?? element.attribute('title') ?? element.attribute('alt') ?? ''
    const rel = (element.attribute('rel') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    return { url, rel, isContent, label, text: '' }
  }

  const visit = (element: Element, isInContent: boolean, around: OpenLink | undefined) => {
    // What a template holds is not in the document.
    if (element.name === 'template' && !element.hasAttribute('shadowrootmode')) return
    const isContent = element.dropped === undefined && (isInContent || contentElements.has(element))
    const link = open(element, isContent)
    if (link !== undefined) add(links, link)
    const isText = element.dropped === undefined && element.name !== 'script' && element.name !== 'style'
    const inside = link ?? (isText ? around : undefined)
    if (element.name === 'img' && inside !== undefined) addText(inside, ` ${element.attribute('alt') ?? ''} `)
    for (const child of element.children) {
      if (typeof child !== 'string') visit(child, isContent, inside)
      else if (inside !== undefined) addText(inside, child)
    }
    if (link !== undefined) complete(links, link)
  }
  visit(root, false, undefined)
  return [...links.values()]
}

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

/** Takes as much of a text as can be shown; white space at its beginning counts once, however it is cut up. */
function addText(link: OpenLink, text: string): void {
  if (link.text.length >= MAX_TEXT) return
  const line = text.slice(0, 10 * MAX_TEXT).replace(/\s+/g, ' ')
  link.text += link.text === '' || link.text.endsWith(' ') ? line.trimStart() : line
}

/** Gives a link its place, which is where it begins. */
function add(links: Map<string, Link>, { url, rel, isContent }: OpenLink): void {
  const known = links.get(url)
  if (known === undefined) links.set(url, { url, text: '', rel, isContent })
  else if (isContent && !known.isContent) links.set(url, { ...known, isContent })
}

/** Gives a link its text, unless an earlier one to the same place has one. */
function complete(links: Map<string, Link>, { url, text, label }: OpenLink): void {
  const known = links.get(url)
  if (known === undefined || known.text !== '') return
  const line = (text.trim() === '' ? label : text).replace(/\s+/g, ' ').trim()
  if (line !== '') links.set(url, { ...known, text: clipText(line, MAX_TEXT) })
}
