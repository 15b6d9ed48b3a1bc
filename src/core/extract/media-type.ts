import type { Snapshot } from '../model.ts'
import { writeUnits } from '../text/code-units.ts'

/** The kind of a response, which decides how it is read. */
export type BodyKind =
  | { readonly type: 'html' }
  /** `isMdx` says that the content type or the address names MDX. */
  | { readonly type: 'text'; readonly isMarkdown: boolean; readonly isMdx: boolean }
  | { readonly type: 'other'; readonly name: string }

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const MARKDOWN = /^text\/(?:(?:x-|x-web-)?markdown|mdx)$/
const PLAIN = /^text\/(?:plain|x-rst|(?:x-)?asciidoc|x-readme)$/
/** Content types that servers send when they do not know the type. */
export const GENERIC_TYPE: RegExp = /^(?:|(?:application|binary)\/octet-stream|unknown\/unknown|\*\/\*)$/

/** The declared content type of a response, without parameters. */
export function mediaTypeOf(headers: Snapshot['headers']): string {
  const [essence = ''] = (headers?.['content-type'] ?? '').split(';')
  return essence.trim().toLowerCase()
}

/** Determines the kind of a response from its `content-type`, its address, and its first bytes if the header is generic or wrong. */
export function detectBodyKind({ url, body, headers }: Snapshot): BodyKind {
  const type = mediaTypeOf(headers)
  const beginning = beginningOf(body)
  const binary = binaryName(body, beginning)
  if (binary !== undefined) return { type: 'other', name: binary }
  const isMarkup = /^\s*<[!/?a-z]/i.test(beginning)
  const isMdx = type === 'text/mdx' || /\.mdx(?:[?#]|$)/i.test(url)
  const isMarkdownUrl = /\.(?:md|mdx|markdown)(?:[?#]|$)|\/llms(?:-[\w-]+)?\.txt(?:[?#]|$)/i.test(url)
  if (MARKDOWN.test(type)) return { type: 'text', isMarkdown: true, isMdx }
  // In plain text a `#` may begin a comment instead of a heading, so only the address can make the text Markdown.
  if (PLAIN.test(type)) return { type: 'text', isMarkdown: isMarkdownUrl, isMdx }
  const isGeneric = GENERIC_TYPE.test(type)
  if (!HTML.test(type) && !isGeneric) return { type: 'other', name: type }
  if (isMarkdownUrl && !isMarkup) return { type: 'text', isMarkdown: true, isMdx }
  if (!isGeneric || isMarkup || /<[a-z][^<>]*>/i.test(beginning)) return { type: 'html' }
  return { type: 'text', isMarkdown: /^\s*# \S/.test(beginning), isMdx }
}

const SNIFF_BYTES = 1024

/** The beginning of a body, one character for each byte. Markup is ASCII in all encodings but UTF-16, whose zeros are left out. */
function beginningOf(body: Uint8Array | string): string {
  if (typeof body === 'string') return body.slice(0, SNIFF_BYTES)
  const text = writeUnits(body.subarray(0, SNIFF_BYTES))
  return text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '')
}

/** Magic bytes of common binary formats. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\x89PNG', 'image/png'],
  ['GIF8', 'image/gif'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['RIFF', 'image/webp'],
  ['\x1f\x8b', 'application/gzip'],
]

/** The binary format of a body, regardless of its declared type; undefined for text. */
function binaryName(body: Uint8Array | string, beginning: string): string | undefined {
  if (typeof body === 'string') return isBinary(body.slice(0, BINARY_SAMPLE_CHARS)) ? 'binary data' : undefined
  const known = MAGIC.find(([magic]) => beginning.startsWith(magic))?.[1]
  if (known !== undefined) return known
  const head = body.subarray(0, BINARY_SAMPLE_CHARS)
  let zeros = 0
  let controls = 0
  // A plain loop: every page is checked, and a function for each byte takes longer than all the rest.
  for (let i = 0; i < head.length; i++) {
    const byte = head[i] ?? 0
    if (byte > 0x1f && byte !== 0x7f) continue
    // In UTF-16 every other byte of most text is zero, but no encoding of text has two zeros in a row.
    if (byte === 0 && head[i + 1] === 0 && i < SNIFF_BYTES) return 'binary data'
    if (byte === 0) zeros++
    if (!ALLOWED_CONTROLS.includes(byte)) controls++
  }
  const hasUtf16Mark = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  const isUtf16 = hasUtf16Mark || zeros > head.length / 4
  return !isUtf16 && areTooMany(controls, head.length) ? 'binary data' : undefined
}

const BINARY_SAMPLE_CHARS = 4096
/** The control characters that `CONTROL_CHARACTERS` leaves out. */
const ALLOWED_CONTROLS = [0x09, 0x0a, 0x0c, 0x0d, 0x1b]
/**
 * Control characters that text never has, and the replacement character. The escape character is allowed, because Japanese encodings use
 * it to switch character sets.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g
const MAX_CONTROL_SHARE = 0.05
/** Fewer control characters may be accidents. */
const MIN_CONTROL_COUNT = 5

function isBinary(sample: string): boolean {
  return areTooMany(sample.match(CONTROL_CHARACTERS)?.length ?? 0, sample.length)
}

function areTooMany(controls: number, length: number): boolean {
  return controls >= MIN_CONTROL_COUNT && controls > MAX_CONTROL_SHARE * length
}
