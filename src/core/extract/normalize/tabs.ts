import { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { listDescendants, type Rule, shortText } from './rule.ts'

const STEP = 'tabs'

/** Selectors for the tab sets of known generators; most have ARIA roles. */
export const TABS_SELECTOR =
  '[role="tablist"], .sd-tab-set, .tabbed-set, .vp-code-group, .tablist, .nav-tabs, .nav-pills'

const MAX_DESCENDANTS = 5000
const MAX_WRAPPERS = 4
const MAX_LABEL = 200

/** Turns the panels of a tab set into labeled sections and removes the row of labels. */
export const normalizeTabs: Rule = (element) => {
  if (element.hasClass('sd-tab-set')) pairTabs(element, 'sd-tab-label', 'sd-tab-content')
  else if (element.hasClass('tabbed-set')) normalizeTabbedSet(element)
  else if (element.hasClass('vp-code-group')) normalizeCodeGroup(element)
  else normalizeTabList(element)
}

function pairTabs(set: Element, labelClass: string, panelClass: string): void {
  const members = listDescendants(set, MAX_DESCENDANTS).filter((element) => isInSet(element, set))
  labelPanels(
    members.filter((element) => element.hasClass(labelClass)),
    members.filter((element) => element.hasClass(panelClass)),
  )
}

/** Whether an element belongs to this tab set, and not to one that is nested in a panel. */
function isInSet(element: Element, set: Element): boolean {
  for (const ancestor of element.ancestors()) {
    if (ancestor === set) return true
    if (ancestor.classes.some((name) => SET_CLASSES.has(name))) return false
  }
  return false
}

const SET_CLASSES = new Set(['sd-tab-set', 'tabbed-set', 'vp-code-group'])

function normalizeTabbedSet(set: Element): void {
  const members = listDescendants(set, MAX_DESCENDANTS).filter((element) => isInSet(element, set))
  const blocks = members.filter((element) => element.hasClass('tabbed-block'))
  const panels = blocks.length > 0 ? blocks : members.filter((element) => element.hasClass('tabbed-content'))
  labelPanels(
    members.filter(
      ({ name, parent }) => name === 'label' && (parent === set || parent?.hasClass('tabbed-labels') === true),
    ),
    panels,
  )
}

function normalizeCodeGroup(set: Element): void {
  const members = listDescendants(set, MAX_DESCENDANTS)
  const blocks = members.find((element) => element.hasClass('blocks'))
  labelPanels(
    members.filter(({ name, parent }) => name === 'label' && parent?.hasClass('tabs') === true),
    blocks === undefined ? [] : [...blocks.elements()],
  )
}

/** Handles a row of tabs whose panels follow somewhere in the same wrapper. */
function normalizeTabList(list: Element): void {
  const tabs = outermost(listDescendants(list, MAX_DESCENDANTS).filter(isTab))
  let wrapper = tabs.length === 0 ? undefined : list.parent
  for (let depth = 0; wrapper !== undefined && depth < MAX_WRAPPERS; depth++, wrapper = wrapper.parent) {
    const panels = panelsIn(wrapper)
    if (panels.all.length === 0) continue
    labelPanels(tabs, takePanels(tabs, panels))
    if (tabs.every(({ dropped }) => dropped !== undefined)) drop(list, STEP, 'labels of tabs')
    return
  }
}

/** Panels in a wrapper, which several rows of tabs may share. */
interface Panels {
  readonly all: readonly Element[]
  readonly byId: ReadonlyMap<string, Element>
  readonly byLabel: ReadonlyMap<string, Element>
  /** Index of the first panel that no row has taken. */
  nextIndex: number
}

/** Cached, because rows beside each other share the same wrapper. */
const panelsByWrapper = new WeakMap<Element, Panels>()

function panelsIn(wrapper: Element): Panels {
  const known = panelsByWrapper.get(wrapper)
  if (known !== undefined) return known
  const all = outermost(listDescendants(wrapper, MAX_DESCENDANTS).filter(isPanel))
  const panels: Panels = {
    all,
    byId: new Map(all.filter(({ id }) => id !== '').map((panel) => [panel.id, panel])),
    byLabel: new Map(all.map((panel) => [panel.attribute('aria-labelledby') ?? '', panel])),
    nextIndex: 0,
  }
  panelsByWrapper.set(wrapper, panels)
  return panels
}

/** The panels of a row of tabs: those that the tabs refer to, if every tab refers to one, otherwise the next panels. */
function takePanels(tabs: readonly Element[], panels: Panels): Element[] {
  const { all, byId, byLabel } = panels
  const referenced = tabs.map((tab) => byId.get(targetOf(tab)) ?? (tab.id === '' ? undefined : byLabel.get(tab.id)))
  if (referenced.every((panel) => panel !== undefined)) return referenced
  const next = all.slice(panels.nextIndex, panels.nextIndex + tabs.length)
  panels.nextIndex += next.length
  return next
}

function isTab(element: Element): boolean {
  if (element.attribute('role') === 'tab') return true
  if (element.hasClass('tab')) return element.name === 'li'
  return (
    element.hasClass('nav-link') || (element.name === 'a' && targetOf(element) !== '' && element.parent?.name === 'li')
  )
}

function isPanel(element: Element): boolean {
  return element.attribute('role') === 'tabpanel' || element.hasClass('tab-pane') || element.hasClass('tabpanel')
}

/** The elements of a list that are not inside other elements of the list. */
function outermost(elements: readonly Element[]): Element[] {
  const all = new Set(elements)
  return elements.filter((element) => ![...element.ancestors()].some((ancestor) => all.has(ancestor)))
}

function targetOf(tab: Element): string {
  const controls = tab.attribute('aria-controls')
  if (controls !== undefined) return controls
  const target = tab.attribute('data-bs-target') ?? tab.attribute('data-target') ?? tab.attribute('href') ?? ''
  return target.startsWith('#') ? target.slice(1) : ''
}

function labelPanels(labels: readonly Element[], panels: readonly Element[]): void {
  if (panels.length === 0 || labels.length < panels.length) return
  for (const [i, panel] of panels.entries()) {
    const tab = labels[i]
    const text = tab === undefined ? '' : (shortText(tab, MAX_LABEL) ?? '')
    if (text !== '') panel.setAttribute('Label', text)
    makeTab(panel)
  }
  for (const element of labels) drop(element, STEP, 'label of a tab')
}

function makeTab(panel: Element): void {
  if (panel.name !== 'pre') {
    panel.name = 'Tab'
    return
  }
  const { parent } = panel
  if (parent === undefined) return
  const tab = new Element('Tab', ['Label', panel.attribute('Label') ?? ''])
  parent.children = parent.children.map((child) => (child === panel ? tab : child))
  tab.parent = parent
  tab.append(panel)
}
