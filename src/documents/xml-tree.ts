import { TextDecoder } from 'node:util'
import { decodeHTMLStrict } from 'entities'
import { Parser } from 'htmlparser2'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'

/** What an element contains: another one, or text whose entities are decoded. */
export type XmlNode = XmlElement | string

/** An element of XML. Prefixes of its name are left out: within one format they tell nothing. */
export class XmlElement {
  readonly name: string
  readonly children: XmlNode[] = []
  readonly #attributes: Readonly<Record<string, string>>

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name
    this.#attributes = attributes
  }

  /** The value of an attribute by its name, whatever its prefix; one without a prefix comes first. */
  attribute(name: string): string | undefined {
    return findAttribute(this.#attributes, name)
  }

  /** As {@link attribute}, for one that has a prefix and may stand beside another of the same name without. */
  prefixed(name: string): string | undefined {
    return findPrefixed(this.#attributes, name)
  }

  /** The elements in it, of one name if it is given. */
  *elements(name?: string): Generator<XmlElement, void, void> {
    for (const child of this.children) {
      if (typeof child !== 'string' && (name === undefined || child.name === name)) yield child
    }
  }

  /** The first element in it of a name, or that a path of names leads to. */
  find(...names: readonly string[]): XmlElement | undefined {
    let at: XmlElement | undefined = this
    for (const name of names) at = at?.elements(name).next().value ?? undefined
    return at
  }

  /** All elements below it, in the order of the source. */
  *descendants(): Generator<XmlElement, void, void> {
    const ahead: XmlElement[] = [...this.elements()].reverse()
    for (let element = ahead.pop(); element !== undefined; element = ahead.pop()) {
      yield element
      // One by one: there may be more than a call has arguments.
      for (const inner of [...element.elements()].reverse()) ahead.push(inner)
    }
  }

  /** All text in it. */
  get text(): string {
    let text = ''
    for (const child of this.children) text += typeof child === 'string' ? child : child.text
    return text
  }
}

/** Receives what XML holds, one after the other. */
export interface XmlHandler {
  /** The name comes without its prefix. */
  open(name: string, attributes: Readonly<Record<string, string>>): void
  close(name: string): void
  text(text: string): void
}

/** Elements of one file; a tree of more would not fit into memory. */
const MAX_ELEMENTS = 3_000_000

/**
 * Reads XML into a tree and returns its outermost element. What is not closed at the end is taken as it is.
 * @throws {DocumentError} when it defines entities, is nested too deeply, or has too many elements
 */
export function parseXml(bytes: Uint8Array): XmlElement {
  const top = new XmlElement('', {})
  const open = [top]
  let count = 0
  readXml(bytes, {
    open(name, attributes) {
      if (++count > MAX_ELEMENTS) throw new DocumentError('too-large', `it has more than ${MAX_ELEMENTS} elements`)
      const element = new XmlElement(name, attributes)
      open.at(-1)?.children.push(element)
      open.push(element)
    },
    close() {
      open.pop()
    },
    text(text) {
      open.at(-1)?.children.push(text)
    },
  })
  const root = top.elements().next().value
  if (root === undefined) throw new DocumentError('damaged', 'it holds no XML where it should')
  return root
}

/**
 * Reads XML piece by piece. Nothing outside of it is read; entities that it defines are refused, because a few lines of them stand
 * for gigabytes.
 * @throws {DocumentError} when it defines entities or is nested too deeply
 */
export function readXml(bytes: Uint8Array, handler: XmlHandler): void {
  let depth = 0
  let isLiteral = false
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DOCUMENT_LIMITS.depth) {
          throw new DocumentError(
            'too-large',
            `its elements stand more than ${DOCUMENT_LIMITS.depth} deep in each other`,
          )
        }
        for (const key in attributes) attributes[key] = decodeText(attributes[key] ?? '')
        handler.open(localName(name), attributes)
      },
      onclosetag(name) {
        depth--
        handler.close(localName(name))
      },
      ontext: (text) => handler.text(isLiteral ? text : decodeText(text)),
      oncdatastart: () => {
        isLiteral = true
      },
      oncdataend: () => {
        isLiteral = false
      },
      onprocessinginstruction(name, data) {
        if (name.toLowerCase() === '!doctype' && /\[|<!entity/i.test(data)) {
          throw new DocumentError('damaged', 'it defines entities of its own, which are not resolved')
        }
      },
    },
    { xmlMode: true, decodeEntities: false },
  )
  // In pieces, so that the text between two tags is not kept twice over.
  const text = decodeXml(bytes)
  for (let at = 0; at < text.length; at += PIECE) parser.write(text.slice(at, at + PIECE))
  parser.end()
}

const PIECE = 1 << 20

/** The value of an attribute by its local name. */
export function findAttribute(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  return attributes[name] ?? findPrefixed(attributes, name)
}

function findPrefixed(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const end = `:${name}`
  for (const key in attributes) if (key.endsWith(end)) return attributes[key]
  return undefined
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function decodeText(text: string): string {
  return text.includes('&') ? decodeHTMLStrict(text) : text
}

/** XML says itself how it is encoded; without a word it is UTF-8. */
export function decodeXml(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, LOOKED_AT))
  const label = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)["']/.exec(start)?.[1] ?? 'utf-8'
  return decoderFor(label).decode(bytes)
}

const LOOKED_AT = 200

function decoderFor(label: string): TextDecoder {
  try {
    // It came as bytes of eight bits, so it is none of those of sixteen, whatever it says.
    return new TextDecoder(/^utf-?16/i.test(label) ? 'utf-8' : label)
  } catch {
    return new TextDecoder()
  }
}
