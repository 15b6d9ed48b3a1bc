import {
  compactJson,
  compactLength,
  JsonSyntaxError,
  type Member,
  type Span,
  scanElements,
  scanJson,
  scanMembers,
} from '../json/scan.ts'
import { LineMap } from '../text/line-map.ts'
import { clipText, sliceText } from '../text/lines.ts'
import { compareUtf8 } from '../text/order.ts'
import { type ChunkSizes, MAX_HEADING_CHARS, type Piece } from './piece.ts'

/** Number of array elements in one piece, unless they exceed the cap. */
const ELEMENTS_PER_PIECE = 50

/** Oversized values nested deeper than this are cut as text, because every level reads the value once more. */
const MAX_DEPTH = 16

/**
 * Cuts JSON along its structure: one piece for each key of an object, keys sorted; fifty elements of an array; a value
 * larger than the cap along its own members. White space outside strings is dropped, nothing else is rewritten.
 * Returns undefined when the text is not JSON.
 */
export function cutJson(text: string, sizes: ChunkSizes): Piece[] | undefined {
  try {
    const root = scanJson(text)
    return new JsonCutter(text, sizes).cut(root)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/** The path to a value: its address, and the keys that lead to it. */
interface JsonPath {
  readonly address: string
  readonly keys: readonly string[]
  readonly depth: number
}

/** An element of an array, and its length without white space. */
interface Element extends Span {
  readonly length: number
}

class JsonCutter {
  readonly #text: string
  readonly #sizes: ChunkSizes
  readonly #lines: LineMap
  readonly #pieces: Piece[] = []

  constructor(text: string, sizes: ChunkSizes) {
    this.#text = text
    this.#sizes = sizes
    this.#lines = new LineMap(text)
  }

  cut(root: Span): Piece[] {
    const path = { address: '$', keys: [], depth: 0 }
    if (this.#text[root.start] === '{') this.#cutKeys(root, path)
    else if (this.#text[root.start] === '[') this.#cutArray(root, path)
    else this.#cutValue(root, root, path, compactLength(this.#text, root))
    if (this.#pieces.length === 0) this.#push(root, compactJson(this.#text, root), path)
    return this.#pieces
  }

  /** The members of the outermost object, one piece or more each. */
  #cutKeys(object: Span, path: JsonPath): void {
    const members = [...scanMembers(this.#text, object.start)].sort((a, b) => compareUtf8(a.key, b.key))
    for (const member of members) this.#cutMember(member, path, compactLength(this.#text, member.value))
  }

  /** The value of one member; its key is in the address. A key that is too long for the address stays with the value. */
  #cutMember(member: Member, path: JsonPath, length: number): void {
    const childPath = appendKey(path, member.key)
    if (member.key.length <= MAX_HEADING_CHARS) {
      this.#cutValue(member, member.value, childPath, length)
      return
    }
    const content = `{${compactJson(this.#text, member)}}`
    if (content.length <= this.#sizes.maxChars) this.#push(member, content, childPath)
    else this.#pushSlices(member, content, childPath)
  }

  /**
   * Cuts one value: whole if it fits, else along its structure, else in slices. `at` is the range for the line numbers. `length` is the
   * length of the value without white space; the caller measures it once, because each measurement reads the whole value.
   */
  #cutValue(at: Span, value: Span, path: JsonPath, length: number): void {
    const opener = this.#text[value.start]
    if (length <= this.#sizes.maxChars) this.#push(at, compactJson(this.#text, value), path)
    else if (opener === '{' && path.depth < MAX_DEPTH) this.#cutObject(value, path)
    else if (opener === '[' && path.depth < MAX_DEPTH) this.#cutArray(value, path)
    else this.#pushSlices(at, compactJson(this.#text, value), path)
  }

  #pushSlices(at: Span, content: string, path: JsonPath): void {
    sliceText(content, this.#sizes.maxChars).forEach((slice, i) => {
      this.#push(at, slice, { ...path, address: `${path.address}#${i + 1}` })
    })
  }

  /** Cuts an object larger than the cap: neighboring members together up to the target, a large one by itself. */
  #cutObject(object: Span, path: JsonPath): void {
    let group: Member[] = []
    let size = 2
    let part = 0
    const flush = () => {
      const first = group[0]
      const last = group.at(-1)
      if (first === undefined || last === undefined) return
      part++
      const address = group.length === 1 ? appendKey(path, first.key).address : `${path.address}#${part}`
      const content = `{${group.map((member) => compactJson(this.#text, member)).join(',')}}`
      this.#push({ start: first.start, end: last.end }, content, { ...path, address })
      group = []
      size = 2
    }
    for (const member of scanMembers(this.#text, object.start)) {
      const valueLength = compactLength(this.#text, member.value)
      const length = compactLength(this.#text, { start: member.start, end: member.value.start }) + valueLength
      if (length + 2 > this.#sizes.maxChars) {
        flush()
        this.#cutMember(member, path, valueLength)
        continue
      }
      if (size + length > this.#sizes.maxChars || size >= this.#sizes.targetChars) flush()
      group.push(member)
      size += length + 1
    }
    flush()
  }

  #cutArray(array: Span, path: JsonPath): void {
    let range: Element[] = []
    let start = 0
    const flush = () => {
      this.#cutRange(range, start, path)
      start += range.length
      range = []
    }
    for (const element of scanElements(this.#text, array.start)) {
      range.push({ ...element, length: compactLength(this.#text, element) })
      if (range.length === ELEMENTS_PER_PIECE) flush()
    }
    flush()
  }

  /** Writes neighboring elements as an array of their own, halved until it fits. */
  #cutRange(range: readonly Element[], start: number, path: JsonPath): void {
    const [first] = range
    const last = range.at(-1)
    if (first === undefined || last === undefined) return
    const length = range.reduce((sum, element) => sum + element.length + 1, 1)
    if (length <= this.#sizes.maxChars) {
      const content = `[${range.map((element) => compactJson(this.#text, element)).join(',')}]`
      this.#push({ start: first.start, end: last.end }, content, {
        ...path,
        address: `${path.address}[${start}:${start + range.length}]`,
      })
    } else if (range.length > 1) {
      const half = Math.ceil(range.length / 2)
      this.#cutRange(range.slice(0, half), start, path)
      this.#cutRange(range.slice(half), start + half, path)
    } else {
      const childPath = { ...path, address: `${path.address}[${start}]`, depth: path.depth + 1 }
      this.#cutValue(first, first, childPath, first.length)
    }
  }

  #push(at: Span, content: string, path: JsonPath): void {
    const symbol = path.keys.at(-1)
    this.#pieces.push({
      startLine: this.#lines.lineAt(at.start),
      endLine: this.#lines.lineAt(Math.max(at.start, at.end - 1)),
      content,
      headingPath: path.keys,
      address: path.address,
      ...(symbol === undefined ? {} : { symbol }),
    })
  }
}

/** `$.key`, or `$["a.b"]` where a plain key would be ambiguous. */
function appendKey(path: JsonPath, fullKey: string): JsonPath {
  const key = clipText(fullKey, MAX_HEADING_CHARS)
  const step = /^[^\s."'[\]#\\\p{Cc}]+$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  return { address: path.address + step, keys: [...path.keys, key], depth: path.depth + 1 }
}
