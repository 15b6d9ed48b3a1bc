import type { Node } from 'web-tree-sitter'

/** A node of a parsed text. It stays valid after the parser has freed its own tree. */
export interface SyntaxNode {
  readonly type: string
  /** Name of the field of the parent that holds it. */
  readonly field: string | null
  readonly source: string
  readonly start: number
  readonly end: number
  /** Line, from 0. */
  readonly row: number
  /** Column, from 0. */
  readonly column: number
  /** All children, with keywords and signs, without comments. */
  readonly children: readonly SyntaxNode[]
  /** The name that it declares, if that is known before its children are parsed. */
  readonly declaredName?: string
}

/** Parses text; undefined if it cannot be parsed. `row` is the line at which the text begins, from 0. */
export type ParseText = (text: string, row?: number) => SyntaxNode | undefined

/** Nodes nested deeper than this are left out, so that every later recursion ends. */
const MAX_DEPTH = 400

/** Copies the tree of a parser. `firstRow` is the line at which the source begins, from 0. */
export function copyTree(root: Node, source: string, firstRow = 0): SyntaxNode {
  const cursor = root.walk()
  const copy = (depth: number): SyntaxNode => {
    const { row, column } = cursor.startPosition
    const children: SyntaxNode[] = []
    const node = {
      ...{ type: cursor.nodeType, field: cursor.currentFieldName, source, row: firstRow + row, column, children },
      ...{ start: cursor.startIndex, end: cursor.endIndex },
    }
    if (depth < MAX_DEPTH && cursor.gotoFirstChild()) {
      do {
        if (cursor.nodeType !== 'comment') children.push(copy(depth + 1))
      } while (cursor.gotoNextSibling())
      cursor.gotoParent()
    }
    return node
  }
  const tree = copy(0)
  cursor.delete()
  return tree
}

/** The source of a node. */
export function textOf(node: SyntaxNode): string {
  return node.source.slice(node.start, node.end)
}

/** The child in a field. */
export function field(node: SyntaxNode, name: string): SyntaxNode | undefined {
  return node.children.find((child) => child.field === name)
}

/** All children in a field. */
export function fields(node: SyntaxNode, name: string): SyntaxNode[] {
  return node.children.filter((child) => child.field === name)
}

/** The first child of a type. */
export function childOf(node: SyntaxNode, type: string): SyntaxNode | undefined {
  return node.children.find((child) => child.type === type)
}

/** Whether a node has a child of a type, such as a keyword. */
export function has(node: SyntaxNode, type: string): boolean {
  return node.children.some((child) => child.type === type)
}

/** The children that are no keywords and signs. */
export function named(node: SyntaxNode): SyntaxNode[] {
  return node.children.filter(({ type }) => isWord(type) && !KEYWORDS.has(type))
}

/** Whether a type of node is a word and no sign. Grammars have some hundred types, so each is tested once. */
export function isWord(type: string): boolean {
  let known = words.get(type)
  if (known === undefined) {
    known = /^[a-z]\w+$/i.test(type)
    words.set(type, known)
  }
  return known
}

const words = new Map<string, boolean>()

const KEYWORDS: ReadonlySet<string> = new Set(
  `abstract as asserts async await class const declare default enum export extends from function get global implements in infer
   interface is keyof let module namespace new of override private protected public readonly return satisfies set static type
   typeof unique var accessor def lambda not and or if else for while with import yield`.split(/\s+/),
)

/** The content of a string literal. */
export function unquote(node: SyntaxNode): string {
  return textOf(node).replace(/^['"`]|['"`]$/g, '')
}

/** The type inside of an annotation or other wrapper. */
export function typeChild(node: SyntaxNode): SyntaxNode | undefined {
  return node.children.find(
    ({ type }) => type === 'undefined' || type === 'null' || type === 'this' || isTypeNode(type),
  )
}

function isTypeNode(type: string): boolean {
  return isWord(type) && !TYPE_KEYWORDS.has(type)
}

const TYPE_KEYWORDS: ReadonlySet<string> = new Set('readonly extends keyof typeof asserts is infer'.split(' '))

/** Parts of nested unions as one list. */
export function flatten(node: SyntaxNode, type: string): SyntaxNode[] {
  const parts = node.children.filter((child) => isTypeNode(child.type) || child.type === 'this')
  return parts.flatMap((child) => (child.type === type ? flatten(child, type) : [child]))
}
