import { isBlank } from '../../core/text/lines.ts'
import { dedent } from '../indent.ts'
import type { Block, Blocks } from './blocks.ts'
import { keyOf } from './context.ts'
import { type Directive, parseDirective, readDirective } from './directives.ts'
import { endOfIndented } from './lines.ts'
import type { BlockParser, ParsedBlocks } from './parse.ts'

/* Explicit markup, which starts with two dots: footnotes, targets, substitutions, directives, comments. */

const NOTE = /^\[(#|#?[\w.:+-]{1,80}|\*)\](?: +|$)/
const TARGET = /^_(?:`([^`]{1,500})`|((?![ _])(?:[^:\\]|\\.|:(?! |$)){1,500})):(?: +(.*))?$/
const SUBSTITUTION = /^\|([^|]{1,500})\| +([\w-]{1,60})::(?: +(.*))?$/
const DIRECTIVE = /^((?!_)[\w.+:-]{1,100}?) ?::(?: +(.*))?$/

/** Parses explicit markup; undefined when the line starts none. */
export function parseExplicit(parser: BlockParser, at: number): ParsedBlocks | undefined {
  const line = parser.line(at)
  if (line.startsWith('__ ')) {
    parser.context.anonymous.push(line.slice(3).trim())
    return { blocks: [], end: at + 1 }
  }
  if (line !== '..' && !line.startsWith('.. ')) return undefined
  // Two dots alone end the block above them, and comment out nothing.
  if (line === '..' && isBlank(parser.line(at + 1))) return { blocks: [], end: at + 1 }
  const end = endOfIndented(parser.lines, at + 1, 1)
  const body = dedent(parser.lines.slice(at + 1, end))
  return { blocks: readConstruct(parser, line.slice(2).trim(), body), end }
}

function readConstruct(parser: BlockParser, first: string, body: readonly string[]): Blocks {
  const [marker, label = ''] = NOTE.exec(first) ?? []
  if (marker !== undefined) return [readNote(parser, label, [first.slice(marker.length), ...body])]
  if (first.startsWith('__:')) {
    parser.context.anonymous.push(joinAddress([first.slice(3), ...body]))
    return []
  }
  const target = TARGET.exec(first)
  if (target !== null) return readTarget(parser, target[1] ?? target[2] ?? '', [target[3] ?? '', ...body])
  const [, name, directive = '', text = ''] = SUBSTITUTION.exec(first) ?? []
  if (name !== undefined) {
    parser.context.substitutions.set(keyOf(name), substituteText(parseDirective(directive, text, body)))
    return []
  }
  const [, kind, argument = ''] = DIRECTIVE.exec(first) ?? []
  return kind === undefined ? [] : readDirective(parser, parseDirective(kind, argument, body))
}

function readNote(parser: BlockParser, label: string, lines: readonly string[]): Block {
  const { context } = parser
  const name = context.labelOf(label)
  context.notes.add(keyOf(name))
  return { type: 'note', label: name, blocks: parser.parseNested(lines) }
}

function readTarget({ context }: BlockParser, name: string, lines: readonly string[]): Blocks {
  const address = joinAddress(lines)
  const plain = name.replace(/\\(.)/g, '$1')
  if (address === '') return [{ type: 'target', name: plain }]
  context.define(plain, { address, title: '' })
  return []
}

/** A URL may span several lines. A name that ends in `_` refers to another target. */
function joinAddress(lines: readonly string[]): string {
  const address = lines.map((line) => line.trim()).join('')
  return address.endsWith('\\_') ? `${address.slice(0, -2)}_` : address
}

/** The replacement text of a substitution. */
function substituteText({ name, argument, options, content }: Directive): string {
  switch (name) {
    case 'replace':
      return [...argument, ...content].join('\n')
    case 'image':
      return options.get('alt') ?? ''
    case 'unicode':
      return argument.join(' ').split(/\s+/).map(characterOf).join('')
    default:
      return ''
  }
}

function characterOf(word: string): string {
  const [, code] = /^(?:U\+|0x|\\?x|\\?u)([\da-f]{2,6})$/i.exec(word) ?? []
  const number = code === undefined ? 0 : Number.parseInt(code, 16)
  return number > 0 && number <= 0x10_ff_ff ? String.fromCodePoint(number) : word
}
