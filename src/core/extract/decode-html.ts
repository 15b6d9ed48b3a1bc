import { bytesToText, writeUnits } from '../text/code-units.ts'
import { decodeDoubleByte, isDoubleByte } from './decode-double-byte.ts'
import { detectEncoding } from './detect-encoding.ts'

/**
 * Decodes the bytes of an HTML response the way a browser does: a byte order mark decides, then the `content-type` header, then the
 * declaration in the document, then the bytes themselves. Never fails; invalid bytes become U+FFFD.
 */
export function decodeHtml(body: Uint8Array | string, contentType: string): string {
  return decode(body, contentType, prescan)
}

/** Like {@link decodeHtml}, for text without declarations. */
export function decodePlain(body: Uint8Array | string, contentType: string): string {
  return decode(body, contentType, () => undefined)
}

function decode(
  body: Uint8Array | string,
  contentType: string,
  readDeclaration: (bytes: Uint8Array) => string | undefined,
): string {
  if (typeof body === 'string') return body.startsWith('\ufeff') ? body.slice(1) : body
  return decodeAs(
    body,
    encodingOfByteOrderMark(body) ?? readCharset(contentType) ?? readDeclaration(body) ?? detectEncoding(body),
  )
}

function encodingOfByteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function decodeAs(bytes: Uint8Array, encoding: string): string {
  if (isDoubleByte(encoding)) return decodeDoubleByte(bytes, encoding)
  // Some runtimes decode the bytes of windows-1252 from 0x80 to 0x9f differently from the encoding standard.
  return encoding === 'windows-1252' ? decodeWindows1252(bytes) : new TextDecoder(encoding).decode(bytes)
}

/** The characters of windows-1252 from 0x80 to 0x9f; all others equal those of Unicode. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'
const SLICE = 8192

function decodeWindows1252(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.length; from += SLICE) {
    const units = new Uint16Array(bytes.subarray(from, from + SLICE))
    for (let i = 0; i < units.length; i++) {
      const unit = units[i] ?? 0
      if (unit >= 0x80 && unit < 0xa0) units[i] = WINDOWS_1252.charCodeAt(unit - 0x80)
    }
    text += writeUnits(units)
  }
  return text
}

/** The encoding that a label stands for in `TextDecoder`; undefined for an unknown label. */
function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch (error) {
    // An unknown label does not count as a declaration.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const CHARSET = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i

/** The encoding in `text/html; charset=utf-8`. */
function readCharset(value: string): string | undefined {
  const [, double, single, plain] = CHARSET.exec(value) ?? []
  const label = double ?? single ?? plain
  return label === undefined ? undefined : encodingOf(label)
}

/** Browsers scan 1,024 bytes; on some sites long comments and scripts precede the declaration. */
const PRESCAN_BYTES = 4096
const TAG_NAME = /<\/?[a-z][^\s/>]*/iy
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y
const XML_ENCODING = /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]+)["']/

/** The encoding that a document declares in `<meta>` or in an XML declaration, found as the HTML standard describes it. */
function prescan(bytes: Uint8Array): string | undefined {
  // Declarations are ASCII, so it does not matter how the other bytes are decoded.
  const source = bytesToText(bytes.subarray(0, PRESCAN_BYTES))
  const [, xmlLabel] = XML_ENCODING.exec(source) ?? []
  for (let at = source.indexOf('<'); at >= 0; at = source.indexOf('<', at)) {
    if (source.startsWith('<!--', at)) {
      const end = source.indexOf('-->', at + 2)
      at = end < 0 ? source.length : end + 3
      continue
    }
    TAG_NAME.lastIndex = at
    const [tag] = TAG_NAME.exec(source) ?? []
    if (tag === undefined) {
      const isDeclarationOrEndTag = /[!/?]/.test(source[at + 1] ?? '')
      const end = isDeclarationOrEndTag ? source.indexOf('>', at) : at
      at = end < 0 ? source.length : end + 1
      continue
    }
    const { attributes, end } = readAttributes(source, at + tag.length)
    const encoding = tag.toLowerCase() === '<meta' ? metaEncoding(attributes) : undefined
    if (encoding !== undefined) return encoding
    at = end
  }
  return xmlLabel === undefined ? undefined : effectiveEncodingOf(encodingOf(xmlLabel))
}

function readAttributes(source: string, from: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>()
  ATTRIBUTE.lastIndex = from
  let end = from
  for (let match = ATTRIBUTE.exec(source); match !== null; match = ATTRIBUTE.exec(source)) {
    end = ATTRIBUTE.lastIndex
    const [, name = '', double, single, plain] = match
    if (!attributes.has(name.toLowerCase())) attributes.set(name.toLowerCase(), double ?? single ?? plain ?? '')
  }
  return { attributes, end: Math.max(end, from) }
}

function metaEncoding(attributes: ReadonlyMap<string, string>): string | undefined {
  const charset = attributes.get('charset')
  if (charset !== undefined) return effectiveEncodingOf(encodingOf(charset))
  const isContentType = attributes.get('http-equiv')?.toLowerCase() === 'content-type'
  return isContentType ? effectiveEncodingOf(readCharset(attributes.get('content') ?? '')) : undefined
}

/**
 * The effective encoding of a declaration that was read as ASCII: the bytes cannot be UTF-16, because the declaration would not be
 * readable.
 */
function effectiveEncodingOf(encoding: string | undefined): string | undefined {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return 'utf-8'
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding
}
