import { escapeHtml } from '../../core/html/escape.ts'
import { safeAddress, writeLink, writeNoteMark } from '../markup.ts'

/* Inline text of Org with its marks. */

const EMPHASIS: Readonly<Record<string, string>> = {
  '*': 'strong',
  '/': 'em',
  _: 'u',
  '+': 's',
  '=': 'code',
  '~': 'code',
}
/** Characters allowed before and after marked text. */
const BEFORE = /[\s\-('"{]/
const AFTER = /[\s\-.,:;!?'")}\\[]/
/** Limit of line breaks in marked text. */
const MAX_BREAKS = 2

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alpha: 'α',
    beta: 'β',
    gamma: 'γ',
    delta: 'δ',
    epsilon: 'ε',
    lambda: 'λ',
    mu: 'μ',
    pi: 'π',
    sigma: 'σ',
    tau: 'τ',
    omega: 'ω',
    phi: 'φ',
    psi: 'ψ',
    theta: 'θ',
    Delta: 'Δ',
    Gamma: 'Γ',
    Omega: 'Ω',
    Sigma: 'Σ',
    Pi: 'Π',
    to: '→',
    rightarrow: '→',
    leftarrow: '←',
    Rightarrow: '⇒',
    uparrow: '↑',
    downarrow: '↓',
    times: '×',
    pm: '±',
    leq: '≤',
    geq: '≥',
    le: '≤',
    ge: '≥',
    ne: '≠',
    neq: '≠',
    approx: '≈',
    infin: '∞',
    infty: '∞',
    deg: '°',
    copy: '©',
    reg: '®',
    trade: '™',
    mdash: '—',
    ndash: '–',
    hellip: '…',
    dots: '…',
    ldots: '…',
    nbsp: ' ',
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    vert: '|',
    vbar: '|',
    bull: '•',
    euro: '€',
    sect: '§',
    para: '¶',
    check: '✓',
    checkmark: '✓',
    ast: '*',
    slash: '/',
    under: '_',
    plus: '+',
    equal: '=',
    tilde: '~',
    dollar: '$',
    backslash: '\\',
  }),
)

/** The link targets of a document. */
export interface OrgTargets {
  /** The fragment of a heading by title or custom id; undefined when there is none. */
  readonly find: (name: string) => string | undefined
  /** Whether a footnote has this label. */
  readonly hasNote: (label: string) => boolean
  /** Adds a footnote that is defined inline, and returns its label. */
  readonly addNote: (label: string, text: string) => string
  /** Abbreviations of URL prefixes: `#+LINK: bug https://…/`. */
  readonly abbreviations: ReadonlyMap<string, string>
}

/** Writes text as HTML. */
export function writeOrg(text: string, targets: OrgTargets, depth = 0): string {
  return depth > MAX_DEPTH ? escapeHtml(text) : new OrgWriter(text, targets, depth).write()
}

/** Nesting limit of marks. */
const MAX_DEPTH = 5

const NEXT_MARK = /[*/_+=~[\\<{$]|https?:\/\//g
const ADDRESS = /https?:\/\/[^\s<>"\]]{1,2000}/y
const NOTE = /\[fn:([\w-]{0,80})(:|\])/y
const TIME = /[<[]\d{4}-\d\d-\d\d[^\]>\n]{0,40}[>\]]/y
const ANGLE = /<(https?:\/\/[^\s<>]{1,2000})>/y
const TARGET = /<{2,3}([^<>\n]{1,200})>{2,3}/y
const MACRO = /\{\{\{[A-Za-z][\w-]{0,60}(?:\([^()\n]{0,500}\))?\}\}\}/y
const ENTITY = /\\([A-Za-z]{1,20})(?:\{\})?/y
const IMAGE = /\.(?:png|jpe?g|gif|svg|webp|avif)$/i

class OrgWriter {
  readonly #text: string
  readonly #targets: OrgTargets
  readonly #out: string[] = []
  /** Marks that have no closing mark in the rest of the text. */
  readonly #unclosed = new Set<string>()
  /** Next position of each closing mark. */
  readonly #closes = new Map<string, number>()
  readonly #depth: number
  #at = 0

  constructor(text: string, targets: OrgTargets, depth: number) {
    this.#text = text
    this.#targets = targets
    this.#depth = depth
  }

  /** Position of a closing mark; undefined when it is not near. Each mark is searched once, so the total time stays linear. */
  #closeAfter(sign: string, from: number): number | undefined {
    let found = this.#closes.get(sign)
    if (found === undefined || found < from) {
      const next = this.#text.indexOf(sign, from)
      found = next < 0 ? Number.POSITIVE_INFINITY : next
      this.#closes.set(sign, found)
    }
    return found - from < MAX_LINK ? found : undefined
  }

  write(): string {
    while (this.#at < this.#text.length) {
      if (this.#take()) continue
      NEXT_MARK.lastIndex = this.#at + 1
      const next = NEXT_MARK.exec(this.#text)?.index ?? this.#text.length
      this.#out.push(escapeHtml(this.#text.slice(this.#at, next)))
      this.#at = next
    }
    return this.#out.join('')
  }

  #push(html: string, end: number): true {
    this.#out.push(html)
    this.#at = end
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #take(): boolean {
    const sign = this.#text[this.#at] ?? ''
    if (sign === '[') return this.#takeLink() || this.#takeNote() || this.#takeTime()
    if (sign === '<') return this.#takeAngle()
    if (sign === '\\') return this.#takeBackslash()
    if (sign === '$') return this.#takeFormula('$$', '$$')
    if (sign === '{') return this.#takeMacro()
    if (sign === 'h') return this.#takeAddress()
    return Object.hasOwn(EMPHASIS, sign) && this.#takeEmphasis(sign)
  }

  #takeEmphasis(sign: string): boolean {
    const before = this.#text[this.#at - 1]
    const first = this.#text[this.#at + 1]
    if ((before !== undefined && !BEFORE.test(before)) || first === undefined || first.trim() === '') return false
    const end = this.#findEnd(sign, this.#at + 1)
    if (end < 0) return false
    const inner = this.#text.slice(this.#at + 1, end)
    const element = EMPHASIS[sign] ?? 'em'
    const html =
      element === 'code' ? escapeHtml(inner.replace(/\s+/g, ' ')) : writeOrg(inner, this.#targets, this.#depth + 1)
    return this.#push(element === 'u' ? html : `<${element}>${html}</${element}>`, end + 1)
  }

  #findEnd(sign: string, from: number): number {
    if (this.#unclosed.has(sign)) return -1
    let breaks = 0
    for (let at = from; at < this.#text.length; at++) {
      if (this.#text[at] === '\n' && ++breaks > MAX_BREAKS) return -1
      if (this.#text[at] !== sign || at === from || this.#text[at - 1]?.trim() === '') continue
      const after = this.#text[at + 1]
      if (after === undefined || AFTER.test(after)) return at
    }
    this.#unclosed.add(sign)
    return -1
  }

  /** `[[address][words]]` */
  #takeLink(): boolean {
    if (!this.#text.startsWith('[[', this.#at)) return false
    const end = this.#closeAfter(']]', this.#at + 2)
    if (end === undefined) return false
    const inner = this.#text.slice(this.#at + 2, end)
    const middle = inner.indexOf('][')
    const address = (middle < 0 ? inner : inner.slice(0, middle)).replace(/\s+/g, ' ')
    const words = middle < 0 ? '' : inner.slice(middle + 2)
    return this.#push(this.#link(address, words), end + 2)
  }

  #link(address: string, words: string): string {
    const linkHtml =
      words === ''
        ? escapeHtml(address.replace(/^(?:file:|\*|#)/, ''))
        : writeOrg(words, this.#targets, this.#depth + 1)
    const target = this.#targets.find(address)
    if (target !== undefined) return writeLink(`#${target}`, linkHtml)
    const [, prefix = '', rest = ''] = /^([a-z][\w-]{0,60}):(.*)$/is.exec(address) ?? []
    const known = this.#targets.abbreviations.get(prefix)
    if (known !== undefined) return writeLink(known.includes('%s') ? known.replace('%s', rest) : known + rest, linkHtml)
    const path = address.replace(/^file:/, '').replace(/::.*$/, '')
    if (prefix === 'file' || /^\.{0,2}\//.test(address) || (prefix === '' && /\.\w{1,5}$/.test(path))) {
      if (IMAGE.test(path))
        return `<img src="${escapeHtml(safeAddress(path))}" alt="${words === '' ? '' : escapeHtml(words)}">`
      return writeLink(path, linkHtml)
    }
    if (/^(?:https?|ftp|mailto|news)$/i.test(prefix)) return writeLink(address, linkHtml)
    return prefix === 'doi' ? writeLink(`https://doi.org/${rest}`, linkHtml) : linkHtml
  }

  #takeNote(): boolean {
    const [start, label = '', sign] = this.#match(NOTE) ?? []
    if (start === undefined) return false
    const from = this.#at + start.length
    if (sign === ']')
      return label !== '' && this.#targets.hasNote(label) && this.#push(writeNoteMark(`fn-${label}`, label), from)
    const end = this.#closeAfter(']', from)
    if (end === undefined) return false
    const name = this.#targets.addNote(label, this.#text.slice(from, end))
    return this.#push(writeNoteMark(`fn-${name}`, name), end + 1)
  }

  #takeTime(): boolean {
    const [time] = this.#match(TIME) ?? []
    return time !== undefined && this.#push(escapeHtml(time.slice(1, -1)), this.#at + time.length)
  }

  #takeAngle(): boolean {
    if (this.#takeTime()) return true
    const [angle, address = ''] = this.#match(ANGLE) ?? []
    if (angle !== undefined) return this.#push(writeLink(address, escapeHtml(address)), this.#at + angle.length)
    const [target, words = ''] = this.#match(TARGET) ?? []
    return (
      target !== undefined && this.#push(target.startsWith('<<<') ? escapeHtml(words) : '', this.#at + target.length)
    )
  }

  #takeBackslash(): boolean {
    if (this.#takeFormula('\\(', '\\)') || this.#takeFormula('\\[', '\\]')) return true
    if (this.#text.startsWith('\\\\', this.#at)) {
      const next = this.#text[this.#at + 2]
      return (next === undefined || next === '\n') && this.#push('<br>', this.#at + 2)
    }
    const [entity, name = ''] = this.#match(ENTITY) ?? []
    const character = ENTITIES.get(name)
    return (
      entity !== undefined && character !== undefined && this.#push(escapeHtml(character), this.#at + entity.length)
    )
  }

  #takeFormula(open: string, close: string): boolean {
    if (!this.#text.startsWith(open, this.#at)) return false
    const from = this.#at + open.length
    const end = this.#closeAfter(close, from)
    if (end === undefined) return false
    const tex = escapeHtml(this.#text.slice(from, end))
    return this.#push(`<span class="math">\\(${tex}\\)</span>`, end + close.length)
  }

  #takeMacro(): boolean {
    const [macro] = this.#match(MACRO) ?? []
    return macro !== undefined && this.#push('', this.#at + macro.length)
  }

  #takeAddress(): boolean {
    if (/[\p{L}\p{N}]/u.test(this.#text[this.#at - 1] ?? ' ')) return false
    const [found] = this.#match(ADDRESS) ?? []
    if (found === undefined) return false
    let { length } = found
    while (length > 0 && `.,;:!?)*/_=~'`.includes(found[length - 1] ?? ' ')) length--
    const address = found.slice(0, length)
    return this.#push(writeLink(address, escapeHtml(address)), this.#at + length)
  }
}

const MAX_LINK = 4000
