import { escapeHtml } from '../../core/html/escape.ts'
import { writeLink } from '../markup.ts'
import type { RstContext } from './context.ts'
import { unescapeText } from './lines.ts'

/* Output of roles: `:ref:`, `:py:func:`, `:math:`. */

/** Text with an optional target in angle brackets. */
interface Reference {
  readonly words: string
  readonly target: string
  readonly hasWords: boolean
}

function parseReference(text: string): Reference {
  const open = text.lastIndexOf('<')
  if (!text.endsWith('>') || open <= 0) return { words: text, target: text, hasWords: false }
  return { words: text.slice(0, open).trim(), target: text.slice(open + 1, -1).trim(), hasWords: true }
}

type RoleWriter = (text: string, context: RstContext) => string

/** Writes the text of a role; without a role it is a name or a title. */
export function writeRole(role: string, source: string, context: RstContext): string {
  const text = unescapeText(source).replace(/\s+/g, ' ')
  const name = role.toLowerCase()
  const write = ROLE_WRITERS.get(name) ?? ROLE_WRITERS.get(name.slice(name.lastIndexOf(':') + 1))
  if (write !== undefined) return write(text, context)
  if (role === '') return text.includes(' ') ? mark('em', text) : mark('code', text)
  return writeName(text)
}

function mark(element: string, text: string): string {
  return `<${element}>${escapeHtml(text)}</${element}>`
}

const writePlain: RoleWriter = (text) => escapeHtml(text)
const writeWords: RoleWriter = (text) => escapeHtml(parseReference(text).words)

/** A name in code. `~a.b.c` is shown as `c`, `!name` is not linked. */
function writeName(text: string): string {
  const { words, hasWords } = parseReference(text)
  const name = words.replace(/^!/, '')
  const last = !hasWords && name.startsWith('~') ? name.slice(name.lastIndexOf('.') + 1) : name
  return mark('code', last.replace(/^~/, ''))
}

/** A function, shown with parentheses. */
const writeCall: RoleWriter = (text) => {
  const code = writeName(text)
  return parseReference(text).hasWords || code.includes('(') ? code : code.replace('</code>', '()</code>')
}

const writeRef: RoleWriter = (text, context) => {
  const { words, target, hasWords } = parseReference(text)
  const found = context.resolve(target)
  const title = hasWords || found === undefined || found.title === '' ? words : found.title
  return found === undefined ? escapeHtml(title) : writeLink(found.address, escapeHtml(title))
}

/** A link to another document. A path from the project root has no known URL here. */
const writeDoc: RoleWriter = (text) => {
  const { words, target } = parseReference(text)
  if (target.startsWith('/')) return escapeHtml(words)
  return writeLink(/\.\w+$/.test(target) ? target : `${target}.rst`, escapeHtml(words))
}

const writeDownload: RoleWriter = (text) => {
  const { words, target } = parseReference(text)
  return target.startsWith('/') ? mark('code', words) : writeLink(target, escapeHtml(words))
}

function writeNumbered(title: string, address: (number: string) => string): RoleWriter {
  return (text) => {
    const { words, target, hasWords } = parseReference(text)
    const [number = '', section = ''] = target.split('#', 2)
    if (!/^\d{1,6}$/.test(number)) return escapeHtml(words)
    const fragment = section === '' ? '' : `#${section}`
    return writeLink(`${address(number)}${fragment}`, escapeHtml(hasWords ? words : `${title} ${number}`))
  }
}

const ROLE_WRITERS: ReadonlyMap<string, RoleWriter> = new Map<string, RoleWriter>([
  ['func', writeCall],
  ['meth', writeCall],
  ['function', writeCall],
  ['ref', writeRef],
  ['numref', writeRef],
  ['std:ref', writeRef],
  ['doc', writeDoc],
  ['download', writeDownload],
  ['pep', writeNumbered('PEP', (number) => `https://peps.python.org/pep-${number.padStart(4, '0')}/`)],
  ['rfc', writeNumbered('RFC', (number) => `https://datatracker.ietf.org/doc/html/rfc${number}.html`)],
  ['math', (text) => `<span class="math">\\(${escapeHtml(text)}\\)</span>`],
  ['sub', (text) => mark('sub', text)],
  ['subscript', (text) => mark('sub', text)],
  ['sup', (text) => mark('sup', text)],
  ['superscript', (text) => mark('sup', text)],
  ['emphasis', (text) => mark('em', text)],
  ['dfn', (text) => mark('em', text)],
  ['title-reference', (text) => mark('em', text)],
  ['title', (text) => mark('em', text)],
  ['t', (text) => mark('em', text)],
  ['strong', (text) => mark('strong', text)],
  ['command', (text) => mark('strong', text)],
  ['program', (text) => mark('strong', text)],
  ['guilabel', (text) => mark('strong', text.replaceAll('&', ''))],
  ['menuselection', (text) => mark('strong', text.replaceAll('-->', '→').replaceAll('&', ''))],
  ['file', (text) => mark('code', text.replace(/[{}]/g, ''))],
  ['samp', (text) => mark('code', text.replace(/[{}]/g, ''))],
  ['term', writeWords],
  ['abbr', writePlain],
  ['eq', writePlain],
  ['index', writeWords],
  ['raw-html', () => ''],
])
