import type { Node, TreeCursor } from 'web-tree-sitter'
import type { CodeRules, Definition } from './code-rules.ts'
import { isFirstOnLine, isLastOnLine, isLineEnd, isSpace, lineStart, trimmedEnd } from './line-position.ts'

/** A definition with the range that belongs to it. */
export interface DefinitionRange extends Definition {
  readonly start: number
  end: number
}

/** Deepest nesting of containers, or of groups between two of them, that is searched. Deeper code stays in one span. */
export const MAX_DEPTH = 8

/** Node type id of the nodes for text that could not be parsed. Their children are searched like any others. */
const ERROR_TYPE = 65535

/** Finds the definitions among the children of a node. */
export class DefinitionFinder {
  readonly #text: string
  readonly #rules: CodeRules
  readonly #targetChars: number
  readonly #wrappers: ReadonlySet<string>
  readonly #groups: ReadonlySet<string>
  readonly #blocks: ReadonlySet<string>
  readonly #leading: ReadonlySet<string>
  #ranges: DefinitionRange[] = []
  /** The latest comments, attributes and decorators that only white space separates from each other. */
  #run: LeadingRun | undefined
  /** The gap after the last definition. */
  #tail: Gap | undefined

  constructor(text: string, rules: CodeRules, targetChars: number) {
    this.#text = text
    this.#rules = rules
    this.#targetChars = targetChars
    this.#wrappers = new Set(rules.wrappers)
    this.#groups = new Set(rules.groups)
    this.#blocks = new Set(rules.blocks)
    this.#leading = new Set(rules.leading)
  }

  /** The definitions directly in `node`, in order, each with its comments, attributes and decorators. */
  find(node: Node): DefinitionRange[] {
    this.#ranges = []
    this.#run = undefined
    this.#tail = undefined
    this.#searchChildren(node, 0)
    return joinOverloads(this.#ranges, this.#text, this.#targetChars)
  }

  #searchChildren(node: Node, depth: number): void {
    const cursor = node.walk()
    try {
      this.#searchBelow(cursor, depth)
    } finally {
      cursor.delete()
    }
  }

  #searchBelow(cursor: TreeCursor, depth: number): void {
    if (depth > MAX_DEPTH || !cursor.gotoFirstChild()) return
    do {
      this.#visit(cursor, depth)
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }

  #visit(cursor: TreeCursor, depth: number): void {
    if (cursor.nodeTypeId === ERROR_TYPE) {
      this.#searchBelow(cursor, depth + 1)
      return
    }
    // Keywords are nodes too, and `class` is both a keyword and the node that it opens.
    if (!cursor.nodeIsNamed) return
    const type = cursor.nodeType
    if (this.#leading.has(type)) {
      this.#addLeading(cursor.startIndex, cursor.endIndex)
    } else if (this.#groups.has(type)) {
      this.#searchBelow(cursor, depth + 1)
    } else {
      this.#visitCode(cursor, depth)
    }
  }

  #visitCode(cursor: TreeCursor, depth: number): void {
    const [definition, another] = this.#definitionsAt(cursor, 0)
    if (another !== undefined) {
      this.#searchBelow(cursor, depth + 1)
    } else if (definition !== undefined) {
      this.#addRange(definition)
    } else if (this.#blocks.size > 0 && cursor.endIndex - cursor.startIndex > this.#targetChars) {
      const block = this.#longestBlock(cursor.currentNode)
      if (block !== undefined) this.#searchChildren(block, depth + 1)
    }
  }

  /** The definition at the cursor. For a wrapper, the definition inside it with the range of the wrapper, or all if there are several. */
  #definitionsAt(cursor: TreeCursor, depth: number): DefinitionRange[] {
    const type = cursor.nodeType
    const start = cursor.startIndex
    const end = cursor.endIndex
    const read = Object.hasOwn(this.#rules.definitions, type) ? this.#rules.definitions[type] : undefined
    const definition = read?.(cursor.currentNode, this.#text)
    if (definition !== undefined) return [{ ...definition, start, end }]
    if (!this.#wrappers.has(type) || depth > MAX_DEPTH || !cursor.gotoFirstChild()) return []
    const inner: DefinitionRange[] = []
    do {
      if (cursor.nodeIsNamed) inner.push(...this.#definitionsAt(cursor, depth + 1))
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
    const [only] = inner
    return only !== undefined && inner.length === 1 ? [{ ...only, start, end }] : inner
  }

  /** Goes down along the longest child to a block that is worth searching. */
  #longestBlock(statement: Node): Node | undefined {
    let node = statement
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      const child = longestChild(node)
      if (child === undefined || child.endIndex - child.startIndex <= this.#targetChars) return undefined
      if (this.#blocks.has(child.type)) return child
      node = child
    }
    return undefined
  }

  #addLeading(start: number, nodeEnd: number): void {
    const end = trimmedEnd(this.#text, start, nodeEnd)
    const last = this.#ranges.at(-1)
    if (isLastOnLine(this.#text, end)) {
      if (last !== undefined && this.#tail?.reaches(start) === true) {
        last.end = end
        this.#tail = this.#gapOnLine(end)
        return
      }
      // A comment after other code on its line belongs to that code, not to the next definition.
      if (!isFirstOnLine(this.#text, start)) return
    }
    this.#run = { start: this.#startWithRun(start), after: this.#gapOfOneLine(end) }
  }

  #addRange({ start, end, ...definition }: DefinitionRange): void {
    const first = this.#startWithRun(start)
    const last = trimmedEnd(this.#text, start, end)
    if (last === start) return
    const closing = /[ \t]*[;,]+/y
    closing.lastIndex = last
    const range = {
      ...definition,
      start: isFirstOnLine(this.#text, first) ? lineStart(this.#text, first) : first,
      end: closing.test(this.#text) ? closing.lastIndex : last,
    }
    this.#ranges.push(range)
    this.#tail = this.#gapOnLine(range.end)
  }

  /** The start of the run if only white space, and no blank line, separates it from `offset`; else `offset`. */
  #startWithRun(offset: number): number {
    return this.#run?.after.reaches(offset) === true ? this.#run.start : offset
  }

  /** White space and the signs that close a statement. */
  #gapOnLine(start: number): Gap {
    return new Gap(start, (at) => ' \t;,'.includes(this.#text.charAt(at)))
  }

  /** White space with one line end at most. */
  #gapOfOneLine(start: number): Gap {
    let lineEnds = 0
    return new Gap(start, (at) => isSpace(this.#text, at) && !(isLineEnd(this.#text, at) && ++lineEnds > 1))
  }
}

/** Comments, attributes and decorators that belong together. */
interface LeadingRun {
  readonly start: number
  readonly after: Gap
}

/** The text between an offset and the next code. The scan happens once, even when several definitions need the result. */
class Gap {
  readonly #start: number
  readonly #passes: (at: number) => boolean
  #reach: number

  constructor(start: number, passes: (at: number) => boolean) {
    this.#start = start
    this.#passes = passes
    this.#reach = start
  }

  /** Whether everything up to `offset` passes. */
  reaches(offset: number): boolean {
    while (this.#reach < offset && this.#passes(this.#reach)) this.#reach++
    return offset >= this.#start && offset <= this.#reach
  }
}

function longestChild(node: Node): Node | undefined {
  const cursor = node.walk()
  try {
    let longest: Node | undefined
    let length = 0
    if (!cursor.gotoFirstChild()) return undefined
    do {
      if (cursor.endIndex - cursor.startIndex > length) {
        longest = cursor.currentNode
        length = cursor.endIndex - cursor.startIndex
      }
    } while (cursor.gotoNextSibling())
    return longest
  } finally {
    cursor.delete()
  }
}

/** Joins overloads with the signature or definition after them, as long as they are short together. */
function joinOverloads(ranges: readonly DefinitionRange[], text: string, targetChars: number): DefinitionRange[] {
  const joined: DefinitionRange[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    const isOverload = last?.isSignature === true && last.name === range.name && range.end - last.start <= targetChars
    if (isOverload && text.slice(last.end, range.start).trim() === '') {
      joined[joined.length - 1] = { ...range, start: last.start }
    } else {
      joined.push(range)
    }
  }
  return joined
}
