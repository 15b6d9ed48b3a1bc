import { HEADINGS } from '../../../html/element-names.ts'
import { SelectorMap } from '../../../html/selector.ts'
import type { Element, Node } from '../../../html/tree.ts'
import type { ElementIndex } from '../../element-index.ts'
import type { Generator } from '../../generators/generator.ts'

/*
 * Content that is hidden at first: panels of a tab set, parts of an accordion, collapsed members of an API. Readers open them with one
 * click, so a control must exist.
 */

const TAB_CLASS =
  /(?:^|[\s_-])(?:tab(?:s|bed|set|list)?(?:[-_]?(?:item|pane|panel|content|container|body|block|set|s))?|code-?group)(?=[\s_-]|$)/i
const FOLD_CLASS =
  /(?:^|[\s_-])(?:accordions?|collaps(?:e|ed|ible)|expand(?:er|able)|toggle|faqs?|spoiler)(?=[\s_-]|$)/i

/** Classes of overlays and site chrome, even if another class mentions collapsing. */
const FRAME_CLASS = /nav|menu|dropdown|modal|dialog|popup|popover|offcanvas|drawer|search|sidebar|cart|cookie|share/i
const FRAME_ROLE = /^(?:menu|menubar|dialog|alertdialog|listbox|navigation|search|tooltip)$/

/** Whether a hidden element belongs to the frame of a page: a menu, a dialog. */
export function isMenuOrDialog(element: Element): boolean {
  return (
    element.name === 'nav' ||
    element.name === 'dialog' ||
    FRAME_ROLE.test(element.attribute('role') ?? '') ||
    FRAME_CLASS.test(element.attribute('class') ?? '')
  )
}

/** Creates a test for whether a hidden element is content. */
export function createContentTest(
  generator: Generator | undefined,
  { openedIds, labelIds, streamedIds }: Controls,
): (element: Element, isInFrame: boolean) => boolean {
  const kept = new SelectorMap((generator?.keepHidden ?? []).map((selector) => [selector, true] as const))
  return (element, isInFrame) => {
    if (kept.match(element) === true || streamedIds.has(element.id)) return true
    const isPanel = element.attribute('role') === 'tabpanel'
    if (!isPanel && (isInFrame || isMenuOrDialog(element))) return false
    if (openedIds.has(element.id)) return true
    // The part has a heading that opens it.
    if ((element.attribute('aria-labelledby') ?? '').split(/\s+/).some((id) => labelIds.has(id))) return true
    const names = `${element.attribute('class') ?? ''} ${element.parent?.attribute('class') ?? ''}`
    if (FOLD_CLASS.test(names) && followsControl(element)) return true
    return (isPanel || TAB_CLASS.test(names)) && isInTabSet(element)
  }
}

/** How many levels above a panel its tabs may be. */
const MAX_LEVELS = 4
/** How many siblings are checked on each level. */
const MAX_SIBLINGS = 50

/** Whether tabs, or other panels, are near a panel. A single hidden element is not a tab set, under any name. */
function isInTabSet(panel: Element): boolean {
  let ancestor = panel
  for (let level = 0; level < MAX_LEVELS && ancestor.parent !== undefined; level++) {
    const child = ancestor
    const outer = ancestor.parent
    if (outer.children.slice(0, MAX_SIBLINGS).some((sibling) => sibling !== child && isTab(sibling))) return true
    ancestor = outer
  }
  return false
}

function isTab(node: Node): boolean {
  if (typeof node === 'string') return false
  if (/^tab(?:list|panel)?$/.test(node.attribute('role') ?? '')) return true
  if (node.name === 'label' || (node.name === 'input' && node.attribute('type') === 'radio')) return true
  return TAB_CLASS.test(node.attribute('class') ?? '') || /nav-(?:tabs|pills)/.test(node.attribute('class') ?? '')
}

/** Whether the element before an element, or before its parent, can open it. */
function followsControl(element: Element): boolean {
  const before = elementBefore(element) ?? (element.parent === undefined ? undefined : elementBefore(element.parent))
  return before !== undefined && [before, ...before.elements()].some(isControl)
}

function elementBefore(element: Element): Element | undefined {
  const siblings = element.parent?.children ?? []
  for (let i = siblings.indexOf(element) - 1; i >= 0; i--) {
    const node = siblings[i]
    if (typeof node === 'object') return node
  }
  return undefined
}

const CONTROLS = new Set([...HEADINGS, 'a', 'button', 'dt', 'label', 'summary'])
const CONTROL_CLASS = /toggle|trigger|head|title|question|button|btn|label/i

function isControl(element: Element): boolean {
  return (
    CONTROLS.has(element.name) ||
    element.attribute('role') === 'button' ||
    element.hasAttribute('aria-expanded') ||
    CONTROL_CLASS.test(element.attribute('class') ?? '')
  )
}

/** The controls of a document that open parts of it. */
export class Controls {
  /** Ids of elements that a button, tab or link opens. */
  readonly openedIds: Set<string> = new Set()
  /** Ids of buttons and tabs, and of the headings around them. */
  readonly labelIds: Set<string> = new Set()
  /** Ids of parts that arrive after the rest of a page and that a script moves into place, as in React and Marko. */
  readonly streamedIds: Set<string> = new Set()

  constructor({ scripts, controls }: ElementIndex) {
    for (const script of scripts) this.#addStreamed(script.children[0])
    for (const element of controls) this.#addControl(element)
  }

  #addControl(element: Element): void {
    const opened = openedId(element)
    if (opened !== undefined) this.openedIds.add(opened)
    const isTab = element.attribute('role') === 'tab'
    if (!isTab && opened === undefined && element.name !== 'button' && element.name !== 'summary') return
    for (const one of [element, element.parent]) if (one !== undefined && one.id !== '') this.labelIds.add(one.id)
  }

  #addStreamed(script: Node | undefined): void {
    if (typeof script !== 'string' || !/\$(?:R[CSX]|af)/.test(script)) return
    for (const [, part, group = '', number = ''] of script.slice(0, MAX_SCRIPT_CHARS).matchAll(STREAM_SCRIPT)) {
      this.streamedIds.add(part ?? `af${group}${number}`)
    }
  }
}

/** `$RC("B:0","S:0")`, `$RS("S:1","P:1")`, `$af(3)` */
const STREAM_SCRIPT = /\$R[CSX]\((?:"B:[\da-f]+",)?"(S:[\da-f]+)"|\$af([a-z]*)\((\d+)\)/g
/** Scripts that move parts into place are short. */
const MAX_SCRIPT_CHARS = 20_000

/** The id of the element that a tab or button opens. */
function openedId(element: Element): string | undefined {
  const canOpen = element.hasAttribute('aria-expanded') || element.attribute('role') === 'tab'
  const controls = element.attribute('aria-controls')
  if (canOpen && controls !== undefined) return controls
  const toggle = element.attribute('data-toggle') ?? element.attribute('data-bs-toggle') ?? ''
  if (!/^(?:collapse|tab|pill)$/.test(toggle)) return undefined
  const target = element.attribute('data-target') ?? element.attribute('data-bs-target') ?? element.attribute('href')
  return target?.startsWith('#') === true ? target.slice(1) : undefined
}
