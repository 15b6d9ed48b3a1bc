import { splitStatements } from './split-statements.ts'
import { field, type ParseText, type SyntaxNode, textOf } from './syntax-tree.ts'

/** Bodies with more characters than this are split into members before they are parsed. */
const MIN_CHARS = 30_000

/** Modifier and name of a method or property. */
const MEMBER = /^(?:readonly\s+)?([\w$]+)\??\s*([(<:])/

/** The bracket that opens a body, not one of a small type such as the default of a type parameter: `<T = { a: 1 }>`. */
const BODY = /\{(?![^{}]{0,300}\}\s*[>,=&|])/

/**
 * Parses a declaration. The members of a large interface or object type are parsed when they are looked into: clients of databases have
 * thousands in one type.
 */
export function parseDeclaration(text: string, row: number, parse: ParseText): SyntaxNode | undefined {
  const open = text.length < MIN_CHARS ? -1 : text.search(BODY)
  const close = text.lastIndexOf('}')
  if (close - open < MIN_CHARS || open < 0) return parse(text, row)
  const members = readMembers(text, open + 1, close, row, parse)
  const root = members === undefined ? undefined : parse(`${text.slice(0, open)}{}${text.slice(close + 1)}`, row)
  const whole = root === undefined || members === undefined ? undefined : fillBody(root, open, members)
  return whole ?? parse(text, row)
}

/** The members of a body; undefined if they are not separated in a way that is certain. */
function readMembers(text: string, from: number, to: number, row: number, parse: ParseText): SyntaxNode[] | undefined {
  const firstRow = row + countRows(text.slice(0, from))
  const members: SyntaxNode[] = []
  for (const one of splitStatements(text, from, to, firstRow, true)) {
    const source = text.slice(one.start, one.end)
    const [, name, sign] = MEMBER.exec(source) ?? []
    if (one.hasComma || one.hasBreak) return undefined
    if (name === undefined) members.push(...(parseMember(source, one.row, parse)?.children ?? []))
    else
      members.push(
        new LaterMember(source, one.row, sign === ':' ? 'property_signature' : 'method_signature', name, parse),
      )
  }
  return members
}

/** Parses one member inside of an interface; returns the body. */
function parseMember(source: string, row: number, parse: ParseText): SyntaxNode | undefined {
  const root = parse(`interface A {${source}}`, row)
  const declaration = root?.children[0]
  return declaration === undefined ? undefined : field(declaration, 'body')
}

/** Puts members into the empty body that begins at a place. */
function fillBody(node: SyntaxNode, at: number, members: readonly SyntaxNode[]): SyntaxNode | undefined {
  if (node.start === at && /^(?:interface_body|object_type)$/.test(node.type)) return { ...node, children: members }
  const index = node.children.findIndex(({ start, end }) => start <= at && at < end)
  const inner = node.children[index]
  const filled = inner === undefined ? undefined : fillBody(inner, at, members)
  return filled === undefined ? undefined : { ...node, children: node.children.with(index, filled) }
}

function countRows(text: string): number {
  return text.match(/\n/g)?.length ?? 0
}

/** A method or property that is parsed when its children are first asked for. */
class LaterMember implements SyntaxNode {
  readonly type: string
  readonly field = null
  readonly source: string
  readonly start = 0
  readonly end: number
  readonly row: number
  readonly column = 0
  readonly declaredName: string
  readonly #parse: ParseText
  #children: readonly SyntaxNode[] | undefined

  constructor(source: string, row: number, type: string, name: string, parse: ParseText) {
    this.source = source
    this.end = source.length
    this.row = row
    this.type = type
    this.declaredName = name
    this.#parse = parse
  }

  get children(): readonly SyntaxNode[] {
    const body = this.#children === undefined ? parseMember(textOf(this), this.row, this.#parse) : undefined
    this.#children ??= body?.children.find(({ type }) => type === this.type)?.children ?? []
    return this.#children
  }
}
