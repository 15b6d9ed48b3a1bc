import { isHtmlSpace } from '../../html/tree.ts'
import { collapseText, escapeLines, escapePlain, escapeText, isPlain, isWord, writeCodeSpan } from './escape.ts'

/** Markup around a run of text. It is written when text follows, so that it is never empty. */
export interface Mark {
  readonly opener: string
  /** Index of the opener among the parts of the run; -1 until it is written. */
  openerIndex: number
  /** Index of the closer; -1 until it is written. */
  closerIndex: number
  /** The last character inside the mark. */
  lastInside: string
}

/** Marks that count as emphasis only next to words and spaces. */
const EMPHASIS = new Set(['**', '*', '~~'])

/**
 * A run of text that grows by the content of elements. White space becomes one space between words and is never just inside emphasis;
 * emphasis that Markdown cannot express at its place is left out.
 */
export class InlineRun {
  readonly #hasBreaks: boolean
  readonly #paragraphs: string[] = []
  readonly #parts: string[] = []
  /** The last character written; '' at the start of a paragraph. */
  #last = ''
  #isSpaceDue = false
  #breaksDue = 0
  /** Open marks that are not written yet. */
  #pending: Mark[] = []
  #openCount = 0
  #linkCount = 0
  /** The mark that was closed last, while nothing follows it. */
  #closed: Mark | undefined
  /** Inline code that is not written yet, because more may follow without a space. */
  readonly #code: string[] = []

  /** Without breaks, line breaks become spaces: for headings and cells. */
  constructor(hasBreaks: boolean) {
    this.#hasBreaks = hasBreaks
  }

  get isEmpty(): boolean {
    return this.#last === '' && this.#paragraphs.length === 0
  }

  /** Resets the run for reuse, because a page has thousands of runs. */
  reset(): void {
    this.#paragraphs.length = 0
    this.#parts.length = 0
    this.#pending.length = 0
    this.#code.length = 0
    this.#last = ''
    this.#closed = undefined
    this.#isSpaceDue = false
    this.#breaksDue = 0
    this.#openCount = 0
    this.#linkCount = 0
  }

  /** Whether nothing has been added yet, not even a pending mark or space. */
  get isUnused(): boolean {
    const hasNoText = this.isEmpty && !this.#isSpaceDue && this.#breaksDue === 0 && this.#code.length === 0
    return hasNoText && this.#openCount === 0 && this.#linkCount === 0 && this.#pending.length === 0
  }

  get hasBreaks(): boolean {
    return this.#hasBreaks
  }

  /** The last character written; a space when one is pending. */
  get last(): string {
    return this.#isSpaceDue || this.#breaksDue > 0 ? ' ' : this.#last
  }

  get isInLink(): boolean {
    return this.#linkCount > 0
  }

  /** Adds text from the source. */
  addText(source: string): void {
    if (isHtmlSpace(source)) {
      this.#isSpaceDue ||= source !== ''
      return
    }
    const isPlainText = isPlain(source)
    let text = isPlainText ? source : collapseText(source)
    if (text.startsWith(' ')) {
      this.#isSpaceDue = true
      text = text.slice(1)
    }
    if (text === '') return
    const endsWithSpace = text.endsWith(' ')
    if (endsWithSpace) text = text.slice(0, -1)
    this.#lead(text)
    this.#parts.push(isPlainText ? escapePlain(text, this.#last) : escapeText(text, this.#last, this.#linkCount > 0))
    this.#last = text.slice(-1)
    this.#isSpaceDue = endsWithSpace
  }

  /** Adds something that is Markdown already. */
  addMarkdown(markdown: string): void {
    if (markdown === '') return
    this.#lead(markdown)
    this.#escapeExclamation(markdown)
    this.#parts.push(markdown)
    this.#last = markdown.slice(-1)
  }

  /** Adds inline code. */
  addCode(source: string): void {
    const text = isPlain(source) ? source : collapseText(source)
    const trimmed = text.trim()
    if (text.startsWith(' ')) this.#isSpaceDue = true
    if (trimmed === '') return
    const isContinued =
      this.#code.length > 0 && !this.#isSpaceDue && this.#breaksDue === 0 && this.#pending.length === 0
    if (!isContinued) {
      this.#lead('`')
      this.#last = '`'
    }
    this.#code.push(trimmed)
    if (text.endsWith(' ')) this.#isSpaceDue = true
  }

  addBreak(): void {
    if (this.#hasBreaks) this.#breaksDue++
    else this.#isSpaceDue = true
  }

  addSpace(): void {
    this.#isSpaceDue = true
  }

  open(opener: string): Mark {
    const mark: Mark = { opener, openerIndex: -1, closerIndex: -1, lastInside: '' }
    this.#pending.push(mark)
    this.#openCount++
    if (opener === '[') this.#linkCount++
    return mark
  }

  /** Closes the mark that was opened last. */
  close(mark: Mark, closer: string = mark.opener): void {
    this.#openCount--
    if (mark.opener === '[') this.#linkCount--
    if (this.#pending.at(-1) === mark) {
      this.#pending.pop()
      return
    }
    if (mark.openerIndex === -1) return
    this.#writeCode()
    mark.lastInside = this.#last
    mark.closerIndex = this.#parts.push(closer) - 1
    this.#last = closer.slice(-1)
    this.#closed = mark
  }

  /** The paragraphs, escaped for a position where blocks may begin. */
  finish(): string[] {
    this.#endParagraph()
    return this.#paragraphs.map(escapeLines)
  }

  /** The whole run on one line, for a position where no block can begin. */
  finishLine(): string {
    this.#endParagraph()
    return this.#paragraphs.join(' ')
  }

  #endParagraph(): void {
    this.#writeCode()
    const text = this.#parts.join('')
    if (text !== '') this.#paragraphs.push(text)
    this.#parts.length = 0
    this.#last = ''
    this.#closed = undefined
    this.#isSpaceDue = false
    this.#breaksDue = 0
  }

  /** Writes everything that is due before `next`. */
  #lead(next: string): void {
    this.#writeCode()
    if (this.#last !== '') {
      if (this.#breaksDue > 1 && this.#openCount === 0) this.#endParagraph()
      else if (this.#breaksDue > 0) this.#put('  \n')
      else if (this.#isSpaceDue) this.#put(' ')
    }
    this.#isSpaceDue = false
    this.#breaksDue = 0
    if (this.#closed !== undefined) this.#eraseIfUnclosable(this.#closed, next)
    if (this.#pending.length > 0) this.#writePending(next)
    this.#closed = undefined
  }

  #put(part: string): void {
    this.#parts.push(part)
    this.#last = part.slice(-1)
    this.#closed = undefined
  }

  /** Erases emphasis that ends with punctuation right before a word, where Markdown cannot close it. */
  #eraseIfUnclosable(mark: Mark, next: string): void {
    if (!EMPHASIS.has(mark.opener) || this.#pending.length > 0) return
    if (isWord(mark.lastInside) || isSpaceOrPunctuation(next[0] ?? '')) return
    this.#erase(mark)
  }

  #erase(mark: Mark): void {
    this.#parts[mark.openerIndex] = ''
    this.#parts[mark.closerIndex] = ''
    this.#last = mark.lastInside
    this.#closed = undefined
  }

  #writePending(next: string): void {
    const pending = this.#pending
    this.#pending = []
    for (let i = 0; i < pending.length; i++) {
      const mark = pending[i]
      if (mark === undefined) continue
      const following = pending[i + 1]?.opener ?? next
      if (EMPHASIS.has(mark.opener) && !this.#canOpen(mark, following[0] ?? '')) continue
      if (mark.openerIndex !== -1) continue
      if (mark.opener === '[') this.#escapeExclamation('[')
      mark.openerIndex = this.#parts.push(mark.opener) - 1
      this.#last = mark.opener.slice(-1)
      this.#closed = undefined
    }
  }

  /** Whether emphasis can begin here. Emphasis that was closed directly before is merged with the mark, or erased if necessary. */
  #canOpen(mark: Mark, next: string): boolean {
    const closed = this.#closed
    if (closed !== undefined && EMPHASIS.has(closed.opener)) {
      if (closed.opener !== mark.opener) {
        if (!isWord(closed.lastInside) && isWord(next)) this.#erase(closed)
        return false
      }
      // Two runs of the same emphasis without a space between them are merged.
      this.#parts[closed.closerIndex] = ''
      mark.openerIndex = closed.openerIndex
      this.#last = closed.lastInside
      this.#closed = undefined
      return true
    }
    return isWord(next) || isSpaceOrPunctuation(this.#last)
  }

  #writeCode(): void {
    if (this.#code.length === 0) return
    this.#parts.push(writeCodeSpan(this.#code.join('')))
    this.#code.length = 0
  }

  /** An exclamation mark directly before a link would make it an image. */
  #escapeExclamation(next: string): void {
    if (this.#last !== '!' || !next.startsWith('[')) return
    const part = this.#parts.pop() ?? ''
    const backslashCount = (/(?<!\\)\\*!$/.exec(part)?.[0].length ?? 1) - 1
    this.#parts.push(backslashCount % 2 === 1 ? part : `${part.slice(0, -1)}\\!`)
  }
}

const SPACE_OR_PUNCTUATION = /^(?:$|[\s!-/:-@[-`{-~]|\p{P})/u

/** Whether a character allows emphasis beside it even if the text inside the emphasis begins or ends with punctuation. */
function isSpaceOrPunctuation(character: string): boolean {
  return SPACE_OR_PUNCTUATION.test(character)
}
