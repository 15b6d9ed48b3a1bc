import type { Element } from '../../html/tree.ts'
import { BREADCRUMBS } from '../remove/navigation.ts'
import { isSiteNameHeading } from './site-name.ts'

/** The heading of the page if it precedes the element with the content. */
export function findTitle(root: Element, content: Element): Element | undefined {
  let title: Element | undefined
  for (const element of root.descendants()) {
    if (element === content) return title
    if (element.name === 'h1' && !isSiteNameHeading(element)) title = element
  }
  return undefined
}

/** The heading of the page if it is the last entry of its breadcrumb path. */
export function findTitleInBreadcrumb(root: Element): Element | undefined {
  let title: Element | undefined
  const visit = (element: Element, isPath: boolean) => {
    const { dropped } = element
    if (dropped !== undefined && dropped.reason !== BREADCRUMBS.reason) return
    const isInPath = isPath || dropped !== undefined
    if (isInPath && element.name === 'h1') title = element
    for (const child of element.children) if (typeof child !== 'string') visit(child, isInPath)
  }
  visit(root, false)
  return title
}
