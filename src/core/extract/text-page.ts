import MarkdownIt from 'markdown-it'
import { parseHtml } from '../html/parse-html.ts'
import { parseBlocks } from '../markdown/blocks.ts'
import { withHeadingAnchors } from '../markdown/heading-anchors.ts'
import type { Extraction, Link, NoPageReason, Section, Sha256, Snapshot } from '../model.ts'
import { clipText, isBlank, splitLines } from '../text/lines.ts'
import { decodePlain } from './decode-html.ts'
import { cutFrontMatter } from './front-matter.ts'
import { MAX_URL, readLinks } from './links.ts'
import { measureMarkdown } from './measure.ts'
import { parseDate } from './metadata/dates.ts'
import { cleanLine, MAX_AUTHOR, MAX_DESCRIPTION, MAX_NAME, MAX_TITLE } from './metadata/line.ts'
import { readLinkHeader } from './metadata/link-header.ts'
import { readRobots } from './metadata/robots.ts'
import { alternatesOf, canonicalOf } from './metadata.ts'
import { saysNotFound } from './refuse/soft-404.ts'
import { isAnswer } from './refuse.ts'
import { createResolver } from './resolve.ts'
import { surveyDocument } from './survey.ts'
import { cleanMarkdown } from './text/markdown-source.ts'
import { writePlain } from './text/plain-source.ts'
import { createSections } from './write/sections.ts'

/** How a text is read. */
export interface TextOptions {
  /** Whether its headings and links are those of Markdown. */
  readonly isMarkdown: boolean
  /** Whether people wrote it so, and what shows it gives anchors to headings; a document that was converted has its own. */
  readonly isWritten: boolean
  readonly sha256?: Sha256 | undefined
}

/** A server that has nothing to send says so in fewer characters. */
const SHORT_LINE = 100

/**
 * Makes a page of an answer that is Markdown or plain text already. Markdown stays as its author wrote it, without front
 * matter and without what nobody would see, and with its raw HTML escaped.
 */
export function extractText(snapshot: Snapshot, { isMarkdown, isWritten, sha256 }: TextOptions): Extraction {
  const { url, body, headers = {}, known = {} } = snapshot
  const { fields, lines } = cutFrontMatter(splitLines(decodePlain(body, headers['content-type'] ?? '')))
  const source = trimLines(lines)
  const [line = ''] = source
  if (isAnswer(snapshot) && source.length === 1 && line.length < SHORT_LINE && saysNotFound(line)) {
    return noPage('soft_404', `says "${line.trim()}"`)
  }
  const { text, shown, hiddenChars } = isMarkdown ? readMarkdown(source) : readPlain(source)
  if (text.length === 0) return noPage('empty', 'no text')
  const markdown = `${text.join('\n')}\n`
  const headings = isMarkdown ? readSections(text) : []
  const sections = isWritten ? withHeadingAnchors(headings) : headings
  const heading = sections.find((section) => section.level === 1) ?? sections[0]
  const links = readLinkHeader(headers['link'] ?? '')
  const field = (name: string, most: number) => cleanLine(fields.get(name) ?? '', most)
  const firstLine = isMarkdown ? (text[0] ?? '') : line
  return {
    type: 'page',
    page: {
      url,
      title:
        field('title', MAX_TITLE) ??
        cleanLine(known.title ?? '', MAX_TITLE) ??
        cleanLine(heading?.title ?? firstLine, MAX_TITLE) ??
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
      links: withKnown(linksIn(shown, url, isMarkdown), known.links ?? [], url),
      ...measureMarkdown(markdown, sha256),
      hiddenChars,
    },
    removals: [],
  }
}

function noPage(reason: NoPageReason, detail: string): Extraction {
  return { type: 'no-page', reason, detail, target: null, links: [], removals: [] }
}

/** Lines without the blank ones around them. */
function trimLines(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => !isBlank(line))
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1)
}

/** Text as it is passed on, as lines and before its HTML is escaped. */
interface ReadText {
  readonly text: readonly string[]
  readonly shown: string
  readonly hiddenChars: number
}

function readMarkdown(lines: readonly string[]): ReadText {
  const { shown, escaped, hiddenChars } = cleanMarkdown(lines)
  return { text: trimLines(splitLines(escaped)), shown, hiddenChars }
}

function readPlain(lines: readonly string[]): ReadText {
  if (lines.length === 0) return { text: [], shown: '', hiddenChars: 0 }
  const { markdown, hiddenChars } = writePlain(lines)
  return { text: splitLines(markdown), shown: lines.join('\n'), hiddenChars }
}

/** The headings of Markdown as a tree. */
function readSections(lines: readonly string[]): Section[] {
  const headings = [...parseBlocks(lines)].filter(({ type }) => type === 'heading')
  return createSections(
    lines,
    headings.map(({ text, level, open }) => ({ title: text, level, anchor: null, startLine: open + 1 })),
  )
}

/** Links are looked for in so much of a text; rendering takes many times its size. */
const MAX_RENDERED = 5_000_000

const renderer = new MarkdownIt({ html: true, linkify: true })
renderer.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

/** What a browser would have as links, had it been given the text as HTML. */
function linksIn(text: string, url: string, isMarkdown: boolean): Link[] {
  const clipped = clipText(text, MAX_RENDERED)
  const root = parseHtml(isMarkdown ? renderer.render(clipped) : renderer.renderInline(clipped))
  return readLinks(surveyDocument(root), url, [root])
}

/** Links with those that only whoever fetched the text knows of, each address once. */
function withKnown(links: readonly Link[], known: readonly string[], url: string): Link[] {
  const resolve = createResolver(url)
  const all = new Map(links.map((link) => [link.url, link]))
  for (const address of known.map(resolve)) {
    if (address === '' || address.length > MAX_URL || all.has(address)) continue
    all.set(address, { url: address, text: '', rel: [], isContent: false })
  }
  return [...all.values()]
}
