import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from '../generators/generator.ts'

const STEP = 'chrome'

/** Drops what surrounds content on the pages of a site: navigation, banners, forms, legal notes, advertisements. */
export function removeChrome(root: Element, _generator: Generator | undefined): void {
  for (const element of root.descendants()) {
    if (/^(?:nav|header|footer|aside|script|style|noscript|template|form)$/.test(element.name)) {
      drop(element, STEP, element.name)
    }
  }
}
