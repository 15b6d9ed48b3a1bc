import { mediaTypeOf, SILENT_TYPE } from '../core/extract/media-type.ts'
import type { Snapshot } from '../core/model.ts'
import { decodePath } from '../core/url/tree-url.ts'
import { beginningOf, type Format, formatOfName, formatOfText, formatOfType } from './formats.ts'

/**
 * The format of an answer that is a document; undefined for pages, for plain text and for what nobody can read. What its bytes say of
 * themselves counts first, then what the server says, and where that says little, the name it was asked for by.
 */
export function formatOfAnswer(answer: Snapshot): Format | undefined {
  const { url, body } = answer
  // Whoever hands over text has read it already.
  if (typeof body === 'string') return undefined
  const beginning = beginningOf(body)
  if (/^\s*%PDF-/.test(beginning)) return formatOfType(PDF)
  if (beginning.startsWith('{\\rtf')) return formatOfType('application/rtf')
  const packed = beginning.startsWith('PK\x03\x04') ? formatOfZip(body, beginning) : undefined
  const type = mediaTypeOf(answer.headers)
  return packed ?? formatOfType(type) ?? formatByName(pathOf(url), type, beginning)
}

/** The path of an address, as its words are meant. */
export function pathOf(url: string): string {
  return decodePath(URL.parse(url)?.pathname ?? '')
}

const PDF = 'application/pdf'
const PLAIN = /^text\/(?:plain|x-readme)$/
const STRUCTURED = /^(?:application|text)\/(?:(?:[\w.-]+\+)?(?:json|yaml)|x-(?:json|yaml))$/
/** Whoever answers with a page has not sent what was asked for. */
const PAGE = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html)\b/i
/** Requests that every manual page begins with, after comments. */
const TROFF = /^[.'](?:TH|Dd|so)\s/m

/** Where the server says little, a name that says more is believed as far as the bytes do not contradict it. */
function formatByName(path: string, type: string, beginning: string): Format | undefined {
  const isSilent = SILENT_TYPE.test(type)
  const isText = isSilent || PLAIN.test(type)
  if ((!isText && !STRUCTURED.test(type)) || PAGE.test(beginning)) return undefined
  const isDescribed = !isText || /\.(?:json|ya?ml)$/i.test(path)
  const named = formatOfName(path, beginning)
  if (named === undefined) return isDescribed ? formatOfText(beginning) : undefined
  switch (named.name) {
    case 'Jupyter notebook':
      return named
    case 'man page':
      return isText && TROFF.test(beginning) ? named : undefined
    default:
      return isSilent || (isText && named.form !== 'binary') ? named : undefined
  }
}

/** Where the list of members stands that ends an archive. */
const LIST_BYTES = 1_000_000
const OPEN_XML = 'application/vnd.openxmlformats-officedocument'
/** What a member says about the archive that it is in; of Open XML the folder of the main part does. */
const MEMBERS: readonly (readonly [beginning: string, type: string])[] = [
  ['META-INF/container.xml', 'application/epub+zip'],
  ['word/', `${OPEN_XML}.wordprocessingml.document`],
  ['ppt/', `${OPEN_XML}.presentationml.presentation`],
  ['xl/', `${OPEN_XML}.spreadsheetml.sheet`],
]

/** The record of a member of which one of these is the beginning. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin it
const MEMBER = /PK\x01\x02.{42}(META-INF\/container\.xml|word\/|ppt\/|xl\/)/gs

/** The format of an archive, by what is in it and not by what it is called. Most that are no archives in the first place begin with their type. */
function formatOfZip(bytes: Uint8Array, beginning: string): Format | undefined {
  const [, type = ''] = /^.{30}mimetype([\w./+-]{1,100}?)(?:PK|\s|$)/s.exec(beginning) ?? []
  if (type !== '') return formatOfType(type)
  const list = new TextDecoder('latin1').decode(bytes.subarray(-LIST_BYTES))
  const names = new Set([...list.matchAll(MEMBER)].map(([, name]) => name))
  return formatOfType(MEMBERS.find(([name]) => names.has(name))?.[1] ?? '')
}
