import { VOID_ELEMENTS } from '../../html/element-names.ts'
import { parseBlocks } from '../../markdown/blocks.ts'
import { isBlank } from '../../text/lines.ts'
import { readDeclarations } from '../remove/hidden/stylesheet.ts'
import { readVisibility } from '../remove/hidden/visibility.ts'
import { cleanCode, cleanText } from '../write/escape.ts'
import { cleanDefinitions } from './definitions.ts'

/** Third-party Markdown, made safe to pass on. */
export interface CleanMarkdown {
  /** The Markdown without invisible parts. */
  readonly unescaped: string
  /** The same text with its raw HTML escaped. */
  readonly escaped: string
  /** Number of characters that were left out. */
  readonly hiddenChars: number
}

/** Removes the parts of Markdown that do not show when rendered, and escapes the remaining HTML. Code stays unchanged. */
export function cleanMarkdown(source: readonly string[]): CleanMarkdown {
  const code = codeRanges(source)
  const { lines, hiddenChars } = cleanDefinitions(source, code)
  const cleaner = new Cleaner(hiddenChars)
  let from = 0
  const takeProse = (to: number) => {
    // A code span ends with its paragraph at the latest.
    for (let i = from; i < to; i++) {
      if (i + 1 < to && !isBlank(lines[i] ?? '')) continue
      cleaner.addProse(`${lines.slice(from, i + 1).join('\n')}\n`)
      from = i + 1
    }
  }
  for (const [start, end] of code) {
    takeProse(start)
    cleaner.addCode(`${lines.slice(start, end).join('\n')}\n`)
    from = end
  }
  takeProse(lines.length)
  return cleaner
}

/** First line and line after the last of every block of code, in order. */
export function codeRanges(lines: readonly string[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const block of parseBlocks(lines)) {
    const { type, open, close, leaves } = block
    const isIndented = type === 'other' && leaves.length === 0 && /^(?: {4}|\t)/.test(lines[open] ?? '')
    for (const one of [block, ...leaves]) {
      if (one.type === 'fence' || (one === block && isIndented))
        ranges.push([one.open, one === block ? close : one.close])
    }
  }
  return ranges
}

const AUTOLINK = /<(?:[a-z][a-z\d+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+)>/iy
const TAG = /^<(\/?)([a-z][\w-]*)(?![\w-])((?:[^<>"']|"[^"]*"|'[^']*')*)>/i
/** A tag must end within this number of characters, so that many unclosed tags do not take quadratic time. */
const MAX_TAG_CHARS = 2000
/** Pictures with data addresses in the text: only their alternative text is kept. */
const DATA_PICTURE = /!\[([^[\]\n]{0,1000})\]\([ \t]*<?data:[^()<>\s]*>?(?:[ \t]+"[^"\n]{0,1000}")?[ \t]*\)/iy
const DATA_DEFINITION = /^ {0,3}\[[^[\]\n]{1,1000}\]:[ \t]*<?data:.*$/gim
const DATA_TAG = /^<img\s[^<>]*?\bsrc\s*=\s*["']?data:/i
/** Elements whose content is never shown as text. */
export const NON_TEXT_ELEMENTS: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'head',
  'noscript',
  'svg',
])

class Cleaner implements CleanMarkdown {
  unescaped = ''
  escaped = ''
  hiddenChars: number
  /** The comment (name '') or element that is being removed, and how many elements of its name are open. */
  #removed: { readonly name: string; depth: number } | undefined

  constructor(hiddenChars: number) {
    this.hiddenChars = hiddenChars
  }

  addCode(text: string): void {
    if (this.#removed !== undefined) this.#hide(text)
    else this.#show(text, cleanCode(text))
  }

  addProse(source: string): void {
    const text = source.replace(DATA_DEFINITION, '')
    const spans = new CodeSpans(text)
    let from = 0
    const show = (to: number) => {
      const plain = text.slice(from, to)
      this.#show(plain, cleanText(plain))
      from = to
    }
    for (let i = 0; i < text.length; ) {
      if (this.#removed !== undefined) {
        const end = this.#endOfHidden(text, i)
        this.#hide(text.slice(i, end))
        from = end
        i = end
      } else if (text[i] === '\\') {
        i += 2
      } else if (text[i] === '`') {
        const end = spans.endOf(i)
        show(i)
        this.#show(text.slice(i, end), cleanText(text.slice(i, end)))
        from = end
        i = end
      } else if (text[i] === '!' && text[i + 1] === '[') {
        DATA_PICTURE.lastIndex = i
        const [picture = '', alt = ''] = DATA_PICTURE.exec(text) ?? []
        if (picture !== '') {
          show(i)
          this.#show(alt, cleanText(alt))
          from = i + picture.length
        }
        i += picture.length || 2
      } else if (text[i] === '<') {
        show(i)
        i = this.#takeMarkup(text, i)
        from = i
      } else i++
    }
    show(text.length)
  }

  /** Handles the markup at `<`, and returns the offset where text continues. */
  #takeMarkup(text: string, at: number): number {
    if (text.startsWith('<!--', at) && isComment(text, at)) {
      this.#removed = { name: '', depth: 1 }
      return at + 4
    }
    AUTOLINK.lastIndex = at
    const [address] = AUTOLINK.exec(text) ?? []
    if (address !== undefined) {
      this.#show(address, cleanText(address))
      return at + address.length
    }
    if (DATA_TAG.test(text.slice(at, at + MAX_TAG_CHARS))) return this.#takePicture(text, at)
    const [tag = '', slash, name = '', attributes = ''] = TAG.exec(text.slice(at, at + MAX_TAG_CHARS)) ?? []
    const element = name.toLowerCase()
    const isOpened = tag !== '' && slash === '' && !VOID_ELEMENTS.has(element) && !attributes.endsWith('/')
    if (isOpened && (NON_TEXT_ELEMENTS.has(element) || isHidden(attributes))) {
      this.#removed = { name: element, depth: 1 }
      return at + tag.length
    }
    const isMarkup = /[a-z/!?]/i.test(text[at + 1] ?? '')
    this.unescaped += '<'
    this.escaped += isMarkup ? '\\<' : '<'
    return at + 1
  }

  /** Writes the alternative text of a picture, and returns the offset after its tag. */
  #takePicture(text: string, at: number): number {
    const end = text.indexOf('>', at)
    const tag = text.slice(at, end < 0 ? text.length : end)
    const [, , rawAlt = ''] = /\salt\s*=\s*(["'])(.*?)\1/is.exec(tag) ?? []
    const alt = rawAlt.replaceAll('<', '')
    this.#show(alt, cleanText(alt))
    return at + tag.length + (end < 0 ? 0 : 1)
  }

  /** End of the hidden part; the end of the text if the hidden part continues after the text. */
  #endOfHidden(text: string, from: number): number {
    const removed = this.#removed
    if (removed === undefined) return from
    if (removed.name === '') {
      const end = text.indexOf('-->', from)
      if (end < 0) return text.length
      this.#removed = undefined
      return end + 3
    }
    const tags = new RegExp(`<(/?)${removed.name}(?=[\\s/>])[^<>]*>`, 'gi')
    tags.lastIndex = from
    for (let match = tags.exec(text); match !== null; match = tags.exec(text)) {
      removed.depth += match[1] === '/' ? -1 : 1
      if (removed.depth > 0) continue
      this.#removed = undefined
      return tags.lastIndex
    }
    return text.length
  }

  #show(source: string, clean: string): void {
    this.hiddenChars += source.length - clean.length
    this.unescaped += clean
    this.escaped += clean
  }

  #hide(text: string): void {
    this.hiddenChars += text.replace(/(?:-->|<\/[\w-]+\s*>)$/, '').trim().length
  }
}

/** Whether a comment begins at an offset. An unclosed one counts only at the start of a line. */
function isComment(text: string, at: number): boolean {
  return text.includes('-->', at) || isBlank(text.slice(text.lastIndexOf('\n', at) + 1, at))
}

/** Whether the attributes of an element hide it. */
export function isHidden(attributes: string): boolean {
  if (/(?:^|\s)hidden(?=[\s=/]|$)/i.test(attributes)) return true
  const [, double, single] = /\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes) ?? []
  const style = double ?? single
  if (style === undefined) return false
  return Object.values(readVisibility(readDeclarations(style), true)).some(({ isHidden }) => isHidden)
}

/** Where the code spans of a paragraph end. */
export class CodeSpans {
  /** Offsets of runs of backticks by length, last ones first. */
  readonly #runs = new Map<number, number[]>()
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    if (!text.includes('`')) return
    for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
      const offsets = this.#runs.get(run.length)
      if (offsets === undefined) this.#runs.set(run.length, [index])
      else offsets.push(index)
    }
  }

  /** End of the code span that begins at a backtick; the end of the run itself if none does. */
  endOf(at: number): number {
    let end = at
    while (this.#text[end] === '`') end++
    const offsets = this.#runs.get(end - at) ?? []
    while ((offsets.at(-1) ?? end) < end) offsets.pop()
    const close = offsets.pop()
    return close === undefined ? end : close + (end - at)
  }
}
