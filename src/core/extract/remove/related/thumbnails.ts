import { HEADINGS } from '../../../html/element-names.ts'
import { type Element, lineOf } from '../../../html/tree.ts'
import type { StatisticsMap } from '../../content/statistics.ts'
import { drop } from '../../drop.ts'
import { isLinkDense } from '../evidence.ts'

const STEP = 'thumbnails'

/**
 * Drops pictures without information of their own: rows of pictures without words, pictures of cards, which stand for a linked page, and
 * pictures that repeat the title, a heading or another picture. In a catalogue every linked picture belongs to a card, and
 * pictures with the same alternative text show the same item.
 */
export function removeThumbnails(
  content: Element,
  statistics: StatisticsMap,
  { title, isCatalogue }: { readonly title: string; readonly isCatalogue: boolean },
): void {
  const headings = new Set<string>()
  const seenPictures = new Set<string>()
  const titles = [wordsOf(title)]
  const textLinkTargets = listTextLinkTargets(content, statistics)
  const visit = (element: Element, context: PictureContext) => {
    if (element.dropped !== undefined) return
    if (HEADINGS.has(element.name)) {
      const words = wordsOf(lineOf(element))
      headings.add(words.join(' '))
      if (element.name === 'h1' && titles.length < MAX_TITLES) titles.push(words)
    }
    if (isGallery(element, statistics)) {
      drop(element, STEP, 'pictures without a word')
      return
    }
    if (element.name === 'img') {
      const reason = reasonOf(element, context)
      if (reason !== undefined) drop(element, STEP, reason)
      return
    }
    const isLink = element.name === 'a'
    const isText = TEXT_CONTAINERS.has(element.name)
    const isBlock = BLOCKS.has(element.name)
    const next =
      isLink || isText || isBlock
        ? {
            link: isLink ? element : context.link,
            isText: isText || context.isText,
            block: isBlock ? element : context.block,
          }
        : context
    for (const child of element.children) if (typeof child !== 'string') visit(child, next)
  }
  const reasonOf = (image: Element, { link, isText, block }: PictureContext): string | undefined => {
    if (link !== undefined && !leadsToPicture(link)) {
      const isCard =
        textLinkTargets.has(link.attribute('href') ?? '') || (!isText && hasOnlyLinksBeside(block, statistics))
      if (isCatalogue || isCard) return 'stands for a page it links to'
    }
    const words = wordsOf(image.attribute('alt') ?? '')
    if (words.length === 0) return undefined
    const alt = words.join(' ')
    const picture = isCatalogue ? alt : `${alt} ${(image.attribute('src') ?? '').replace(COLOR_SCHEME, '')}`
    if (headings.has(alt) || titles.some((text) => isRepetition(words, text, isCatalogue)) || seenPictures.has(picture))
      return 'repeats what the page says'
    seenPictures.add(picture)
    return undefined
  }
  visit(content, { link: undefined, isText: false, block: content })
}

/** Fewer pictures in a row may be steps of the text around them. */
const MIN_GALLERY_IMAGES = 4

/** Whether a part is a row of pictures without text and alternative text. Only the outermost of nested parts counts. */
function isGallery(element: Element, statistics: StatisticsMap): boolean {
  const { imageCount, textLength } = statistics.get(element)
  if (imageCount < MIN_GALLERY_IMAGES || textLength > 0 || hasOnlyPictures(element.parent, statistics)) return false
  for (const inner of element.descendants()) {
    if (inner.name === 'img' && (inner.attribute('alt') ?? '').trim() !== '') return false
  }
  return true
}

function hasOnlyPictures(element: Element | undefined, statistics: StatisticsMap): boolean {
  return element !== undefined && statistics.get(element).imageCount > 0 && statistics.get(element).textLength === 0
}

/** The part in which addresses of the same picture for light and for dark screens differ. */
const COLOR_SCHEME = /[-_.]?(?:dark|light)/gi

/** The surroundings of a picture. */
interface PictureContext {
  readonly link: Element | undefined
  /** Whether the picture is in a figure, a table cell or a definition, and so part of the text. */
  readonly isText: boolean
  readonly block: Element
}

const TEXT_CONTAINERS = new Set(['figure', 'td', 'dd'])
const BLOCKS = new Set(['p', 'div', 'li', 'section', 'article', 'header', 'td', 'body', 'main'])

/** A page has one title, in few variants. */
const MAX_TITLES = 3

/** Targets of text links: a picture with the same target is their decoration. */
function listTextLinkTargets(content: Element, statistics: StatisticsMap): ReadonlySet<string> {
  const targets = new Set<string>()
  for (const element of content.descendants()) {
    const href = element.name === 'a' ? element.attribute('href') : undefined
    if (href !== undefined && statistics.get(element).textLength > 0) targets.add(href)
  }
  return targets
}

/** Whether a linked picture has only links beside it, or nothing. */
function hasOnlyLinksBeside(block: Element, statistics: StatisticsMap): boolean {
  const counts = statistics.get(block)
  return counts.textLength === 0 || isLinkDense(counts)
}

/** Texts of fewer words are similar by chance. */
const MIN_WORDS = 3
const MIN_SAME_WORDS_SHARE = 0.8

/** Whether two texts are the same apart from a word or two; in a catalogue, whether one contains the other. */
function isRepetition(words: readonly string[], title: readonly string[], isCatalogue: boolean): boolean {
  const [longer, shorter] = words.length > title.length ? [words, title] : [title, words]
  if (longer.join(' ') === shorter.join(' ')) return longer.length > 0
  if (shorter.length < MIN_WORDS) return false
  if (!isCatalogue && shorter.length < longer.length * MIN_SAME_WORDS_SHARE) return false
  const known = new Set(longer)
  return shorter.filter((word) => known.has(word)).length >= shorter.length * MIN_SAME_WORDS_SHARE
}

const PICTURE = /\.(?:avif|gif|jpe?g|png|svg|webp)(?:$|[?#])/i

/** Whether a link only enlarges the picture in it. */
function leadsToPicture(link: Element): boolean {
  return PICTURE.test(link.attribute('href') ?? '')
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
