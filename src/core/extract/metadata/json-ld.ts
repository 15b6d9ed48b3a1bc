import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import { clipText } from '../../text/lines.ts'

/** The metadata that JSON-LD declares; fields without a value are empty. */
export interface JsonLd {
  /** Types of all things that are described, in lower case. */
  readonly types: readonly string[]
  readonly headline: string
  readonly description: string
  readonly author: string
  readonly datePublished: string
  readonly dateModified: string
  readonly language: string
  /** The section of the site that an article is in. */
  readonly section: string
}

type Thing = Readonly<Record<string, unknown>>

/** Limit for the number of things read; real pages describe fewer. */
const MAX_THINGS = 500
const MAX_DEPTH = 5

/** Types of things other than the page, though they may have a name and a date. */
const NON_PAGE_TYPES =
  /^(?:organization|newsmediaorganization|corporation|localbusiness|person|website|breadcrumblist|listitem|imageobject|searchaction|comment|review|rating|offer)$/

const ARTICLE =
  /article|posting|^(?:report|recipe|howto|course|book|review|product|event|videoobject|learningresource)$/

/** Reads the JSON-LD of a page and ignores broken scripts. */
export function readJsonLd(texts: readonly string[]): JsonLd {
  const things: Thing[] = []
  for (const text of texts) collectThings(parseJson(text), things, 0)
  const byId = new Map<string, Thing>()
  for (const thing of things) {
    const id = thing['@id']
    if (typeof id === 'string' && typeof thing['name'] === 'string') byId.set(id, thing)
  }
  const pages = things.filter((thing) => !typesOf(thing).some((type) => NON_PAGE_TYPES.test(type)))
  const articles = pages.filter((thing) => typesOf(thing).some((type) => ARTICLE.test(type)))
  // Things typed as articles take precedence; other things that describe the page fill the gaps.
  const first = (read: (thing: Thing) => string) => {
    for (const thing of [...articles, ...pages]) {
      const value = read(thing)
      if (value !== '') return value
    }
    return ''
  }
  return {
    types: [...new Set(things.flatMap(typesOf))],
    headline: first((thing) => textIn(thing['headline'])),
    description: first((thing) => textIn(thing['description'])),
    author: first((thing) => namesOf(thing['author'] ?? thing['creator'], byId)),
    datePublished: first((thing) => textIn(thing['datePublished'])),
    dateModified: first((thing) => textIn(thing['dateModified'])),
    language: first((thing) => textIn(thing['inLanguage'])),
    section: first((thing) => textIn(thing['articleSection'])),
  }
}

/** Parses the JSON in a script. Some sites wrap it in a comment or put line breaks into its strings. */
function parseJson(text: string): unknown {
  const json = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
    .replace(/[\u0000-\u001f]+/g, ' ')
    .trim()
    .replace(/^(?:<!--|(?:\/\/|\/\*)? ?<!\[CDATA\[(?: ?\*\/)?)/, '')
    .replace(/(?:-->|(?:\/\/|\/\*)? ?\]\]>(?: ?\*\/)?|;)$/, '')
  try {
    return JSON.parse(json)
  } catch {
    // Broken JSON-LD is common and ignored: the page has other sources of metadata.
    return undefined
  }
}

function collectThings(value: unknown, things: Thing[], depth: number): void {
  if (depth > MAX_DEPTH || things.length >= MAX_THINGS) return
  if (Array.isArray(value)) {
    for (const one of value) {
      if (things.length >= MAX_THINGS) return
      collectThings(one, things, depth + 1)
    }
  } else if (isJsonObject(value)) {
    things.push(value)
    for (const part of ['@graph', 'mainEntity', 'mainEntityOfPage']) collectThings(value[part], things, depth + 1)
  }
}

function typesOf(thing: Thing): string[] {
  const type = thing['@type']
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string').map(typeName)
}

/** `https://schema.org/NewsArticle` and `schema:NewsArticle` are `newsarticle`. */
export function typeName(type: string): string {
  return clipText(type.trim(), 200)
    .replace(/(?<![/#])[/#]+$/, '')
    .replace(/^.*[/#:]/, '')
    .toLowerCase()
}

/** The names of people or organizations, which may be references. */
function namesOf(value: unknown, byId: ReadonlyMap<string, Thing>): string {
  const names = (Array.isArray(value) ? value.slice(0, 20) : [value]).map((one) => {
    if (!isJsonObject(one)) return textIn(one)
    const id = one['@id']
    return textIn(one['name']) || (typeof id === 'string' ? textIn(byId.get(id)?.['name']) : '')
  })
  return [...new Set(names.filter((name) => name !== '' && !/^https?:/.test(name)))].join(', ')
}

const MAX_TEXT = 2000

/** A text on one line. Sites also put HTML and entities into JSON. */
function textIn(value: unknown): string {
  const text = Array.isArray(value) ? value[0] : value
  if (typeof text !== 'string') return ''
  const clipped = clipText(text, MAX_TEXT)
  return /[<&]/.test(clipped) ? lineOf(parseHtml(clipped)) : clipped.replace(/\s+/g, ' ').trim()
}
