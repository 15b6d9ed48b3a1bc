import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'

const FIRST_PAGE = /^(?:https?:\/\/[^/]+)?\/?$/

/** Whether a heading is the name of the site, which links to its first page, and not the title of the page. */
export function isSiteNameHeading(heading: Element): boolean {
  const link = find(heading, (element) => element.name === 'a')
  return link !== undefined && FIRST_PAGE.test(link.attribute('href') ?? '')
}
