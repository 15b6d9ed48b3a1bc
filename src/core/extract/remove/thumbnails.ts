import { HEADINGS } from '../../html/names.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import { drop } from '../drop.ts'

const STEP = 'thumbnails'

/**
 * Drops pictures that say nothing of their own: those that stand for a page they link to, and those whose text repeats the
 * title, a heading or an earlier picture, as in galleries.
 */
export function removeThumbnails(content: Element, title: string): void {
  const said = new Set<string>()
  const titles = [fold(title)].filter((text) => text !== '')
  const visit = (element: Element, link: Element | undefined) => {
    if (HEADINGS.has(element.name)) {
      const heading = fold(lineOf(element))
      said.add(heading)
      if (element.name === 'h1' && heading !== '' && titles.length < MAX_TITLES) titles.push(heading)
    }
    if (element.name === 'img') {
      judge(element, link)
      return
    }
    for (const child of element.elements()) visit(child, element.name === 'a' ? element : link)
  }
  const judge = (image: Element, link: Element | undefined) => {
    if (link !== undefined && !leadsToPicture(link)) {
      drop(image, STEP, 'stands for a page it links to')
      return
    }
    const alt = fold(image.attribute('alt') ?? '')
    if (alt === '') return
    if (said.has(alt) || titles.some((text) => text.includes(alt) || alt.includes(text)))
      drop(image, STEP, 'repeats what the page says')
    said.add(alt)
  }
  visit(content, undefined)
}

/** A page has one title, said in two ways at most. */
const MAX_TITLES = 3

const PICTURE = /\.(?:avif|gif|jpe?g|png|svg|webp)(?:$|[?#])/i

/** Whether a link only enlarges the picture in it. */
function leadsToPicture(link: Element): boolean {
  return PICTURE.test(link.attribute('href') ?? '')
}

function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
