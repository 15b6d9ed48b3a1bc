import { GENERIC_TYPE, mediaTypeOf } from '../core/extract/media-type.ts'
import type { Snapshot } from '../core/model.ts'
import { decodePart } from '../core/url/decode-part.ts'
import { beginningOf, type Format, formatOfName, formatOfText, formatOfType } from './formats.ts'

/**
 * The format of a response that is a document; undefined for web pages, plain text and unreadable content. A signature in the bytes decides
 * first, then the media type, and if that is generic, the name in the URL.
 */
export function formatOfResponse(response: Snapshot): Format | undefined {
  const { url, body } = response
  // A body that is a string has already been decoded as text.
  if (typeof body === 'string') return undefined
  const beginning = beginningOf(body)
  if (/^\s*%PDF-/.test(beginning)) return formatOfType(PDF)
  if (beginning.startsWith('{\\rtf')) return formatOfType('application/rtf')
  const zipFormat = beginning.startsWith('PK\x03\x04') ? formatOfZip(body, beginning) : undefined
  const type = mediaTypeOf(response.headers)
  return zipFormat ?? formatOfType(type) ?? formatByName(pathOf(url), type, beginning)
}

/** The decoded path of a URL. */
export function pathOf(url: string): string {
  return decodePart(URL.parse(url)?.pathname ?? '')
}

const PDF = 'application/pdf'
const PLAIN_TEXT = /^text\/(?:plain|x-readme)$/
const STRUCTURED = /^(?:application|text)\/(?:(?:[\w.-]+\+)?(?:json|yaml)|x-(?:json|yaml))$/
/** A response that starts like a web page is not the requested document. */
const HTML_START = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html)\b/i
/** Requests at the start of every manual page, after comments. */
const TROFF = /^[.'](?:TH|Dd|so)\s/m

/** Uses the name when the media type is generic, unless the bytes contradict it. */
function formatByName(path: string, type: string, beginning: string): Format | undefined {
  const isGeneric = GENERIC_TYPE.test(type)
  const isText = isGeneric || PLAIN_TEXT.test(type)
  if ((!isText && !STRUCTURED.test(type)) || HTML_START.test(beginning)) return undefined
  const mayBeOpenapi = !isText || /\.(?:json|ya?ml)$/i.test(path)
  const named = formatOfName(path, beginning)
  if (named === undefined) return mayBeOpenapi ? formatOfText(beginning) : undefined
  switch (named.name) {
    case 'Jupyter notebook':
      return named
    case 'man page':
      return isText && TROFF.test(beginning) ? named : undefined
    default:
      return isGeneric || (isText && named.form !== 'binary') ? named : undefined
  }
}

/** Size of the end of an archive that holds its member list. */
const DIRECTORY_BYTES = 1_000_000
const OPEN_XML = 'application/vnd.openxmlformats-officedocument'
/** Members that identify the type of an archive; for Open XML, the folder of the main part. */
const MEMBERS: readonly (readonly [beginning: string, type: string])[] = [
  ['META-INF/container.xml', 'application/epub+zip'],
  ['word/', `${OPEN_XML}.wordprocessingml.document`],
  ['ppt/', `${OPEN_XML}.presentationml.presentation`],
  ['xl/', `${OPEN_XML}.spreadsheetml.sheet`],
]

/** The central directory record of a member with one of these names. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a record starts with control characters
const MEMBER = /PK\x01\x02.{42}(META-INF\/container\.xml|word\/|ppt\/|xl\/)/gs

/** The format of a zip archive, by its content and not by its name. Most document formats start with a `mimetype` member. */
function formatOfZip(bytes: Uint8Array, beginning: string): Format | undefined {
  const [, type = ''] = /^.{30}mimetype([\w./+-]{1,100}?)(?:PK|\s|$)/s.exec(beginning) ?? []
  if (type !== '') return formatOfType(type)
  const list = new TextDecoder('latin1').decode(bytes.subarray(-DIRECTORY_BYTES))
  const names = new Set([...list.matchAll(MEMBER)].map(([, name]) => name))
  return formatOfType(MEMBERS.find(([name]) => names.has(name))?.[1] ?? '')
}
