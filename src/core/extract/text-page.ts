import MarkdownIt from 'markdown-it'
import { parseHtml } from '../html/parse-html.ts'
import { parseBlocks } from '../markdown/blocks.ts'
import type { Extraction, Link, Section, Sha256, Snapshot } from '../model.ts'
import { clipText, isBlank, splitLines } from '../text/lines.ts'
import { decodePlain } from './decode-html.ts'
import { cutFrontMatter } from './front-matter.ts'
import { readLinks } from './links.ts'
import { measureMarkdown } from './measure.ts'
import { parseDate } from './metadata/dates.ts'
import { readRobots } from './metadata/robots.ts'
import { saysNotFound } from './refuse/soft-404.ts'
import { createSections } from './write/sections.ts'

/** How a text is read. */
export interface TextOptions {
  /** Whether its headings and links are those of Markdown. */
  readonly isMarkdown: boolean
  readonly sha256?: Sha256 | undefined
}

const MAX_TITLE = 200

/** A server that has nothing to send says so in fewer characters. */
const SHORT_LINE = 100

/** Makes a page of an answer that is Markdown or plain text already. The text stays as it is, without front matter. */
export function extractText(snapshot: Snapshot, { isMarkdown, sha256 }: TextOptions): Extraction {
  const { url, body, headers = {} } = snapshot
  const { fields, lines } = cutFrontMatter(splitLines(decodePlain(body, headers['content-type'] ?? '')))
  const first = lines.findIndex((line) => !isBlank(line))
  const nothing = { type: 'no-page', target: null, links: [], removals: [] } as const
  if (first < 0) return { ...nothing, reason: 'empty', detail: 'no text' }
  const text = lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1)
  const [line = ''] = text
  if (text.length === 1 && line.length < SHORT_LINE && saysNotFound(line)) {
    return { ...nothing, reason: 'soft_404', detail: `says "${line.trim()}"` }
  }
  const markdown = `${text.join('\n')}\n`
  const sections = isMarkdown ? readSections(text) : []
  const heading = sections.find((section) => section.level === 1) ?? sections[0]
  return {
    type: 'page',
    page: {
      url,
      title: clipText(fields.get('title') ?? heading?.title ?? line.trim(), MAX_TITLE),
      description: fields.get('description') ?? null,
      author: fields.get('author') ?? null,
      publishedAt: parseDate(fields.get('date') ?? ''),
      modifiedAt: parseDate(fields.get('updated') ?? fields.get('lastmod') ?? ''),
      language: fields.get('lang') ?? headers['content-language']?.split(',')[0]?.trim() ?? null,
      canonical: null,
      alternates: [],
      robots: readRobots([], headers['x-robots-tag'] ?? ''),
      generator: null,
      markdown,
      sections,
      links: linksIn(markdown, url, isMarkdown),
      ...measureMarkdown(markdown, sha256),
      hiddenChars: 0,
    },
    removals: [],
  }
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
  return readLinks(root, url, [root])
}
