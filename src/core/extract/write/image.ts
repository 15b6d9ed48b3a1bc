import type { Element } from '../../html/tree.ts'
import type { BlockBuilder } from './builder.ts'
import { collapseText, escapeText } from './escape.ts'

/** Writes `img` and `picture`: the picture, or only its alternative text for icons and data addresses. */
export function writeImage(builder: BlockBuilder, element: Element): void {
  const image = element.name === 'picture' ? (imageIn(element) ?? element) : element
  if (isPixel(image)) return
  const alt = collapseText(image.attribute('alt') ?? '').trim()
  if (isIcon(image)) {
    builder.run.addText(alt)
    return
  }
  const source = findSource(image, element)
  const address = source === '' ? '' : builder.addresses.resolveImage(source)
  if (address !== '') builder.run.addMarkdown(`![${escapeText(alt, '[', true)}](${address})`)
  else if (isMeaningful(alt)) builder.run.addText(alt)
}

/** Writes audio, video or an embedded document as a link, if it has a title. */
export function writeMedia(builder: BlockBuilder, element: Element): void {
  const title = element.attribute('title') ?? element.attribute('aria-label') ?? ''
  const source = element.attribute('src') ?? element.attribute('data-src') ?? sourceIn(element) ?? ''
  const address = builder.addresses.resolveImage(source)
  if (title.trim() === '' || address === '' || builder.run.isInLink) return
  builder.flush()
  const mark = builder.run.open('[')
  builder.run.addText(title)
  builder.run.close(mark, `](${address})`)
  builder.flush()
}

function imageIn(picture: Element): Element | undefined {
  for (const child of picture.elements()) if (child.name === 'img') return child
  return undefined
}

function sourceIn(media: Element): string | undefined {
  for (const child of media.elements()) if (child.name === 'source') return child.attribute('src')
  return undefined
}

/** Where scripts that load pictures late keep the address. */
const LAZY_SOURCES = ['data-src', 'data-original', 'data-lazy-src', 'data-url', 'data-original-src', 'data-hi-res-src']

function findSource(image: Element, outer: Element): string {
  const src = image.attribute('src') ?? ''
  for (const name of LAZY_SOURCES) {
    const lazy = image.attribute(name) ?? ''
    if (isAddress(lazy)) return lazy
  }
  const lazySource = findWidestSource(image.attribute('data-srcset') ?? '')
  if (lazySource !== '') return lazySource
  if (isAddress(src) && !isPlaceholder(src)) return src
  const sets = [image.attribute('srcset') ?? '']
  for (const child of outer.elements()) {
    if (child.name === 'source') sets.push(child.attribute('srcset') ?? child.attribute('data-srcset') ?? '')
  }
  for (const set of sets) {
    const source = findWidestSource(set)
    if (source !== '') return source
  }
  return image.attribute('Source') ?? outer.attribute('Source') ?? (isAddress(src) ? src : '')
}

function isAddress(text: string): boolean {
  return text.trim() !== '' && !/^\s*(?:data|blob|javascript|about):/i.test(text)
}

const PLACEHOLDER = /(?:^|\/)(?:blank|spacer|placeholder|pixel|transparent|lazy|loading)[^/]*\.(?:gif|png|svg|jpe?g)$/i

function isPlaceholder(src: string): boolean {
  return PLACEHOLDER.test(src)
}

/** No author writes more candidates. The limit bounds the time for hostile input. */
const MAX_CANDIDATES = 64

/** The address of the largest picture in a `srcset`. Addresses may contain commas, but none at their ends. */
function findWidestSource(set: string): string {
  let best = ''
  let bestSize = -1
  let at = 0
  for (let count = 0; count < MAX_CANDIDATES && at < set.length; count++) {
    const start = endOf(CANDIDATE_GAP, set, at)
    const end = endOf(ADDRESS, set, start)
    const address = trimCommas(set.slice(start, end))
    // A comma directly after an address ends the candidate; a descriptor ends with a comma too.
    at = start + address.length < end ? end : endOf(DESCRIPTOR, set, end)
    const size = Number(/^\s*([\d.]+)[wx]/.exec(set.slice(end, at))?.[1] ?? '1')
    if (!isAddress(address) || !(size > bestSize)) continue
    best = address
    bestSize = size
  }
  return best
}

const CANDIDATE_GAP = /[\s,]*/y
const ADDRESS = /\S*/y
const DESCRIPTOR = /[^,]*/y

/** End of the match from `at` on. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

function trimCommas(text: string): string {
  let end = text.length
  while (text[end - 1] === ',') end--
  return text.slice(0, end)
}

/** Pictures of at most 2 × 2 pixels are tracking pixels. */
function isPixel(image: Element): boolean {
  const width = sizeOf(image, 'width')
  const height = sizeOf(image, 'height')
  return width !== undefined && height !== undefined && width <= 2 && height <= 2
}

const ICON_CLASS = /^(?:emoji|wp-smiley|icon|twemoji|emojione|inline-icon)$/
const MAX_ICON_SIZE = 24

/** Whether a picture is an icon: small pictures replace a word or are decoration. */
function isIcon(image: Element): boolean {
  if (image.classes.some((name) => ICON_CLASS.test(name))) return true
  const width = sizeOf(image, 'width')
  const height = sizeOf(image, 'height')
  return width !== undefined && height !== undefined && width <= MAX_ICON_SIZE && height <= MAX_ICON_SIZE
}

function sizeOf(image: Element, name: string): number | undefined {
  const value = image.attribute(name)
  return value !== undefined && /^\s*\d+(?:\.\d+)?(?:px)?\s*$/.test(value) ? Number.parseFloat(value) : undefined
}

function isMeaningful(alt: string): boolean {
  return /\p{L}{2}/u.test(alt) && !/^(?:image|img|icon|logo|photo|picture|placeholder|loading)$/i.test(alt)
}
