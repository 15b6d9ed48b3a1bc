import { CHROME_ELEMENTS } from '../../html/element-names.ts'
import type { Element } from '../../html/tree.ts'
import type { Snapshot } from '../../model.ts'
import type { Metadata } from '../metadata.ts'

/** Evidence that distinguishes a page from an error, a login or a challenge. Rarely needed values are computed when they are read. */
export interface PageSignals {
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly title: string
  readonly heading: string
  readonly canonical: string | null
  /** The visible text, including navigation and other chrome; only its beginning if it is long. */
  readonly visibleText: string
  /** Length of the visible text that is in no navigation, banner or footer. */
  readonly lengthWithoutChrome: number
  /** Length of the text of the content. */
  readonly contentLength: number
  /** Length of the text of the content outside of password forms. */
  readonly contentOutsideForms: number
  /** Beginning of the text of the content. */
  readonly content: string
  readonly hasPicture: boolean
  /** Whether the content shows code, which a login, a challenge or an error page never does. */
  readonly hasCode: boolean
  /** The text of `noscript` elements. */
  readonly noscript: string
  /** Addresses of scripts and frames, one a line. */
  readonly sources: string
  /** Beginning of the scripts in the document. */
  readonly scripts: string
  /** Length of all scripts in the document. */
  readonly scriptLength: number
  readonly hasPassword: boolean
  /** Whether the page has a field for a user name or email address. */
  readonly hasUserField: boolean
  /** Targets of the first links in the visible text, at most two. */
  readonly linkTargets: readonly string[]
  /** Addresses of the frames of a frameset. */
  readonly frames: readonly string[]
  /** Content of the `Refresh` header or of `<meta http-equiv="refresh">`. */
  readonly refresh: string
  /** Ids and classes, one a line. */
  readonly idsAndClasses: string
  /** Whether the root element that scripts fill is empty. */
  readonly hasEmptyRoot: boolean
}

/** Maximum length of the text that is read. A document with more text is a page, regardless of other signals. */
const MAX_TEXT = 5000
const MAX_SCRIPT = 50_000
const MAX_NAMES = 50_000
const MAX_ROOTS = 10

/** Ids of the element that a framework draws a page in. */
const APP_ROOT =
  /^(?:root|app|__next|__nuxt|___gatsby|svelte|app-root|react-root|react-app|q-app|main-app|mount|application|page-root|spa-root)$/

/** Elements whose text browsers do not show as text. */
const INVISIBLE_ELEMENTS = new Set(['script', 'style', 'template', 'svg', 'noscript'])
/** Elements that are signals themselves, besides the visible text in them. */
const SIGNAL_ELEMENTS = new Set(['title', 'meta', 'h1', 'input', 'a', 'iframe', 'frame'])

/** Collects the signals of a document. `content` holds the elements chosen as its content. */
export function gatherSignals(
  snapshot: Snapshot,
  root: Element,
  content: readonly Element[],
  metadata: Metadata,
): PageSignals {
  const tree = new TreeSignals(snapshot.headers?.['refresh'] ?? '')
  tree.visit(root, true)
  const { parts, title, heading, scriptLength, refresh, hasPassword, hasUserField, linkTargets, frames, hasEmptyRoot } =
    tree
  let names: string | undefined
  const lengths = content.map(lengthsOf)
  return {
    url: snapshot.url,
    status: snapshot.status ?? 200,
    headers: snapshot.headers ?? {},
    ...{ title, heading, scriptLength, hasPassword, hasUserField, linkTargets, frames, refresh, hasEmptyRoot },
    canonical: metadata.canonical,
    ...parts,
    visibleText: parts.visibleText.replace(/\s+/g, ' ').trim(),
    noscript: parts.noscript.trim(),
    contentLength: lengths.reduce((sum, { all }) => sum + all, 0),
    contentOutsideForms: lengths.reduce((sum, { outsideForms }) => sum + outsideForms, 0),
    get content() {
      const texts = content.map((element) => textIn(element, MAX_TEXT, true))
      return texts.join(' ').replace(/\s+/g, ' ').trim()
    },
    hasPicture: lengths.some((one) => one.hasPicture),
    hasCode: lengths.some((one) => one.hasCode),
    get lengthWithoutChrome() {
      return measureWithoutChrome(root)
    },
    get idsAndClasses() {
      names ??= namesIn(root)
      return names
    },
  }
}

/** The signals in the tree of a document. */
class TreeSignals {
  readonly parts = { visibleText: '', noscript: '', sources: '', scripts: '' }
  title = ''
  heading = ''
  scriptLength = 0
  refresh: string
  hasPassword = false
  hasUserField = false
  readonly linkTargets: string[] = []
  readonly frames: string[] = []
  hasEmptyRoot = false
  #rootsLeft = MAX_ROOTS

  constructor(refresh: string) {
    this.refresh = refresh
  }

  visit(element: Element, isParentVisible: boolean): void {
    if (INVISIBLE_ELEMENTS.has(element.name)) {
      this.#readInvisible(element)
      return
    }
    const isVisible = isParentVisible && element.dropped?.step !== 'hidden'
    if (SIGNAL_ELEMENTS.has(element.name)) this.#readSignalElement(element, isVisible)
    if (!this.hasEmptyRoot && APP_ROOT.test(element.id) && this.#rootsLeft-- > 0) this.hasEmptyRoot = isEmpty(element)
    for (const child of element.children) {
      if (typeof child !== 'string') this.visit(child, isVisible)
      else if (isVisible && this.parts.visibleText.length < MAX_TEXT) this.parts.visibleText += child.slice(0, MAX_TEXT)
    }
    if (isVisible && this.parts.visibleText.length < MAX_TEXT) this.parts.visibleText += ' '
  }

  /** Reads an element that is never visible. */
  #readInvisible(element: Element): void {
    if (element.name === 'noscript') {
      if (this.parts.noscript.length < MAX_TEXT) this.parts.noscript += ` ${lineIn(element)}`
    } else if (element.name === 'script') {
      this.#readSource(element)
      const text = textIn(element, Number.POSITIVE_INFINITY)
      this.scriptLength += text.length
      if (this.parts.scripts.length < MAX_SCRIPT) this.parts.scripts += `${text.slice(0, MAX_SCRIPT)}\n`
    }
  }

  #readSource(element: Element): string | undefined {
    const source = element.attribute('src')
    if (source !== undefined) this.parts.sources += `${source.slice(0, 500)}\n`
    return source
  }

  #readSignalElement(element: Element, isVisible: boolean): void {
    switch (element.name) {
      case 'title':
        if (this.title === '') this.title = lineIn(element)
        break
      case 'meta':
        if (element.attribute('http-equiv')?.toLowerCase() === 'refresh')
          this.refresh ||= element.attribute('content') ?? ''
        break
      case 'h1':
        if (this.heading === '' && isVisible) this.heading = lineIn(element)
        break
      case 'input':
        this.hasPassword ||= isVisible && isPassword(element)
        this.hasUserField ||= isVisible && isUserField(element)
        break
      case 'a': {
        const href = isVisible && this.linkTargets.length < 2 ? element.attribute('href') : undefined
        if (href !== undefined) this.linkTargets.push(href)
        break
      }
      case 'iframe':
        this.#readSource(element)
        break
      case 'frame': {
        const source = this.#readSource(element)
        if (source !== undefined) this.frames.push(source)
        break
      }
    }
  }
}

function measureWithoutChrome(element: Element): number {
  if (INVISIBLE_ELEMENTS.has(element.name) || CHROME_ELEMENTS.has(element.name) || element.dropped?.step === 'hidden')
    return 0
  let length = 0
  for (const child of element.children) {
    length += typeof child === 'string' ? child.trim().length : measureWithoutChrome(child)
  }
  return length
}

function namesIn(root: Element): string {
  let names = ''
  const visit = (element: Element) => {
    if (names.length >= MAX_NAMES) return
    names += `${element.id}\n${element.classes.slice(0, 20).join('\n')}\n`
    if (INVISIBLE_ELEMENTS.has(element.name)) return
    for (const child of element.children) if (typeof child !== 'string') visit(child)
  }
  visit(root)
  return names
}

/** The beginning of the text in an element. Dropped text, which may be a signal too, counts unless `skipsDropped` is set. */
function textIn(element: Element, maxChars: number, skipsDropped = false): string {
  let text = ''
  for (const child of element.children) {
    if (text.length >= maxChars) break
    if (typeof child === 'string') text += child.slice(0, maxChars)
    else if (!skipsDropped || child.dropped === undefined) text += textIn(child, maxChars, skipsDropped)
  }
  return text
}

function lineIn(element: Element): string {
  return textIn(element, MAX_TEXT).replace(/\s+/g, ' ').trim()
}

function isEmpty(element: Element): boolean {
  return element.children.every((child) => (typeof child === 'string' ? child.trim() === '' : isEmpty(child)))
}

/** Lengths of the text in an element. Only forms that ask for a password count as forms, because forums put posts into forms. */
function lengthsOf(content: Element): { all: number; outsideForms: number; hasPicture: boolean; hasCode: boolean } {
  const lengths = { all: 0, outsideForms: 0, hasPicture: false, hasCode: false }
  /** Number of password fields so far, without those in forms that have ended. */
  let openPasswordCount = 0
  const visit = (element: Element): number => {
    const countBefore = openPasswordCount
    if (isPassword(element)) openPasswordCount++
    if (element.dropped !== undefined) return 0
    if (element.name === 'img' || element.name === 'svg' || element.name === 'video') lengths.hasPicture = true
    if (element.name === 'code' || element.name === 'pre') lengths.hasCode = true
    let length = 0
    for (const child of element.children) length += typeof child === 'string' ? child.trim().length : visit(child)
    if (element.name !== 'form' || openPasswordCount === countBefore) return length
    lengths.all += length
    openPasswordCount = countBefore
    return 0
  }
  lengths.outsideForms = visit(content)
  lengths.all += lengths.outsideForms
  return lengths
}

/** Field names that ask for the reader's identity. */
const USER_FIELD = /user|login|e-?mail|identifier|account/i

function isUserField(input: Element): boolean {
  const type = input.attribute('type')?.toLowerCase() ?? 'text'
  if (type === 'email') return true
  return /^(?:text|tel)$/.test(type) && USER_FIELD.test(`${input.attribute('name')} ${input.id}`)
}

function isPassword(element: Element): boolean {
  return element.name === 'input' && element.attribute('type')?.toLowerCase() === 'password'
}
