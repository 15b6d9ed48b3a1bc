import { escapeHtml } from '../../core/html/escape.ts'
import { safeAddress } from '../markup.ts'
import { plainRuns, TextReader } from './text.ts'

/* The macros of mdoc(7), which mark words by their meaning. A line may have several macros. */

/** The output of a macro's words: an element around them, and characters before and after. */
interface Style {
  readonly element?: 'strong' | 'em' | 'code'
  readonly before?: string
  readonly after?: string
}

export const MACRO_STYLES: Readonly<Record<string, Style>> = {
  Ar: { element: 'em' },
  Fa: { element: 'em' },
  Ft: { element: 'em' },
  Va: { element: 'em' },
  Vt: { element: 'em' },
  Em: { element: 'em' },
  Pa: { element: 'em' },
  Ad: { element: 'em' },
  Cm: { element: 'strong' },
  Ic: { element: 'strong' },
  Nm: { element: 'strong' },
  Fl: { element: 'strong', before: '-' },
  Sy: { element: 'strong' },
  Cd: { element: 'strong' },
  Fd: { element: 'strong' },
  Li: { element: 'code' },
  Dv: { element: 'code' },
  Ev: { element: 'code' },
  Er: { element: 'code' },
  Ql: { element: 'code' },
  Ms: { element: 'code' },
  In: { element: 'code', before: '<', after: '>' },
  Sx: {},
  No: {},
  Tn: {},
  An: {},
  Lb: {},
  Ta: { before: '\t' },
  Fn: {},
  Xr: {},
  Lk: {},
  Mt: {},
  St: {},
  Nd: {},
}

/** Macros that enclose the rest of their line in characters. */
export const ENCLOSING: Readonly<Record<string, readonly [string, string]>> = {
  Op: ['[', ']'],
  Bq: ['[', ']'],
  Brq: ['{', '}'],
  Pq: ['(', ')'],
  Aq: ['<', '>'],
  Dq: ['“', '”'],
  Qq: ['"', '"'],
  Sq: ['‘', '’'],
}

/** Macros that open or close an enclosure over several lines. */
export const BRACKETS: Readonly<Record<string, string>> = {
  Oo: '[',
  Oc: ']',
  Bo: '[',
  Bc: ']',
  Bro: '{',
  Brc: '}',
  Po: '(',
  Pc: ')',
  Ao: '<',
  Ac: '>',
  Do: '“',
  Dc: '”',
  Qo: '"',
  Qc: '"',
  So: '‘',
  Sc: '’',
}
const OPENING = new Set(['[', '{', '(', '<', '“', '‘'])

const CLOSING_PUNCTUATION = new Set(['.', ',', ':', ';', ')', ']', '?', '!'])
const OPENING_PUNCTUATION = new Set(['(', '['])

interface Words {
  readonly html: string
  readonly plain: string
}

/** Writes the words of a line, in which macro names mark the words after them. */
export function writeArguments(args: readonly string[], facts: { readonly name: string }): Words {
  const writer = new ArgumentWriter(facts.name)
  writer.write(args)
  return writer.finish()
}

class ArgumentWriter {
  readonly #name: string
  readonly #html: string[] = []
  readonly #plain: string[] = []
  /** Text to write at the end of the line. */
  readonly #closing: string[] = []
  #isJoined = true
  /** Text before the next word: the first hyphen of a long option. */
  #prefix = ''

  constructor(name: string) {
    this.#name = name
  }

  finish(): Words {
    for (const sign of this.#closing.reverse()) this.#add(escapeHtml(sign), sign, true, false)
    return { html: this.#html.join(''), plain: this.#plain.join('') }
  }

  #add(html: string, plain: string, isJoined: boolean, joinsNext: boolean): void {
    const space = isJoined || this.#isJoined ? '' : ' '
    this.#html.push(space, html)
    this.#plain.push(space, plain)
    this.#isJoined = joinsNext
  }

  write(args: readonly string[]): void {
    for (let at = 0; at < args.length; ) {
      const name = args[at] ?? ''
      if (name === 'Ns' || name === 'Pf' || name === 'Ap') {
        if (name === 'Ap') this.#add("'", "'", true, true)
        if (name === 'Pf') this.#word(args[++at] ?? '', {})
        this.#isJoined = true
        at++
      } else if (Object.hasOwn(ENCLOSING, name)) {
        const [before = '', after = ''] = ENCLOSING[name] ?? []
        this.#add(escapeHtml(before), before, false, true)
        this.#closing.push(after)
        at++
      } else if (Object.hasOwn(BRACKETS, name)) {
        const sign = BRACKETS[name] ?? ''
        const opens = OPENING.has(sign) || name === 'Qo'
        this.#add(escapeHtml(sign), sign, !opens, opens)
        at++
      } else if (Object.hasOwn(SYSTEMS, name)) {
        const system = [SYSTEMS[name], ...args.slice(at + 1, at + 2).filter((arg) => /^\d/.test(arg))].join(' ')
        this.#word(system, {})
        at += system === SYSTEMS[name] ? 1 : 2
      } else if (Object.hasOwn(MACRO_STYLES, name)) at = this.#macro(name, args, at + 1)
      else {
        this.#word(name, {})
        at++
      }
    }
  }

  /** Writes the words of one macro, up to the next macro. */
  #macro(name: string, args: readonly string[], start: number): number {
    let end = start
    while (end < args.length && !isMacro(args[end] ?? '')) end++
    const words = args.slice(start, end)
    if (name === 'Xr') this.#reference(words)
    else if (name === 'Fn') this.#call(words)
    else if (name === 'Lk' || name === 'Mt') this.#link(name, words)
    else if (name === 'Fl' && words.length === 0 && end < args.length) this.#prefix += '-'
    else {
      const content =
        words.length > 0 && !CLOSING_PUNCTUATION.has(words[0] ?? '')
          ? words
          : [...defaultsOf(name, this.#name), ...words]
      for (const word of content) this.#word(word, MACRO_STYLES[name] ?? {})
    }
    return end
  }

  #word(word: string, style: Style): void {
    const text = plainRuns(new TextReader().read(word).runs)
    if (CLOSING_PUNCTUATION.has(text)) this.#closeBefore(text)
    else if (OPENING_PUNCTUATION.has(text)) this.#add(escapeHtml(text), text, false, true)
    else {
      const plain = `${this.#prefix}${style.before ?? ''}${text}${style.after ?? ''}`
      this.#prefix = ''
      const html = escapeHtml(plain)
      this.#add(
        style.element === undefined || plain.trim() === '' ? html : `<${style.element}>${html}</${style.element}>`,
        plain,
        false,
        false,
      )
    }
  }

  /** Punctuation at the end of a line comes after the closing text. */
  #closeBefore(mark: string): void {
    for (const sign of this.#closing.splice(0).reverse()) this.#add(escapeHtml(sign), sign, true, false)
    this.#add(mark, mark, true, false)
  }

  #reference([name = '', section = '', ...rest]: readonly string[]): void {
    const hasSection = /^\d\w*$/.test(section)
    this.#word(hasSection ? `${name}(${section})` : name, {})
    for (const word of hasSection || section === '' ? rest : [section, ...rest]) this.#word(word, {})
  }

  #call([name = '', ...args]: readonly string[]): void {
    const punctuation = args.filter((arg) => CLOSING_PUNCTUATION.has(arg))
    const values = args.filter((arg) => !CLOSING_PUNCTUATION.has(arg))
    this.#word(`${name}(${values.join(', ')})`, { element: 'code' })
    for (const mark of punctuation) this.#word(mark, {})
  }

  #link(name: string, [address = '', ...words]: readonly string[]): void {
    const label = words.filter((word) => !CLOSING_PUNCTUATION.has(word)).join(' ') || address
    const href = escapeHtml(safeAddress(name === 'Mt' ? `mailto:${address}` : address))
    this.#add(`<a href="${href}">${escapeHtml(label)}</a>`, label, false, false)
    for (const word of words) if (CLOSING_PUNCTUATION.has(word)) this.#word(word, {})
  }
}

function isMacro(name: string): boolean {
  return (
    Object.hasOwn(MACRO_STYLES, name) ||
    Object.hasOwn(ENCLOSING, name) ||
    Object.hasOwn(BRACKETS, name) ||
    name === 'Ns' ||
    name === 'Ap' ||
    name === 'Pf'
  )
}

/** The default words of a macro without arguments. */
function defaultsOf(name: string, page: string): readonly string[] {
  if (name === 'Nm') return page === '' ? [] : [page]
  if (name === 'Fl') return ['']
  if (name === 'Ar') return ['file', '...']
  if (name === 'Pa') return ['~']
  return []
}

export const SYSTEMS: Readonly<Record<string, string>> = {
  Ux: 'UNIX',
  Bx: 'BSD',
  Nx: 'NetBSD',
  Fx: 'FreeBSD',
  Ox: 'OpenBSD',
  Dx: 'DragonFly',
  At: 'AT&T UNIX',
}
