import { isHtmlSpace } from '../../html/tree.ts'
import { maskDollars } from './dollars.ts'

/*
 * Turns the text of a page into Markdown text. Only characters that would be read as markup get a backslash, so that prose stays readable.
 * Invisible characters are removed, because they hide words from readers and from search.
 */

/**
 * Invisible characters: controls, soft hyphens, zero-width spaces, direction marks, fillers, variation selectors and tags. The selector
 * that gives an emoji its color stays after an emoji.
 */
const INVISIBLE =
  /(?:[[\p{Cc}\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]--[\t\n\f\r]]|(?<![\p{Extended_Pictographic}\d#*])\ufe0f)+/gv
/** Zero-width spaces, at which the author of code allows a line break, and the empty Braille cell of dot pictures. */
const KEPT_IN_CODE = /[\u200b\u2800]/g

/** A fast check that there is nothing to remove: matches all code units that may be invisible. */
const INVISIBLE_HINT =
  /[^\t\n\f\r -~\xa0-\xac\xae-\u02ff\u0370-\u061b\u061d-\u115e\u1161-\u180a\u1810-\u200a\u2010-\u2029\u202f-\u205f\u2070-\u27ff\u2801-\u3163\u3165-\udb3f\udb41-\ufdff\ufe10-\ufefe\uff00-\uff9f\uffa1-\ufff8\ufffc-\uffff]/
const NOT_ASCII = /[^\t\n\f\r -~]/
/** Runs of white space other than a single space. */
const LOOSE_SPACES = /(?: ?[\t\n\f\r\xa0\u2028\u2029]| {2})[ \t\n\f\r\xa0\u2028\u2029]*/g
/** Matches all but letters, digits, single spaces and signs that are never markup within a line. */
const ESCAPE_HINT = /[^ -#%'-)+-;=-Z^a-}]| {2}/

/** Tests for characters beyond ASCII first, because nearly all text has none. */
function hasInvisible(text: string): boolean {
  return NOT_ASCII.test(text) && INVISIBLE_HINT.test(text)
}

/** Whether text needs no escaping. This single test settles most of a page. */
export function isPlain(text: string): boolean {
  return !ESCAPE_HINT.test(text)
}

/** Removes invisible characters. */
export function cleanText(text: string): string {
  return hasInvisible(text) ? text.replace(INVISIBLE, '') : text
}

/** Number of invisible characters that are removed from text or from a code block. */
export function countInvisible(text: string, isCode: boolean): number {
  if (isHtmlSpace(text) || !hasInvisible(text)) return 0
  let count = 0
  for (const [invisible] of text.matchAll(INVISIBLE)) {
    count += [...(isCode ? invisible.replace(KEPT_IN_CODE, '') : invisible)].length
  }
  return count
}

/** Cleans text and collapses every run of white space to one space. */
export function collapseText(text: string): string {
  return cleanText(text).replace(LOOSE_SPACES, ' ')
}

const FOREIGN_LINE_END = /\r\n?|[\f\u2028\u2029]/g

/** Code without invisible characters. Lines end with LF, and no-break spaces in the indentation become spaces. */
export function cleanCode(text: string): string {
  const unix = text.replace(FOREIGN_LINE_END, '\n')
  const visible = hasInvisible(unix)
    ? unix.replace(INVISIBLE, (invisible) => (invisible.match(KEPT_IN_CODE) ?? []).join(''))
    : unix
  if (!visible.includes('\xa0')) return visible
  return visible.replace(/^[ \t\xa0]+/gm, (indent) => indent.replaceAll('\xa0', ' '))
}

const SPECIAL = /[\\`*_~<&[\]]/
const EACH_SPECIAL = /_+|[\\`*~<&[\]]/g
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/
const BEGINS_TAG = /[A-Za-z/!?]/
/** An entity, or text that could become one when more text follows. */
const ENTITY = /&(?:#?[A-Za-z0-9]{1,31})?(?:;|$)|&#$/y

/**
 * Escapes collapsed text that follows the character `before` ('' at the start of a block). The following text is unknown, so the last
 * character is escaped whenever any continuation could make it markup. Brackets in the text of a link are always escaped.
 */
export function escapeText(text: string, before: string, isInLink: boolean): string {
  const lead = leadOf(text, before)
  if (!SPECIAL.test(text)) return lead + maskDollars(text)
  const escaped = text.replace(EACH_SPECIAL, (special, at: number) => {
    const previous = at === 0 ? before : (text[at - 1] ?? '')
    const next = text[at + special.length] ?? ''
    if (!needsEscape(special, previous, next, text, at, isInLink)) return special
    return special.length === 1 ? `\\${special}` : '\\_'.repeat(special.length)
  })
  return maskDollars(lead !== '' && escaped.startsWith('\\') ? escaped : lead + escaped)
}

/** As {@link escapeText}, for text that {@link isPlain}. */
export function escapePlain(text: string, before: string): string {
  return leadOf(text, before) + text
}

function leadOf(text: string, before: string): string {
  return joinsToMarkup(before, text[0] ?? '') ? '\\' : ''
}

/** `](` and `]:` make links, `[^` footnotes and `[!` alerts, even when the two characters come from different elements. */
function joinsToMarkup(before: string, first: string): boolean {
  if (before === ']') return first === '(' || first === ':'
  return before === '[' && (first === '^' || first === '!')
}

/** `special` is one character or a run of underscores. */
function needsEscape(
  special: string,
  previous: string,
  next: string,
  text: string,
  at: number,
  isInLink: boolean,
): boolean {
  switch (special) {
    case '\\':
      return next === '' || ASCII_PUNCTUATION.test(next)
    case '*':
      return !(isBlank(previous) && next === ' ')
    case '~':
      return next === '~' || next === '' || !isBlank(previous)
    case '<':
      return next === '' || BEGINS_TAG.test(next)
    case '&':
      ENTITY.lastIndex = at
      return ENTITY.test(text)
    case '[':
      return isInLink || next === '^' || next === '!'
    case ']':
      return isInLink || next === '(' || next === ':'
    case '`':
      return true
    default:
      // Underscores inside words are literal, and no emphasis ends after a space.
      return !(isWord(previous) && isWord(next)) && !isBlank(previous)
  }
}

function isBlank(character: string): boolean {
  return character === '' || character === ' ' || character === '\n'
}

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u

/** Whether a character belongs to words. A lone surrogate does not count. */
export function isWord(character: string): boolean {
  return WORD_CHARACTER.test(character)
}

/**
 * Text that would begin a block at the start of a line; the digits of an ordered list item are a group, because the backslash goes after
 * them.
 */
const LINE_START = /^(?:#{1,6}(?= |$)|[-+](?= |$)|(?=[-:| ]*$)[:| ]*-|=+ *$|\*(?= |$)|>|_[_ ]*$|(\d{1,9})[.)](?= |$))/
/** Text that could turn the previous line into a heading or a table. */
const UNDERLINE = /^(?:[=:|]|--)/

/** Text that would be read as a link definition. Its closing bracket may be in code, which has no escapes. */
const DEFINITION = /^\[(?:\\.|[^[\]\\])*\]:/s

/** Escapes the beginnings of lines, so that no line of a paragraph begins another block. */
export function escapeLines(text: string): string {
  const lead = text.startsWith('[') && DEFINITION.test(text) ? '\\' : ''
  if (!text.includes('\n')) return lead + escapeLine(text)
  const [first = '', ...others] = text.split('\n')
  return lead + [escapeLine(first), ...others.map(escapeContinuation)].join('\n')
}

function escapeContinuation(line: string): string {
  if (UNDERLINE.test(line)) return `\\${line}`
  // Escapes all underscores: an unescaped one could end emphasis from an earlier line.
  return /^_[_ ]*$/.test(line) ? line.replaceAll('_', '\\_') : escapeLine(line)
}

function escapeLine(line: string): string {
  const match = LINE_START.exec(line)
  if (match === null) return line
  const digits = match[1]?.length ?? 0
  return `${line.slice(0, digits)}\\${line.slice(digits)}`
}

/** Number signs at the end of a heading would be dropped as its closing sequence. */
export function escapeHeading(text: string): string {
  return /(?:^| )#+$/.test(text) ? text.replace(/(?<!#)#+$/, '\\$&') : text
}

/** A backtick string longer than any in the text, and at least `minLength` long. */
export function fenceFor(text: string, minLength: number): string {
  let longest = minLength - 1
  if (text.includes('`')) for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

/** Text as inline code. The text must have no spaces at its ends and no line breaks. */
export function writeCodeSpan(text: string): string {
  if (!text.includes('`')) return `\`${text}\``
  const fence = fenceFor(text, 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return fence + pad + text + pad + fence
}
