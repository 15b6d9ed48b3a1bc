import type { Element } from '../../html/tree.ts'
import { decodePart } from '../../url/decode-part.ts'
import { drop } from '../drop.ts'
import { listDescendants, shortText } from './rule.ts'

const STEP = 'footnotes'
const MAX_DESCENDANTS = 500

/** A note, and the element beside it that only holds its number, if there is one. */
interface Note {
  readonly element: Element
  readonly label: Element | undefined
}

/**
 * Pairs footnote marks with notes. Both are collected while the content is walked; a mark without a note, or a note without a mark, stays
 * unchanged.
 */
export class Footnotes {
  readonly #refs = new Map<string, Element[]>()
  readonly #notes = new Map<string, Note>()

  collect(element: Element): void {
    switch (element.name) {
      case 'a':
        this.#collectRef(element)
        return
      case 'li':
        if (element.id !== '' && isInNotes(element)) this.#addNote(element.id, element)
        return
      case 'dl':
        if (element.hasClass('footnote') || element.hasClass('citation')) this.#collectTerms(element)
        return
      case 'aside':
      case 'div':
      case 'table':
      case 'p':
        if (element.id !== '' && isNote(element)) this.#addNote(element.id, element)
        return
    }
  }

  /** Turns marks and notes that link to each other into footnotes. */
  resolve(): void {
    const labels = new Map<string, number>()
    const lists = new Set<Element>()
    for (const [id, note] of this.#notes) {
      const refs = this.#refs.get(id)
      const [first] = refs ?? []
      if (refs === undefined || first === undefined || note.element.contains(first)) continue
      const label = createLabel(shortText(first, MAX_LABEL) ?? '', labels)
      if (note.element.parent?.name === 'ol') lists.add(note.element.parent)
      dropBackLinks(note, refs)
      note.element.name = 'Footnote'
      note.element.setAttribute('Label', label)
      for (const ref of refs) makeRef(ref, label)
    }
    for (const list of lists) unwrapList(list)
    for (const parent of new Set([...lists].map((list) => list.parent)))
      if (parent !== undefined) dropHorizontalRules(parent, lists)
  }

  #collectRef(link: Element): void {
    const href = link.attribute('href') ?? ''
    if (!href.startsWith('#') || href.length < 2 || !isRef(link)) return
    const id = decodePart(href.slice(1))
    const refs = this.#refs.get(id)
    if (refs === undefined) this.#refs.set(id, [link])
    else refs.push(link)
  }

  #collectTerms(list: Element): void {
    let term: Element | undefined
    for (const child of list.elements()) {
      if (child.name === 'dt') term = child
      else if (child.name === 'dd' && term !== undefined && term.id !== '') this.#addNote(term.id, child, term)
    }
  }

  #addNote(id: string, element: Element, label?: Element): void {
    if (!this.#notes.has(id)) this.#notes.set(id, { element, label })
  }
}

const REF_CLASS = /^(?:footnote-?ref(?:erence)?|footnote|fn-?ref|footnote-anchor|noteref)$/i

function isRef(link: Element): boolean {
  if (link.attribute('role') === 'doc-noteref' || link.hasAttribute('data-footnote-ref')) return true
  if (link.classes.some((name) => REF_CLASS.test(name))) return true
  return link.parent?.name === 'sup' && shortText(link, MAX_LABEL) !== undefined
}

const MAX_LABEL = 20
const NOTE_LIST_CLASSES = new Set(['footnotes', 'references', 'footnote-list', 'endnotes', 'reflist'])

/** Whether a list item is a note, by its id or role or by the elements around it. */
function isInNotes(item: Element): boolean {
  if (/^fn[-:\d]/.test(item.id) || item.attribute('role') === 'doc-endnote') return true
  let at = item.parent
  for (let depth = 0; at !== undefined && depth < 3; depth++, at = at.parent) {
    if (at.classes.some((name) => NOTE_LIST_CLASSES.has(name)) || at.attribute('role') === 'doc-endnotes') return true
  }
  return false
}

function isNote(element: Element): boolean {
  if (element.attribute('role') === 'doc-footnote') return true
  return element.classes.some((name) => name === 'footnote' || name === 'footnote-definition' || name === 'citation')
}

/** `[note 1]` → `note-1`; labels are unique. */
function createLabel(text: string, counts: Map<string, number>): string {
  const base = text.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'note'
  const count = (counts.get(base) ?? 0) + 1
  counts.set(base, count)
  // `base` never has two hyphens in a row, so no other label is the same.
  return count === 1 ? base : `${base}--${count}`
}

const BACK_CLASS =
  /^(?:footnote-?back(?:ref|link)?|fn-?backref|backrefs|reversefootnote|mw-cite-backlink|label|fn-bracket|footnote-definition-label|backlink)$/i
const BACK_SIGN = /^(?:[\s↩↑^⏎↵⤴⇧]|\ufe0e|\ufe0f)*$/u

function dropBackLinks(note: Note, refs: readonly Element[]): void {
  const targets = new Set(refs.flatMap((ref) => [ref.id, ref.attribute('name') ?? '', ref.parent?.id ?? '']))
  targets.delete('')
  if (note.label !== undefined) drop(note.label, STEP, 'label of a note')
  for (const element of listDescendants(note.element, MAX_DESCENDANTS)) {
    const href = element.name === 'a' ? (element.attribute('href') ?? '') : ''
    const leadsBack =
      href.startsWith('#') &&
      (targets.has(decodePart(href.slice(1))) || BACK_SIGN.test(shortText(element, MAX_LABEL) ?? 'long'))
    const hasBackClass = element.hasAttribute('class') && element.classes.some((name) => BACK_CLASS.test(name))
    if (leadsBack || hasBackClass) drop(element, STEP, 'link back from a note')
  }
}

/** Replaces a link by a footnote mark, together with a `sup` element that holds only the link. */
function makeRef(link: Element, label: string): void {
  const { parent } = link
  const mark = parent?.name === 'sup' && hasSingleChild(parent) ? parent : link
  mark.name = 'FootnoteRef'
  mark.setAttribute('Label', label)
  mark.children = []
}

/** Whether an element has at most one child besides white space. */
function hasSingleChild(parent: Element): boolean {
  let count = 0
  for (const child of parent.children) {
    if (typeof child !== 'string' || child.trim() !== '') count++
    if (count > 1) return false
  }
  return true
}

function unwrapList(list: Element): void {
  list.name = 'div'
  for (const item of list.elements()) if (item.name === 'li') item.name = 'div'
}

/** Drops the horizontal rules among the siblings before a list of notes, because Markdown renderers draw their own. */
function dropHorizontalRules(parent: Element, lists: ReadonlySet<Element>): void {
  let rules: Element[] = []
  for (const child of parent.elements()) {
    if (child.name === 'hr') rules.push(child)
    if (!lists.has(child)) continue
    for (const rule of rules) drop(rule, STEP, 'line above the notes')
    rules = []
  }
}
