import { isBlank, trimBlank } from '../../core/text/lines.ts'
import { parseCsv } from '../csv.ts'
import { dedent, indentOf } from '../indent.ts'
import { type Block, type Blocks, createCode, type TableCell } from './blocks.ts'
import type { BlockParser } from './parse.ts'

/** A parsed directive: `.. name:: argument`, `:option: value`, and the indented content. */
export interface Directive {
  readonly name: string
  readonly argument: readonly string[]
  readonly options: ReadonlyMap<string, string>
  readonly content: readonly string[]
}

const OPTION = /^:([\w-]{1,60}):(?:\s+(.*))?$/

/** Parses a directive. `body` is the indented text below its first line. */
export function parseDirective(name: string, first: string, body: readonly string[]): Directive {
  const argument = first === '' ? [] : [first]
  const options = new Map<string, string>()
  let at = 0
  for (; at < body.length && !isBlank(body[at] ?? '') && !OPTION.test(body[at] ?? ''); at++)
    argument.push(body[at] ?? '')
  let last = ''
  for (; at < body.length && !isBlank(body[at] ?? ''); at++) {
    const line = body[at] ?? ''
    const [, option, value = ''] = OPTION.exec(line) ?? []
    if (option !== undefined) options.set(option, value)
    else if (indentOf(line) > 0) options.set(last, `${options.get(last) ?? ''} ${line.trim()}`.trim())
    else break
    last = option ?? last
  }
  return { name: name.toLowerCase(), argument, options, content: trimBlank(body.slice(at)) }
}

type DirectiveReader = (parser: BlockParser, directive: Directive) => Blocks

/** Converts a directive to blocks. */
export function readDirective(parser: BlockParser, directive: Directive): Blocks {
  const { name } = directive
  const kind = name.slice(name.lastIndexOf(':') + 1)
  const read = DIRECTIVE_READERS.get(name) ?? DIRECTIVE_READERS.get(kind)
  if (read !== undefined) return read(parser, directive)
  return OBJECT_KINDS.has(kind) || name.includes(':') ? readObject(parser, directive) : readUnknown(parser, directive)
}

/** The whole text of a directive that takes no argument: text on its first line belongs to the content too. */
function bodyOf({ argument, content }: Directive): readonly string[] {
  if (argument.length === 0) return content
  return content.length === 0 ? argument : [...argument, '', ...content]
}

function lineOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

const drop: DirectiveReader = () => []
const readBody: DirectiveReader = (parser, directive) => parser.parseNested(bodyOf(directive))
/** The argument says when, where or how the content is shown, so only the content is read. */
const readContent: DirectiveReader = (parser, { content }) => parser.parseNested(content)

/** A directive of an unknown extension: its content is usually text. */
const readUnknown: DirectiveReader = (parser, directive) => {
  if (directive.content.length > 0) return parser.parseNested(directive.content)
  return parser.parseNested(directive.argument)
}

/** A title in bold, then the content. */
const readTitled: DirectiveReader = (parser, { argument, content, options }) => [
  { type: 'titled', title: lineOf(argument) || (options.get('title') ?? ''), blocks: parser.parseNested(content) },
]

function readAdmonition(kind: string, title: string): DirectiveReader {
  return (parser, directive) => [{ type: 'box', kind, title, blocks: parser.parseNested(bodyOf(directive)) }]
}

const readTitledAdmonition: DirectiveReader = (parser, { argument, content, options }) => [
  {
    type: 'box',
    kind: /^[\w-]+$/.exec(options.get('class') ?? '')?.[0] ?? 'note',
    title: lineOf(argument),
    blocks: parser.parseNested(content),
  },
]

const VERSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    versionadded: 'New in version',
    'version-added': 'New in version',
    versionchanged: 'Changed in version',
    'version-changed': 'Changed in version',
    versionremoved: 'Removed in version',
    'version-removed': 'Removed in version',
    deprecated: 'Deprecated since version',
    'version-deprecated': 'Deprecated since version',
  }),
)

const readVersion: DirectiveReader = (parser, { name, argument, content }) => {
  const [first = '', ...rest] = argument
  const [, version = first, text = ''] = /^(\S+)\s+(.*)$/.exec(first) ?? []
  const versionText = `*${VERSIONS.get(name) ?? name} ${version}*`
  const blocks = parser.parseNested([text, ...rest, '', ...content])
  const [head, ...others] = blocks
  const all: Blocks =
    head?.type === 'paragraph'
      ? [{ type: 'paragraph', text: `${versionText}: ${head.text}` }, ...others]
      : [{ type: 'paragraph', text: `${versionText}.` }, ...blocks]
  return name.includes('deprecated') ? [{ type: 'box', kind: 'deprecated', title: 'Deprecated', blocks: all }] : all
}

const readCode: DirectiveReader = (parser, { argument, content, options }) => {
  const language = argument[0]?.trim() ?? options.get('language') ?? parser.context.language
  return [createCode(dedent(content), language, options.get('caption') ?? '')]
}

/** A code block whose language follows from the name of the directive. */
function readCodeIn(language: string): DirectiveReader {
  return (_, directive) => [createCode(dedent(bodyOf(directive)), language)]
}

const readParsed: DirectiveReader = (_, directive) => [{ type: 'parsed', text: bodyOf(directive).join('\n') }]

const readHighlight: DirectiveReader = ({ context }, { argument }) => {
  context.language = argument[0]?.trim() ?? ''
  return []
}

/** An included file is only named, because it is a file of its own. */
const readFile: DirectiveReader = (_, { argument, options }) => {
  const file = lineOf(argument)
  const caption = options.get('caption') ?? ''
  return file === '' ? [] : [{ type: 'paragraph', text: `${caption === '' ? 'File' : `${caption}:`} ${literal(file)}` }]
}

function literal(text: string): string {
  return `\`\`${text}\`\``
}

const readAvailability: DirectiveReader = (parser, { argument, content }) =>
  parser.parseNested([`*Availability*: ${lineOf(argument)}`, '', ...content])

/** An audit event of Python: its name and its arguments. */
const readAuditEvent: DirectiveReader = (parser, { argument, content }) => {
  if (content.length > 0) return parser.parseNested(content)
  const [name = '', argumentList = ''] = lineOf(argument).split(/\s+/)
  const values = argumentList.split(',').filter((value) => value !== '')
  const argumentText = values.length === 0 ? 'no arguments' : `arguments ${values.map(literal).join(', ')}`
  return parser.parseNested([`Raises an auditing event ${literal(name)} with ${argumentText}.`])
}

const readFormula: DirectiveReader = (_, directive) => [{ type: 'formula', tex: bodyOf(directive).join('\n').trim() }]

const readPicture: DirectiveReader = (parser, { argument, options, content }) => [
  {
    type: 'picture',
    address: argument.map((part) => part.trim()).join(''),
    altText: options.get('alt') ?? '',
    blocks: parser.parseNested(content),
  },
]

const readModule: DirectiveReader = ({ context }, { argument }) => {
  const name = lineOf(argument)
  context.module = name === 'None' ? '' : name
  return []
}

/** A table in any syntax, below its title. */
const readTable: DirectiveReader = (parser, { argument, content }) => {
  const caption = lineOf(argument)
  return parser.parseNested(content).map((block): Block => (block.type === 'table' ? { ...block, caption } : block))
}

const readListTable: DirectiveReader = (parser, { argument, content, options }) => {
  const [list] = parser.parseNested(content)
  if (list?.type !== 'list') return parser.parseNested(content)
  const rows = list.items.map(([row]) => (row?.type === 'list' ? row.items.map(createCell) : []))
  const headerRows = Number(options.get('header-rows') ?? 0) || 0
  return [{ type: 'table', table: { rows, headerRows }, caption: lineOf(argument) }]
}

function createCell(blocks: Blocks): TableCell {
  return { blocks, columns: 1, rows: 1 }
}

const readCsvTable: DirectiveReader = (parser, { argument, content, options }) => {
  const caption = lineOf(argument)
  const file = options.get('file') ?? options.get('url')
  if (file !== undefined) return [{ type: 'paragraph', text: `${caption} ${literal(file)}`.trim() }]
  const delimiter = options.get('delim') ?? ','
  const isTab = delimiter === 'tab' || delimiter === '\\t'
  const separator = isTab ? '\t' : delimiter === 'space' ? ' ' : delimiter.charAt(0)
  // A space may follow every separator, also before a quotation mark.
  const plain = (text: string) => text.replaceAll(`${separator} "`, `${separator}"`)
  const read = (text: string) =>
    parseCsv(plain(text), separator).rows.map((row) =>
      row.map((cell) => createCell(parser.parseNested(dedent(cell.split('\n'))))),
    )
  const header = read(options.get('header') ?? '')
  const headerRows = header.length + (Number(options.get('header-rows') ?? 0) || 0)
  return [{ type: 'table', table: { rows: [...header, ...read(content.join('\n'))], headerRows }, caption }]
}

/** Text before the name of an object. */
const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    class: 'class',
    exception: 'exception',
    classmethod: 'classmethod',
    staticmethod: 'static',
    property: 'property',
    abstractmethod: 'abstract',
    coroutinefunction: 'coroutine',
    coroutinemethod: 'coroutine',
    awaitablefunction: 'awaitable',
    awaitablemethod: 'awaitable',
    struct: 'struct',
    union: 'union',
    enum: 'enum',
  }),
)

/** Python objects that get the name of the current module as a prefix when they are at the top level of the document. */
const IN_MODULES = new Set('function class exception data decorator coroutinefunction awaitablefunction'.split(' '))

/** A described object: its signatures and its description. */
function readObject(parser: BlockParser, directive: Directive): Blocks {
  const { name, argument, content } = directive
  const kind = name.slice(name.lastIndexOf(':') + 1)
  const isPython = name === kind || name.startsWith('py:')
  const { module } = parser.context
  const prefix = PREFIXES.get(kind) === undefined ? '' : `${PREFIXES.get(kind)} `
  const path = isPython && IN_MODULES.has(kind) && module !== '' && parser.isTop ? `${module}.` : ''
  const signatures = joinContinued(argument).map((text) => {
    const signature = text.startsWith(prefix) ? text.slice(prefix.length) : text
    const sign = kind === 'decorator' || kind === 'decoratormethod' ? '@' : ''
    return `${prefix}${sign}${signature.startsWith(path) ? '' : path}${signature}`
  })
  return [{ type: 'object', signatures, blocks: parser.parseNested(content) }]
}

/**
 * A Python class. A directive without content whose argument can only be style classes styles the next block, and produces nothing itself.
 */
const readClass: DirectiveReader = (parser, directive) => {
  const isStyle = /^[a-z][a-z-]*(?: [a-z][a-z-]*)*$/.test(lineOf(directive.argument)) && directive.content.length === 0
  return isStyle ? [] : readObject(parser, directive)
}

/** Every line is a signature, except continuations after a backslash. */
function joinContinued(lines: readonly string[]): string[] {
  const joined: string[] = []
  let isOpen = false
  for (const line of lines) {
    const text = line.trim()
    const plain = text.endsWith('\\') ? text.slice(0, -1).trimEnd() : text
    if (isOpen) joined.push(`${joined.pop() ?? ''} ${plain}`)
    else joined.push(plain)
    isOpen = text.endsWith('\\')
  }
  return joined
}

const OBJECT_KINDS = new Set(
  `function class method attribute data exception classmethod staticmethod decorator decoratormethod property
  abstractmethod coroutinefunction coroutinemethod awaitablefunction awaitablemethod macro type struct union enum enumerator member var option cmdoption envvar describe object confval
  setting opcode pdbcommand 2to3fixer command variable prop_tgt prop_dir prop_gbl prop_sf prop_test prop_inst
  prop_cache genex policy autofunction autoclass automethod autodata autoattribute autoexception autoproperty
  autodecorator automodule bash-function directive role signal template-filter templatetag fieldlookup
  django-admin django-admin-option click argparse kernel-doc`.split(/\s+/),
)

const IGNORED_DIRECTIVES =
  `toctree contents sectnum section-numbering index tabularcolumns default-domain meta raw role default-role
  sectionauthor moduleauthor codeauthor program testsetup testcleanup target-notes header footer restructuredtext-test-directive
  title date rst-class cssclass highlightlang autosummary currentclass namespace namespace-push namespace-pop acks-only
  bibliography idx spelling no-search local-contents minigallery`.split(/\s+/)

const DIRECTIVE_READERS: ReadonlyMap<string, DirectiveReader> = new Map<string, DirectiveReader>([
  ...each(IGNORED_DIRECTIVES, drop),
  ...each(
    'container compound epigraph highlights pull-quote glossary hlist acks impl-detail cssclass'.split(' '),
    readBody,
  ),
  ...each('only ifconfig grid tab-set tabs code-group cond tags'.split(' '), readContent),
  ...each(
    'topic sidebar rubric centered tab tab-item group-tab dropdown card grid-item-card grid-item details cardinfo'.split(
      ' ',
    ),
    readTitled,
  ),
  ...each('code code-block sourcecode code-tab cell ipython jupyter-execute exec-code'.split(' '), readCode),
  ...each('highlight highlightlang'.split(' '), readHighlight),
  ...each('literalinclude include program-output command-output plot image-sg'.split(' '), readFile),
  ...each('doctest'.split(' '), readCodeIn('pycon')),
  ...each('testcode'.split(' '), readCodeIn('python')),
  ...each('testoutput productionlist prompt uml ditaa'.split(' '), readCodeIn('')),
  ...each('graphviz digraph graph'.split(' '), readCodeIn('dot')),
  ['mermaid', readCodeIn('mermaid')],
  ['availability', readAvailability],
  ['audit-event', readAuditEvent],
  ['parsed-literal', readParsed],
  ['math', readFormula],
  ...each('image figure video thumbnail'.split(' '), readPicture),
  ...each('module currentmodule'.split(' '), readModule),
  ['class', readClass],
  ['table', readTable],
  ['list-table', readListTable],
  ...each('csv-table flat-table-csv'.split(' '), readCsvTable),
  ['flat-table', readListTable],
  ...each([...VERSIONS.keys()], readVersion),
  ['admonition', readTitledAdmonition],
  ...Object.entries({
    note: 'Note',
    tip: 'Tip',
    hint: 'Hint',
    important: 'Important',
    warning: 'Warning',
    caution: 'Caution',
    danger: 'Danger',
    attention: 'Attention',
    error: 'Error',
    seealso: 'See also',
    todo: 'To do',
  }).map(([kind, title]): [string, DirectiveReader] => [kind, readAdmonition(kind, title)]),
])

function* each(names: readonly string[], read: DirectiveReader): Generator<[string, DirectiveReader], void, void> {
  for (const name of names) yield [name, read]
}
