import { kindOf } from '../chunk/kind.ts'
import type { Kind, Snapshot } from '../model.ts'
import { bytesToText } from '../text/code-units.ts'
import { isMarkdownText } from './text/is-markdown.ts'

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
  const isDecoded = typeof body === 'string'
  const sample = isDecoded ? body.slice(0, SAMPLE_CHARS) : bytesToText(body.subarray(0, SAMPLE_CHARS))
  const beginning = isDecoded ? sample.slice(0, SNIFF_CHARS) : markupOf(sample.slice(0, SNIFF_CHARS))
  const binary = isDecoded ? undefined : MAGIC.find(([magic]) => beginning.startsWith(magic))?.[1]
  if (binary !== undefined) return { type: 'other', name: binary }
  if (isBinary(sample, isDecoded)) return { type: 'other', name: 'binary data' }
  const isMarkup = /^\s*<[!/?a-z]/i.test(beginning)
  const isMdx = type === 'text/mdx' || /\.mdx(?:[?#]|$)/i.test(url)
  const isMarkdownUrl = /\.(?:md|mdx|markdown)(?:[?#]|$)|\/llms(?:-[\w-]+)?\.txt(?:[?#]|$)/i.test(url)
  if (MARKDOWN.test(type)) return { type: 'text', isMarkdown: true, isMdx }
  if (PLAIN.test(type)) {
    const mayBeMarkdown = type === 'text/plain' && TEXT_KINDS.has(kindOf(url.replace(/[?#].*$/s, '')))
    return { type: 'text', isMarkdown: isMarkdownUrl || (mayBeMarkdown && isMarkdownText(sample)), isMdx }
  }
  const isGeneric = GENERIC_TYPE.test(type)
  if (!HTML.test(type) && !isGeneric)
    return { type: 'other', name: MEDIA_TYPE.test(type) ? type : JSON.stringify(type) }
  if (isMarkdownUrl && !isMarkup) return { type: 'text', isMarkdown: true, isMdx }
  if (!isGeneric || isMarkup || /<[a-z][^<>]*>/i.test(beginning)) return { type: 'html' }
  return { type: 'text', isMarkdown: /^\s*# \S/.test(beginning), isMdx }
}

/** Kinds of files whose content may be Markdown. Servers of raw files send code as plain text too, where a `#` begins a comment. */
const TEXT_KINDS: ReadonlySet<Kind> = new Set(['text', 'html', 'unknown'])

/** What servers may send in place of a type is quoted, so that it cannot pass for words of the program. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

const SAMPLE_CHARS = 16_384
const SNIFF_CHARS = 1024

/** The markup in bytes written as characters. It is ASCII in all encodings but UTF-16, whose zeros are left out. */
function markupOf(bytes: string): string {
  return bytes.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '')
}

/** Magic bytes of common binary formats, written as the beginning of a body. */
const MAGIC: readonly (readonly [magic: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\x89PNG', 'image/png'],
  ['GIF8', 'image/gif'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['RIFF', 'image/webp'],
  ['\x1f\x8b', 'application/gzip'],
].map(([magic = '', type = '']) => [bytesToText(Uint8Array.from(magic, (unit) => unit.charCodeAt(0))), type])

/**
 * Control characters that text never has, and the replacement character. The escape character is allowed, because Japanese encodings use
 * it to switch character sets.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g
const MAX_CONTROL_SHARE = 0.05
/** Fewer control characters may be accidents. */
const MIN_CONTROL_COUNT = 5

/** Whether the beginning of a body is not text. It is decoded, or has a character for each byte. */
function isBinary(sample: string, isDecoded: boolean): boolean {
  const controls = sample.match(CONTROL_CHARACTERS)?.length ?? 0
  const areTooMany = controls >= MIN_CONTROL_COUNT && controls > MAX_CONTROL_SHARE * sample.length
  if (isDecoded) return areTooMany
  // In UTF-16 every other byte of most text is zero, but no encoding of text has two zeros in a row.
  if (sample.slice(0, SNIFF_CHARS + 1).includes('\0\0')) return true
  const zeros = sample.split('\0').length - 1
  const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(sample) || zeros > sample.length / 4
  return areTooMany && !isUtf16
}
