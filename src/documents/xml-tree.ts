import { TextDecoder } from 'node:util'
import { decodeHTMLStrict } from 'entities'
import { Parser } from 'htmlparser2'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'

/** Content of an element: a child element, or text with decoded entities. */
export type XmlNode = XmlElement | string

/** An XML element. Its name has no prefix, because a prefix carries no information within one format. */
export class XmlElement {
  readonly name: string
  readonly children: XmlNode[] = []
  readonly #attributes: Readonly<Record<string, string>>

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name
    this.#attributes = attributes
  }

  /** The value of an attribute by local name; an attribute without a prefix takes precedence. */
  attribute(name: string): string | undefined {
    return findAttribute(this.#attributes, name)
  }

  /** Like {@link attribute}, but only for attributes with a prefix, such as `r:id` beside `id`. */
  prefixed(name: string): string | undefined {
    return findPrefixed(this.#attributes, name)
  }

  /** The child elements, optionally only those with a name. */
  *elements(name?: string): Generator<XmlElement, void, void> {
    for (const child of this.children) {
      if (typeof child !== 'string' && (name === undefined || child.name === name)) yield child
    }
  }

  /** The first child with a name, or the element at a path of child names. */
  find(...names: readonly string[]): XmlElement | undefined {
    let current: XmlElement | undefined = this
    for (const name of names) current = current?.elements(name).next().value ?? undefined
    return current
  }

  /** All descendants in document order. */
  *descendants(): Generator<XmlElement, void, void> {
    const stack: XmlElement[] = [...this.elements()].reverse()
    for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
      yield element
      // Pushes one by one, because there may be more children than a call may have arguments.
      for (const inner of [...element.elements()].reverse()) stack.push(inner)
    }
  }

  /** All text in the element. */
  get text(): string {
    let text = ''
    for (const child of this.children) text += typeof child === 'string' ? child : child.text
    return text
  }
}

/** Receives the parts of XML in order. */
export interface XmlHandler {
  /** The name has no prefix. */
  open(name: string, attributes: Readonly<Record<string, string>>): void
  close(name: string): void
  text(text: string): void
}

/** Limit of elements per file; a larger tree would not fit into memory. */
const MAX_ELEMENTS = 3_000_000

/**
 * Parses XML into a tree and returns its root element. Elements that are unclosed at the end are accepted.
 * @throws {DocumentError} when the XML defines entities, is nested too deeply, or has too many elements
 */
export function parseXml(bytes: Uint8Array): XmlElement {
  const top = new XmlElement('', {})
  const openElements = [top]
  let count = 0
  readXml(bytes, {
    open(name, attributes) {
      if (++count > MAX_ELEMENTS) throw new DocumentError('too-large', `it has more than ${MAX_ELEMENTS} elements`)
      const element = new XmlElement(name, attributes)
      openElements.at(-1)?.children.push(element)
      openElements.push(element)
    },
    close() {
      openElements.pop()
    },
    text(text) {
      openElements.at(-1)?.children.push(text)
    },
  })
  const root = top.elements().next().value
  if (root === undefined) throw new DocumentError('damaged', 'it has no XML where XML is expected')
  return root
}

/**
 * Parses XML as a stream. Nothing external is read, and entity definitions are refused, because a few lines of them can expand to
 * gigabytes.
 * @throws {DocumentError} when the XML defines entities or is nested too deeply
 */
export function readXml(bytes: Uint8Array, handler: XmlHandler): void {
  let depth = 0
  let isLiteral = false
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DOCUMENT_LIMITS.depth) {
          throw new DocumentError('too-large', `its elements are nested more than ${DOCUMENT_LIMITS.depth} levels deep`)
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
  // Parses the XML in pieces, so that a long text between two tags is not held in memory twice.
  const text = decodeXml(bytes)
  for (let at = 0; at < text.length; at += CHUNK_CHARS) parser.write(text.slice(at, at + CHUNK_CHARS))
  parser.end()
}

const CHUNK_CHARS = 1 << 20

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

/** Decodes XML by its byte order mark or declared encoding; UTF-8 by default. */
export function decodeXml(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, DECLARATION_BYTES))
  const label = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)["']/.exec(start)?.[1] ?? 'utf-8'
  return decoderFor(label).decode(bytes)
}

const DECLARATION_BYTES = 200

function decoderFor(label: string): TextDecoder {
  try {
    // The declaration was readable as single bytes, so the encoding cannot be UTF-16, even if the declaration says so.
    return new TextDecoder(/^utf-?16/i.test(label) ? 'utf-8' : label)
  } catch {
    return new TextDecoder()
  }
}
