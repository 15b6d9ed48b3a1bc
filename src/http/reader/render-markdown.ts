import MarkdownIt, { type Token } from 'markdown-it'
import footnotes from 'markdown-it-footnote'
import { createWordMarker, type MarkedPart } from '../../core/retrieval/mark-words.ts'
import { capitalize } from '../../core/text/capitalize.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { anchorId } from '../../core/url/reader-url.ts'
import { colorCode } from './color-code.ts'
import { readHtmlText } from './html-text.ts'

/** Where a link leads: to another page of the library, or out of it. */
export interface LinkTarget {
  readonly href: string
  readonly isOutside: boolean
}

/** How to render a text. */
export interface RenderOptions {
  /** The level of the first headings; below them every level is one deeper than the one above, as screen readers expect. */
  readonly headingLevel: number
  /** Words to mark. */
  readonly terms: readonly string[]
  /** The target of a link; null for one that must not be followed, of which only the text is shown. */
  readonly resolveLink: (href: string) => LinkTarget | null
  /** Anchors of lines; absent where several texts share a page. */
  readonly lines?: LineOptions
}

/** How lines become anchors. */
export interface LineOptions {
  /** The number of the first line. */
  readonly first: number
  /** The passage to highlight. */
  readonly passage: LineRange | null
  /** The anchors that the original page has at a line. */
  readonly anchorsAt: (line: number) => readonly string[]
  /** A heading with this text on the first line is left out, because the page shows it as its title. */
  readonly title: string
}

/** Lines, from 1, inclusive. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/** Parsed Markdown. */
export interface ParsedMarkdown {
  readonly tokens: Token[]
  /** The targets of its links. */
  readonly hrefs: ReadonlySet<string>
}

/** Longer labels are no footnotes. */
const MAX_LABEL_CHARS = 200

const parser = new MarkdownIt({ html: true, linkify: true, maxNesting: 50 }).use(footnotes)
// The last rule would move notes to the end and drop those without a reference. The other is not part of GitHub's Markdown.
parser.disable(['footnote_tail', 'footnote_inline'])
// The rule for references looks for the end of each label in the whole rest of the line, which takes seconds for ten thousand of `[^`.
parser.inline.ruler.before('footnote_ref', 'footnote_limit', (state, silent) => {
  const { src, pos } = state
  if (!src.startsWith('[^', pos) || src.slice(pos, pos + MAX_LABEL_CHARS).includes(']')) return false
  if (!silent) state.pending += '[^'
  state.pos += 2
  return true
})
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
// Every link is parsed as one; `resolveLink` decides what may be followed.
parser.validateLink = () => true

/** Parses Markdown that is shown to a user. Invisible characters and those that reverse the direction of writing are replaced. */
export function parseMarkdown(markdown: string): ParsedMarkdown {
  const text = sanitizeText(markdown)
  // The note of a number may be in another part of the page.
  const numbers = [...text.matchAll(/\[\^(\d{1,4})\]/g)].map(([, label]) => [`:${label}`, -1])
  const tokens = parser.parse(text, { footnotes: { refs: Object.fromEntries(numbers) } })
  const hrefs = new Set<string>()
  for (const { children } of tokens) {
    for (const child of children ?? []) {
      const href = child.type === 'link_open' ? child.attrGet('href') : child.type === 'image' && child.attrGet('src')
      if (typeof href === 'string' && href !== '') hrefs.add(href)
    }
  }
  return { tokens, hrefs }
}

/** Markdown without its first heading, if that is one of those that are shown above the text. */
export function withoutHeading(parsed: ParsedMarkdown, shownHeadings: readonly string[]): ParsedMarkdown {
  const [first, inline, , ...rest] = parsed.tokens
  const isShown = first?.type === 'heading_open' && shownHeadings.includes(textOf(inline))
  return isShown ? { ...parsed, tokens: rest } : parsed
}

/** Renders Markdown as HTML. Foreign text and addresses are escaped, and the elements and attributes are those of this file alone. */
export function renderMarkdown({ tokens }: ParsedMarkdown, options: RenderOptions): string {
  return new Renderer(options).renderBlocks(tokens)
}

/** Renders the lines of a file as a program in the given language. */
export function renderCode(text: string, language: string, options: RenderOptions): string {
  return new Renderer(options).writeCode(sanitizeText(text), language, options.lines?.first ?? 1, true)
}

const { escapeHtml } = parser.utils

class Renderer {
  readonly #options: RenderOptions
  readonly #lines: LineOptions | undefined
  readonly #mark: (text: string) => readonly MarkedPart[]
  readonly #usedIds = new Set<string>()
  /** The levels of the headings around the current one. */
  readonly #levels: number[] = []
  /** The elements that close the open links. */
  readonly #openLinks: string[] = []

  constructor(options: RenderOptions) {
    this.#options = options
    this.#lines = options.lines
    this.#mark = createWordMarker(options.terms)
  }

  renderBlocks(tokens: readonly Token[]): string {
    return tokens.map((token, i) => this.#writeBlock(token, tokens, i)).join('')
  }

  #writeBlock(token: Token, tokens: readonly Token[], i: number): string {
    const line = this.#lineOf(token)
    switch (token.type) {
      case 'inline':
        return this.#writeInline(token.children ?? [], line)
      case 'fence':
        // The first line of a fence is its marker.
        return this.writeCode(token.content, token.info.trim().split(/[\s,{]/, 1)[0] ?? '', line + 1, false, line)
      case 'code_block':
        return this.writeCode(token.content, '', line, false)
      case 'html_block':
        return this.#writeHtmlBlock(token, line)
      case 'hr':
        return `<hr${this.#idAt(line)}>`
      case 'heading_open':
        return this.#openHeading(token, tokens[i + 1], line)
      case 'heading_close':
        return this.#levels.length === 0 ? '' : `</h${this.#depth()}>\n`
      case 'paragraph_open':
        return token.hidden ? '' : `<p${this.#blockAttributes(token, line)}>${this.#lineLink(line)}`
      case 'paragraph_close':
        return token.hidden ? (tokens[i + 1]?.type.endsWith('_open') ? '\n' : '') : '</p>\n'
      case 'list_item_open':
        return `<li${this.#itemAttributes(line)}>`
      case 'ordered_list_open':
        return `<ol${startOf(token)}>\n`
      case 'tr_open':
        return `<tr${this.#blockAttributes(token, line)}>`
      case 'th_open':
      case 'td_open':
        return `<${cellName(token, tokens[i + 1])}${alignmentOf(token)}>`
      case 'th_close':
        return `</${cellName(token, tokens[i - 1])}>`
      case 'table_open':
        return '<div class="table" tabindex="0"><table>\n'
      case 'table_close':
        return '</table></div>\n'
      case 'footnote_reference_open':
        return `<div class="footnote"${this.#noteId(token)}><span class="note-mark">${labelOf(token)}</span>`
      case 'footnote_reference_close':
        return '</div>\n'
      default:
        return PLAIN_ELEMENTS.has(token.tag) ? `<${token.nesting < 0 ? '/' : ''}${token.tag}>\n` : ''
    }
  }

  #writeInline(tokens: readonly Token[], firstLine: number): string {
    let line = firstLine
    return tokens
      .map((token, i) => {
        const kind = i === 0 && token.type === 'text' ? NOTE.exec(token.content)?.[1] : undefined
        if (kind !== undefined) return `<strong class="note">${capitalize(kind.toLowerCase())}</strong>`
        if (token.type === 'softbreak' || token.type === 'hardbreak') {
          line++
          const anchor = this.#idAt(line)
          return `${token.type === 'hardbreak' ? '<br>' : ''}\n${anchor === '' ? '' : `<span${anchor}></span>`}`
        }
        return this.#writeInlineToken(token)
      })
      .join('')
  }

  #writeInlineToken(token: Token): string {
    switch (token.type) {
      case 'text':
        return this.#writeMarked(token.content)
      case 'code_inline':
        return `<code>${this.#writeMarked(token.content)}</code>`
      case 'link_open':
        return this.#openLink(String(token.attrGet('href') ?? ''))
      case 'link_close':
        return this.#openLinks.pop() ?? ''
      case 'image':
        return this.#writeImage(token)
      case 'footnote_ref':
        return `<sup>${this.#noteLink(token)}</sup>`
      case 'html_inline':
        return /^<br\s*\/?>$/i.test(token.content) ? '<br>' : this.#writeMarked(readHtmlText(token.content))
      default:
        return INLINE_ELEMENTS.has(token.tag) ? `<${token.nesting < 0 ? '/' : ''}${token.tag}>` : ''
    }
  }

  #openLink(href: string): string {
    const target = this.#options.resolveLink(href)
    this.#openLinks.push(target === null ? '</span>' : '</a>')
    return target === null ? '<span>' : `<a ${writeTarget(target)}>`
  }

  /** A page shows no images, because that would be a request to another site: the description links to the image. */
  #writeImage(token: Token): string {
    const text = textOf(token)
    const label = `<span class="image">${this.#writeMarked(text === '' ? 'Image' : text)}</span>`
    const target = this.#openLinks.length > 0 ? null : this.#options.resolveLink(String(token.attrGet('src') ?? ''))
    return target?.isOutside === true ? `<a ${writeTarget(target)}>${label}</a>` : label
  }

  #writeHtmlBlock(token: Token, line: number): string {
    const text = readHtmlText(token.content).trim()
    return text === '' ? '' : `<p class="html"${this.#idAt(line)}>${this.#writeMarked(text)}</p>\n`
  }

  #openHeading(token: Token, inline: Token | undefined, line: number): string {
    const level = Number(token.tag.slice(1))
    while ((this.#levels.at(-1) ?? 0) >= level) this.#levels.pop()
    this.#levels.push(level)
    dropAttributeSuffix(inline)
    const classes = this.#isInPassage(line, line) ? `h${level} in-passage` : `h${level}`
    const isTitle = this.#lines?.first === 1 && line === 1 && textOf(inline) === this.#lines.title.trim()
    return `<h${this.#depth()} class="${isTitle ? 'title' : classes}"${this.#idAt(line)}>${this.#writeAnchors(line)}${this.#lineLink(line)}`
  }

  #depth(): number {
    return Math.min(6, this.#options.headingLevel + this.#levels.length - 1)
  }

  /** Writes the lines of a program. A file has visible line numbers; a code block has its anchors only. */
  writeCode(code: string, language: string, firstLine: number, isFile: boolean, blockLine = firstLine): string {
    const rows = cutRows(code.replace(/\n$/, ''), language).map((parts, i) => {
      const line = firstLine + i
      const content = parts.map(({ text, token }) => this.#writeToken(text, token)).join('')
      if (this.#lines === undefined) return content
      const number = isFile
        ? `<a class="line-number" href="#L${line}" tabindex="-1" aria-hidden="true" data-line="${line}"></a>`
        : ''
      const classes = this.#isInPassage(line, line) ? 'line in-passage' : 'line'
      return `<span class="${classes}"${this.#idAt(line)}>${number}${content}</span>`
    })
    const id = blockLine === firstLine ? '' : this.#idAt(blockLine)
    return `<pre${isFile ? ' class="file"' : ''}${id} tabindex="0"><code>${rows.join('\n')}\n</code></pre>\n`
  }

  #writeToken(text: string, token: string | null): string {
    const content = this.#writeMarked(text)
    return token === null ? content : `<span class="code-${token}">${content}</span>`
  }

  #writeMarked(text: string): string {
    return this.#mark(text)
      .map((part) => (part.isMarked ? `<mark>${escapeHtml(part.text)}</mark>` : escapeHtml(part.text)))
      .join('')
  }

  /** The number of the first line of a block. */
  #lineOf({ map }: Token): number {
    return (this.#lines?.first ?? 1) + (map?.[0] ?? 0)
  }

  #isInPassage(start: number, end: number): boolean {
    const passage = this.#lines?.passage
    return passage !== undefined && passage !== null && start <= passage.end && end >= passage.start
  }

  #blockAttributes(token: Token, line: number): string {
    const lastLine = (this.#lines?.first ?? 1) + (token.map?.[1] ?? 1) - 1
    return `${this.#isInPassage(line, lastLine) ? ' class="in-passage"' : ''}${this.#idAt(line)}`
  }

  /** The passage highlights an item that begins in it, so that a list around the passage stays as it is. */
  #itemAttributes(line: number): string {
    return `${this.#isInPassage(line, line) ? ' class="in-passage"' : ''}${this.#idAt(line)}`
  }

  /** ` id="L12"`, for the first element of a line. */
  #idAt(line: number): string {
    const id = `L${line}`
    if (this.#lines === undefined || this.#usedIds.has(id)) return ''
    this.#usedIds.add(id)
    return ` id="${id}"`
  }

  /** The id of a footnote; references of other texts on the page must not lead to it. */
  #noteId(token: Token): string {
    return this.#lines === undefined ? '' : ` id="note-${labelOf(token)}"`
  }

  #noteLink(token: Token): string {
    const label = labelOf(token)
    return this.#lines === undefined || this.#openLinks.length > 0 ? label : `<a href="#note-${label}">${label}</a>`
  }

  /** Elements with the anchors that the original page has at this line. */
  #writeAnchors(line: number): string {
    const anchors = this.#lines?.anchorsAt(line) ?? []
    return anchors.map((anchor) => `<span id="${escapeHtml(anchorId(anchor))}"></span>`).join('')
  }

  #lineLink(line: number): string {
    if (this.#lines === undefined) return ''
    return `<a class="line-link" href="#L${line}" tabindex="-1" aria-hidden="true" data-line="${line}"></a>`
  }
}

/** The first line of a note, as GitHub writes it. */
const NOTE = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$/

/** Elements of blocks that are written without attributes. */
const PLAIN_ELEMENTS: ReadonlySet<string> = new Set(['ul', 'ol', 'li', 'blockquote', 'thead', 'tbody', 'tr', 'td'])

const INLINE_ELEMENTS: ReadonlySet<string> = new Set(['em', 'strong', 's'])

function writeTarget({ href, isOutside }: LinkTarget): string {
  return `href="${escapeHtml(href)}"${isOutside ? ' rel="noopener noreferrer nofollow"' : ''}`
}

function startOf(token: Token): string {
  const start = Number(token.attrGet('start') ?? 1)
  return start === 1 ? '' : ` start="${start}"`
}

/** A header cell without text is an ordinary cell, because it would announce nothing. */
function cellName(token: Token, inline: Token | undefined): string {
  return token.tag === 'th' && inline?.type === 'inline' && inline.content !== '' ? 'th' : 'td'
}

/** The alignment of a cell as a class: the content security policy forbids the style that the parser gives it. */
function alignmentOf(token: Token): string {
  const alignment = /text-align:(center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1]
  return alignment === undefined ? '' : ` class="${alignment}"`
}

/** The label of a footnote or of a reference to it. */
function labelOf({ meta }: Token): string {
  return escapeHtml(String(meta?.['label'] ?? ''))
}

/** The text of a heading or an image, without markup. */
function textOf(token: Token | undefined): string {
  return parser.renderer.renderInlineAsText(token?.children ?? [], parser.options, {}).trim()
}

/** Removes a suffix such as `{#id}` from a heading. */
function dropAttributeSuffix(inline: Token | undefined): void {
  const last = inline?.children?.at(-1)
  if (last?.type === 'text') last.content = last.content.replace(/(?<!\s)\s*\{[#.][^{}]*\}\s*$/, '')
}

/** Cuts colored code into its lines. */
function cutRows(code: string, language: string): ReturnType<typeof colorCode>[] {
  const rows: { text: string; token: ReturnType<typeof colorCode>[number]['token'] }[][] = [[]]
  for (const { text, token } of colorCode(code, language)) {
    text.split('\n').forEach((part, i) => {
      if (i > 0) rows.push([])
      if (part !== '') rows.at(-1)?.push({ text: part, token })
    })
  }
  return rows
}
