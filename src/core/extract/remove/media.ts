import type { Element } from '../../html/tree.ts'
import { wordsIn } from './chrome-kind.ts'

const MEDIA = new Set(wordsIn('iframe audio video'))

/** Frames with these addresses are advertisements, trackers or forms, whatever their title. */
const TRACKER_SOURCE =
  /doubleclick|googlesyndication|googletagmanager|adservice|amazon-adsystem|captcha|facebook\.com\/(?:tr|plugins)|platform\.twitter|disqus|\/ads?[/.?]/i

/** Whether a media element or an embedded page has a title, so that a link can name it. */
export function isTitledMedia(element: Element): boolean {
  if (!MEDIA.has(element.name) || isPixel(element)) return false
  const title = element.attribute('title') ?? element.attribute('aria-label') ?? ''
  const source = element.attribute('src') ?? element.attribute('data-src') ?? ''
  return title.trim() !== '' && !TRACKER_SOURCE.test(source)
}

/** Whether a frame is at most two pixels wide or high, which means that it counts visits. */
function isPixel(element: Element): boolean {
  const isTiny = (name: string) => /^\s*[0-2](?:px)?\s*$/.test(element.attribute(name) ?? '')
  return isTiny('width') || isTiny('height')
}
