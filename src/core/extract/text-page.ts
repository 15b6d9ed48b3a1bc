import MarkdownIt from 'markdown-it'
import { parseHtml } from '../html/parse-html.ts'
import { parseBlocks } from '../markdown/blocks.ts'
import { withHeadingAnchors } from '../markdown/heading-anchors.ts'
import type { Extraction, Link, NoPageReason, Sha256, Snapshot } from '../model.ts'
import { clipText, splitLines, trimBlank } from '../text/lines.ts'
import { decodePlain } from './decode-html.ts'
import { cleanDialects } from './dialects/clean-dialects.ts'
import { expandIncludes } from './dialects/includes.ts'
import { indexElements } from './element-index.ts'
import { cutFrontMatter } from './front-matter.ts'
import { MAX_URL, readLinks } from './links.ts'
import { measureMarkdown } from './measure.ts'
import { parseDate } from './metadata/dates.ts'
import { cleanLine, MAX_AUTHOR, MAX_DESCRIPTION, MAX_NAME, MAX_TITLE } from './metadata/line.ts'
import { readLinkHeader } from './metadata/link-header.ts'
import { readRobots } from './metadata/robots.ts'
import { alternatesOf, canonicalOf } from './metadata.ts'
import { isNotFoundText } from './refuse/soft-404.ts'
import { isServerResponse } from './refuse.ts'
import { createResolver } from './resolve.ts'
import { cleanMarkdown } from './text/markdown-source.ts'
import { writePlain } from './text/plain-source.ts'
import { createSections, type HeadingPosition } from './write/sections.ts'

/** Options of {@link extractText}. */
export interface TextOptions {
  /** Whether the text is Markdown, with headings and links. */
  readonly isMarkdown: boolean
  /** Whether the file is declared as MDX. @default false */
  readonly isMdx?: boolean
  /** Whether a person wrote the text as Markdown, so that viewers give its headings anchors. A converted document has none. */
  readonly isHandWritten: boolean
  readonly sha256?: Sha256 | undefined
}

/** A longer line is not the error message of a server. */
const MAX_ERROR_CHARS = 100

/**
 * Makes a page from a response that already is Markdown or plain text. Markdown stays as written, without front matter and invisible parts,
 * and with its raw HTML escaped.
 */
export function extractText(
  snapshot: Snapshot,
  { isMarkdown, isMdx = false, isHandWritten, sha256 }: TextOptions,
): Extraction {
  const { url, body, headers = {}, known = {}, includes = {} } = snapshot
  const front = cutFrontMatter(splitLines(decodePlain(body, headers['content-type'] ?? '')))
  const source = trimBlank(front.lines)
  const [line = ''] = source
  if (isServerResponse(snapshot) && source.length === 1 && line.length < MAX_ERROR_CHARS && isNotFoundText(line)) {
    return noPage('soft_404', `says "${line.trim()}"`)
  }
  const dialect =
    isMarkdown && isHandWritten
      ? cleanDialects(expandIncludes(source, includes), { isMdx, fields: front.fields })
      : { ...UNCHANGED, lines: source }
  // Front matter overrides the metadata that modules export.
  const fields = new Map([...dialect.exportedMetadata, ...front.fields])
  const cleaned = isMarkdown ? readMarkdown(dialect.lines) : readPlain(source)
  if (cleaned.text.length === 0) return noPage('empty', 'no text')
  const { text, headings } = isMarkdown ? takeHeadings(cleaned.text) : { text: cleaned.text, headings: [] }
  const { unescaped } = cleaned
  const hiddenChars = cleaned.hiddenChars + dialect.hiddenChars
  const markdown = `${text.join('\n')}\n`
  const sections = isHandWritten ? withHeadingAnchors(createSections(text, headings)) : createSections(text, headings)
  const [first = null] = sections
  const heading = sections.find((section) => section.level === 1)
  const links = readLinkHeader(headers['link'] ?? '')
  const field = (name: string, maxChars: number) => cleanLine(fields.get(name) ?? '', maxChars)
  const firstLine = isMarkdown ? (text[0] ?? '') : line
  return {
    type: 'page',
    page: {
      url,
      title:
        field('title', MAX_TITLE) ??
        cleanLine(known.title ?? '', MAX_TITLE) ??
        cleanLine(heading?.title ?? '', MAX_TITLE) ??
        NAV_TITLES.map((name) => field(name, MAX_TITLE)).find((title) => title !== null) ??
        cleanLine(first?.title ?? firstLine, MAX_TITLE) ??
        '',
      description: field('description', MAX_DESCRIPTION) ?? cleanLine(known.description ?? '', MAX_DESCRIPTION),
      author: field('author', MAX_AUTHOR) ?? cleanLine(known.author ?? '', MAX_AUTHOR),
      publishedAt: parseDate(fields.get('date') ?? ''),
      modifiedAt: parseDate(fields.get('updated') ?? fields.get('lastmod') ?? known.modifiedAt ?? ''),
      language:
        field('lang', MAX_NAME) ??
        cleanLine(known.language ?? headers['content-language']?.split(',')[0] ?? '', MAX_NAME),
      canonical: canonicalOf(links, url),
      alternates: alternatesOf(links, url),
      robots: readRobots([], headers['x-robots-tag'] ?? ''),
      generator: null,
      markdown,
      sections,
      links: addKnownLinks(linksIn(unescaped, url, isMarkdown), known.links ?? [], url),
      ...measureMarkdown(markdown, sha256),
      hiddenChars,
    },
    removals: [],
  }
}

/** The result for a source that has no page. */
export function noPage(reason: NoPageReason, detail: string): Extraction {
  return { type: 'no-page', reason, detail, target: null, links: [], removals: [] }
}

/** A text without its invisible parts. */
interface CleanedText {
  /** The lines of the resulting Markdown. */
  readonly text: readonly string[]
  /** The same text before its HTML is escaped. */
  readonly unescaped: string
  readonly hiddenChars: number
}

function readMarkdown(lines: readonly string[]): CleanedText {
  const { unescaped, escaped, hiddenChars } = cleanMarkdown(lines)
  return { text: trimBlank(splitLines(escaped)), unescaped, hiddenChars }
}

function readPlain(lines: readonly string[]): CleanedText {
  if (lines.length === 0) return { text: [], unescaped: '', hiddenChars: 0 }
  const { markdown, hiddenChars } = writePlain(lines)
  return { text: splitLines(markdown), unescaped: lines.join('\n'), hiddenChars }
}

/** The headings of Markdown, and its lines without the `{#fragment}` of headings. */
function takeHeadings(lines: readonly string[]): {
  readonly text: readonly string[]
  readonly headings: readonly HeadingPosition[]
} {
  const text = [...lines]
  const headings = [...parseBlocks(lines)]
    .filter(({ type }) => type === 'heading')
    .map(({ text: title, level, open }) => {
      const line = lines[open] ?? ''
      const [, words, id = null] = line.includes('{#') ? (FRAGMENT.exec(line) ?? []) : []
      if (words !== undefined && id !== null) text[open] = words
      return { title, level, anchor: id, startLine: open + 1 }
    })
  return { text, headings }
}

const FRAGMENT = /^(.*\S)\s*\{#([^\s{}#]{1,200})\}\s*(?:#+\s*)?$/
const UNCHANGED = { exportedMetadata: new Map<string, string>(), hiddenChars: 0 }
/** Fields that name a page in the navigation. They are better titles than a heading below the first level. */
const NAV_TITLES = ['sidebar_label', 'sidebartitle', 'linktitle', 'nav_title', 'navtitle', 'nav_label']

/** Links are searched in at most this many characters, because rendering takes many times the size of the text. */
const MAX_RENDERED_CHARS = 5_000_000

const renderer = new MarkdownIt({ html: true, linkify: true })
renderer.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

/** Every link has one of these: a target, a definition, HTML, or an address. */
const LINK_MARK = /\]\(|\]:|<|\/\/|mailto:/i

/** The links that a browser would find in the rendered text. */
function linksIn(text: string, url: string, isMarkdown: boolean): Link[] {
  if (!LINK_MARK.test(text)) return []
  const clipped = clipText(text, MAX_RENDERED_CHARS)
  const root = parseHtml(isMarkdown ? renderer.render(clipped) : renderer.renderInline(clipped))
  return readLinks(indexElements(root), url, [root])
}

/** Adds the links that the caller knows and the text does not have, each address once. */
function addKnownLinks(links: readonly Link[], known: readonly string[], url: string): Link[] {
  const resolve = createResolver(url)
  const all = new Map(links.map((link) => [link.url, link]))
  for (const address of known.map(resolve)) {
    if (address === '' || address.length > MAX_URL || all.has(address)) continue
    all.set(address, { url: address, text: '', rel: [], isContent: false })
  }
  return [...all.values()]
}
