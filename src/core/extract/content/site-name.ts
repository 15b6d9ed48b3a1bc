import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'

const HOME_PAGE = /^(?:https?:\/\/[^/]+)?\/?$/

/** Whether a heading links to the home page: then it is the name of the site, not the title of the page. */
export function isSiteNameHeading(heading: Element): boolean {
  const link = find(heading, (element) => element.name === 'a')
  return link !== undefined && HOME_PAGE.test(link.attribute('href') ?? '')
}
