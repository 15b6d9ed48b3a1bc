import { SelectorMap } from '../../../html/selector.ts'
import type { Element } from '../../../html/tree.ts'
import type { Generator } from '../../generators/generator.ts'

/*
 * What is not shown at first and is content all the same: panels of a tab set, parts of an accordion, collapsed members
 * of an API. A reader opens them with one click.
 */

const PANEL_CLASS =
  /(?:^|[\s_-])(?:tab(?:s|bed)?(?:[-_]?(?:item|pane|panel|content|container|body|block|set|s))?|accordions?|collaps(?:e|ed|ible)|expand(?:er|able)|toggle|faqs?|spoiler|code-?group)(?=[\s_-]|$)/i

/** What opens over a page or belongs to its frame, although its class may speak of collapsing. */
const FRAME_CLASS = /nav|menu|dropdown|modal|dialog|popup|popover|offcanvas|drawer|search|sidebar|cart|cookie|share/i
const FRAME_ROLE = /^(?:menu|menubar|dialog|alertdialog|listbox|navigation|search|tooltip)$/

/** What arrives after the rest of a page and is put in its place by a script: React (`S:0`) and Marko do so. */
const STREAMED_ID = /^(?:S:[\da-f]+|af[a-z]*\d+)$/

/** Tells whether something hidden belongs to the frame of a page: a menu, a dialog. */
export function isFrame(element: Element): boolean {
  return (
    element.name === 'nav' ||
    element.name === 'dialog' ||
    FRAME_ROLE.test(element.attribute('role') ?? '') ||
    FRAME_CLASS.test(element.attribute('class') ?? '')
  )
}

/** Makes the test whether a hidden element is content. `controlled` are the ids of what a button or tab opens. */
export function keepTest(
  generator: Generator | undefined,
  controlled: ReadonlySet<string>,
): (element: Element, isInFrame: boolean) => boolean {
  const kept = new SelectorMap((generator?.keep ?? []).map((selector) => [selector, true] as const))
  return (element, isInFrame) => {
    if (kept.match(element) === true) return true
    if (element.attribute('role') === 'tabpanel' || STREAMED_ID.test(element.id)) return true
    if (isInFrame || isFrame(element)) return false
    return (
      controlled.has(element.id) ||
      // A part with a heading of its own that opens it.
      element.hasAttribute('aria-labelledby') ||
      PANEL_CLASS.test(element.attribute('class') ?? '') ||
      PANEL_CLASS.test(element.parent?.attribute('class') ?? '')
    )
  }
}

/** The id of what an element opens, if it is a tab or a button that does. */
export function controlledId(element: Element): string | undefined {
  const opens = element.hasAttribute('aria-expanded') || element.attribute('role') === 'tab'
  const controls = element.attribute('aria-controls')
  if (opens && controls !== undefined) return controls
  const toggle = element.attribute('data-toggle') ?? element.attribute('data-bs-toggle') ?? ''
  if (!/^(?:collapse|tab|pill)$/.test(toggle)) return undefined
  const target = element.attribute('data-target') ?? element.attribute('data-bs-target') ?? element.attribute('href')
  return target?.startsWith('#') === true ? target.slice(1) : undefined
}
