import { parseDeclaration } from './large-body.ts'
import { type Statement, splitStatements } from './split-statements.ts'
import type { ParseText, SyntaxNode } from './syntax-tree.ts'

/**
 * The tree of a declaration file whose declarations are parsed when they are first looked into. Code needs a few of them, and parsing
 * takes most of the time of a first check.
 */
export function outlineModule(text: string, parse: ParseText): SyntaxNode {
  const children = new Outline(text, parse).read(0, text.length, 0)
  return { type: 'program', field: null, source: text, start: 0, end: text.length, row: 0, column: 0, children }
}

/** Modifiers, keyword and name of a declaration that has one name. */
const DECLARATION =
  /^(export\s+)?(declare\s+)?(abstract\s+class|class|interface|type|function|const|let|var)\s+(?!enum\b)([\w$]+)/

/** Modifiers and name of a declaration that contains others. */
const BLOCK =
  /^(export\s+)?(declare\s+)?(?:(?:namespace|module)\s+(?=["'\w$])|global\s*(?=\{))(["']?)([^\s"'{}]*)\3\s*\{/

/** Namespaces that are nested deeper are parsed at once, because each level is read again. */
const MAX_DEPTH = 20

/** Types of nodes by keyword. The first is that of a node that has not been parsed. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  class: ['class_declaration', 'abstract_class_declaration'],
  interface: ['interface_declaration'],
  type: ['type_alias_declaration'],
  function: ['function_signature', 'function_declaration'],
  variable: ['variable_declarator'],
}

class Outline {
  readonly #text: string
  readonly #parse: ParseText

  constructor(text: string, parse: ParseText) {
    this.#text = text
    this.#parse = parse
  }

  /** The statements between two places. `row` is the line of the first place, `depth` the number of namespaces around it. */
  read(from: number, to: number, row: number, depth = 0): SyntaxNode[] {
    return splitStatements(this.#text, from, to, row).flatMap((one) => this.#readStatement(one, depth))
  }

  #readStatement(statement: Statement, depth: number): readonly SyntaxNode[] {
    const text = this.#text.slice(statement.start, statement.end)
    const block = depth < MAX_DEPTH ? BLOCK.exec(text) : null
    const found = block ?? DECLARATION.exec(text)
    const [, isExported, isDeclared] = found ?? []
    const field = isExported !== undefined && isDeclared === undefined ? 'declaration' : null
    const inner =
      block === null ? this.#declarationOf(statement, found, field) : this.#blockOf(statement, block, field, depth)
    if (inner === undefined) return this.#parse(text, statement.row)?.children ?? []
    const outer = isExported === undefined ? null : 'declaration'
    const declared =
      isDeclared === undefined ? inner : { ...this.#node(statement, 'ambient_declaration', outer), children: [inner] }
    if (isExported === undefined) return [declared]
    return [{ ...this.#node(statement, 'export_statement', null), children: [declared] }]
  }

  #declarationOf(statement: Statement, found: RegExpExecArray | null, field: string | null): SyntaxNode | undefined {
    const [, , , keyword = '', name = ''] = found ?? []
    const isVariable = /^(?:const|let|var)$/.test(keyword)
    const types = TYPES[isVariable ? 'variable' : keyword.replace(/^abstract\s+/, '')]
    if (types === undefined || (isVariable && statement.hasComma)) return undefined
    if (!isVariable) return new LaterNode(this.#node(statement, '', field), this.#parse, types, name)
    const children = [new LaterNode(this.#node(statement, '', null), this.#parse, types, name)]
    return { ...this.#node(statement, 'lexical_declaration', field), children }
  }

  /** A namespace, `declare module` or `declare global`, with its statements. */
  #blockOf(
    statement: Statement,
    [head, , , quote, name = '']: RegExpExecArray,
    field: string | null,
    depth: number,
  ): SyntaxNode {
    const row = statement.row + countRows(head)
    const to = this.#text.lastIndexOf('}', statement.end - 1)
    const start = statement.start + head.length
    const body = {
      ...this.#node(statement, 'statement_block', null),
      start,
      end: to,
      children: this.read(start, to, row, depth + 1),
    }
    if (name === '') return body
    const at = statement.start + head.lastIndexOf(name)
    const label = {
      ...this.#node(statement, quote === '' ? 'identifier' : 'string', 'name'),
      ...{ start: at, end: at + name.length },
    }
    return { ...this.#node(statement, 'internal_module', field), children: [label, { ...body, field: 'body' }] }
  }

  #node({ start, end, row }: Statement, type: string, field: string | null): SyntaxNode {
    return { type, field, source: this.#text, start, end, row, column: 0, children: [] }
  }
}

function countRows(text: string): number {
  return text.match(/\n/g)?.length ?? 0
}

/** A declaration that is parsed when its children are first asked for. */
class LaterNode implements SyntaxNode {
  readonly type: string
  readonly field: string | null
  readonly source: string
  readonly start: number
  readonly end: number
  readonly row: number
  readonly column: number
  readonly declaredName: string
  readonly #parse: ParseText
  readonly #types: readonly string[]
  #children: readonly SyntaxNode[] | undefined

  constructor(place: SyntaxNode, parse: ParseText, types: readonly string[], name: string) {
    this.type = types[0] ?? ''
    this.field = place.field
    this.source = place.source
    this.start = place.start
    this.end = place.end
    this.row = place.row
    this.column = place.column
    this.declaredName = name
    this.#parse = parse
    this.#types = types
  }

  get children(): readonly SyntaxNode[] {
    this.#children ??= this.#read()
    return this.#children
  }

  #read(): readonly SyntaxNode[] {
    const root = parseDeclaration(this.source.slice(this.start, this.end), this.row, this.#parse)
    const find = (node: SyntaxNode): SyntaxNode | undefined => {
      if (this.#types.includes(node.type)) return node
      return WRAPPERS.test(node.type) ? node.children.map(find).find((one) => one !== undefined) : undefined
    }
    return (root === undefined ? undefined : find(root))?.children ?? []
  }
}

/** Nodes that a declaration can be inside of. */
const WRAPPERS = /^(?:program|export_statement|ambient_declaration|lexical_declaration|variable_declaration|ERROR)$/
