import { closesFence, type Fence, FenceReader, readFence } from '../../markdown/fences.ts'
import { CODE_INDENT, indentOf, isBlank } from '../../text/lines.ts'
import { fenceFor } from '../write/escape.ts'
import { readAlert } from './components.ts'
import { readDirective, writeDirective } from './directives.ts'
import { cleanMarks, readInfo } from './fence-info.ts'
import { IndentStack } from './indent-stack.ts'
import { admonitionOf, isIndentedBlockStart, writeAdmonition, writeItems } from './layout.ts'
import { removeModuleStatements } from './module-statements.ts'
import { ProseReader, type TextFacts } from './prose-reader.ts'
import { Scanner } from './scanner.ts'
import { closedTemplateTags, readTemplateTag } from './template-tags.ts'

/** Options for cleaning Markdown of generator syntax. */
export interface DialectOptions {
  /** Whether the file is declared MDX: all braces hold expressions, and indented text is never code. */
  readonly isMdx: boolean
  /** The front matter of the file. */
  readonly fields: ReadonlyMap<string, string>
}

/** The result of cleaning: the text as CommonMark, and what was found in it. */
export interface CleanDialects {
  readonly lines: readonly string[]
  /** Metadata of the page from its `export` statements. */
  readonly exportedMetadata: ReadonlyMap<string, string>
  /** Number of characters in comments that were left out. */
  readonly hiddenChars: number
  /** Number of characters that were rescanned to find where a construct ends. */
  readonly scannedChars: number
}

/**
 * Converts the dialects of site generators to plain Markdown: MDX, and the syntax that Docusaurus, VitePress, MkDocs, MyST, Hugo, Jekyll,
 * GitBook and others add. No code in the text is run. Admonitions, tabs and titles get the same form as from HTML extraction; the fragment
 * of a heading follows it as `{#id}`. Text without such syntax, and all code, stays unchanged to the byte.
 */
export function cleanDialects(lines: readonly string[], { isMdx, fields }: DialectOptions): CleanDialects {
  const text = lines.join('\n')
  if (!isMdx && !DIALECT_HINT.test(text)) return { lines, exportedMetadata: new Map(), hiddenChars: 0, scannedChars: 0 }
  const scanner = new Scanner(text.length)
  const modules = removeModuleStatements(lines, createCodeLineTest(lines), scanner)
  const facts: TextFacts = {
    isMdx: isMdx || modules.isModule,
    pairedTags: pairedTags(text),
    closedTemplateTags: closedTemplateTags(text),
    isMyst: MYST.test(text),
    fields: new Map([...fields, ...modules.exportedMetadata]),
  }
  const cleaner = new BlockReader(facts, scanner, 0)
  const cleaned = cleaner.read(modules.lines)
  return {
    lines: cleaned,
    exportedMetadata: modules.exportedMetadata,
    hiddenChars: cleaner.hiddenChars,
    scannedChars: scanner.scannedChars,
  }
}

/** Matches a text that may have dialect syntax. Any other text is returned at once, which saves time. */
const DIALECT_HINT =
  /[{<]|^[ \t]*(?::{2,}|!!!|\?\?\?|===[!+]? |\/{3,}|>[> \t]*\[!|import\s|export\s|\[\[?_?toc|\*\[|\([\w-]+\)=)|^[ \t]*(?:`{3}|~{3}).*[ \t{=[:]|\[!code|---cut|\^\?|highlight-|:[a-z]+-[a-z\d-]+:|\+\+[a-z]/im

/** Syntax that only MyST has: targets, directives and roles. */
const MYST = /^\([\w.:-]+\)=[ \t]*$|^[ \t]*(?:`{3,}|:{3,})\{[a-z][\w:-]*\}|\{[a-z][\w:+-]*\}`/m
/** Template tags with code in them. */
const CODE_TAGS = new Set(['highlight', 'codeblock', 'prism', 'mermaid'])

/** Creates a test for whether a line is in a fence. */
function createCodeLineTest(lines: readonly string[]): (line: number) => boolean {
  const fences = new FenceReader()
  const isCode = lines.map((line) => fences.read(line) !== undefined)
  return (line) => isCode[line] === true
}

/** Names of tags that a text both opens and closes. */
function pairedTags(text: string): ReadonlySet<string> {
  const opened = new Set<string>()
  const closed = new Set<string>()
  for (const [, slash, name = ''] of text.matchAll(/<(\/?)([A-Za-z][\w.:-]{0,100})/g))
    (slash === '/' ? closed : opened).add(name)
  return new Set([...opened].filter((name) => closed.has(name)))
}

/** Deepest nesting of blocks that is read. */
const MAX_DEPTH = 8
const QUOTE = /^( {0,3}>)( ?)/
const TARGET = /^\(([\w.:-]{1,100})\)=\s*$/
/** HTML blocks that end at a closing tag or at `-->`, and not at a blank line. */
const RAW_BLOCK_PATTERNS: readonly (readonly [open: RegExp, close: RegExp])[] = [
  [/^\s*<!--/, /-->/],
  [/^\s*<(?:pre|CodeBlock)\b/, /<\/(?:pre|CodeBlock)\s*>/],
  [/^\s*<script\b/i, /<\/script\s*>/i],
  [/^\s*<style\b/i, /<\/style\s*>/i],
  [/^\s*<svg\b/i, /<\/svg\s*>/i],
  [/^\s*<table\b/i, /<\/table\s*>/i],
]
const MAX_RAW_LINES = 5000

/** Walks the lines and separates code from prose. */
class BlockReader {
  hiddenChars = 0
  readonly #facts: TextFacts
  readonly #scanner: Scanner
  readonly #depth: number
  readonly #out: ProseReader
  readonly #columns = new IndentStack()
  readonly #raw = new RawBlocks()
  #prose: string[] = []
  /** Containers with at least this many colons have no closing line in the rest of the text. */
  #unclosed = Number.POSITIVE_INFINITY
  /** The fragment that a line `(id)=` gives to the heading after it. */
  #target = ''

  constructor(facts: TextFacts, scanner: Scanner, depth: number) {
    this.#facts = facts
    this.#scanner = scanner
    this.#depth = depth
    this.#out = new ProseReader(facts, scanner)
  }

  read(lines: readonly string[]): string[] {
    let isAfterBlank = true
    for (let at = 0; at < lines.length; ) {
      const next = this.#take(lines, at, isAfterBlank)
      isAfterBlank = isBlank(lines[next - 1] ?? '') || next > at + 1
      at = next
    }
    this.#flush()
    this.#out.finish()
    this.hiddenChars += this.#out.hiddenChars
    return writeItems(this.#out.items, this.#facts.isMdx)
  }

  /** Handles the block or the line at an index; returns the index after it. */
  #take(lines: readonly string[], at: number, isAfterBlank: boolean): number {
    const line = lines[at] ?? ''
    if (isBlank(line)) {
      this.#prose.push(line)
      return at + 1
    }
    this.#columns.leave(line)
    const indent = indentOf(line) - this.#columns.current
    if (indent >= CODE_INDENT && isAfterBlank && !this.#facts.isMdx) {
      this.#flush()
      if (!this.#out.isInComponent) return this.#indentedCode(lines, at)
    }
    const fence = readFence(line) ?? readColonFence(line)
    if (fence !== undefined && isBlank(fence.indent) && this.#mayBeFence(indent)) {
      const end = this.#fence(lines, at, fence)
      if (end !== undefined) return end
    }
    const templateEnd = this.#templateCode(lines, at)
    if (templateEnd !== undefined) return templateEnd
    const rawEnd = isAfterBlank || line.includes('<!--') ? this.#raw.endOf(lines, at) : undefined
    if (rawEnd !== undefined) {
      for (const rawLine of lines.slice(at, rawEnd)) this.#prose.push(rawLine)
      return rawEnd
    }
    if (QUOTE.test(line) && this.#depth < MAX_DEPTH) return this.#quote(lines, at)
    const [, target] = TARGET.exec(line) ?? []
    if (target !== undefined && isHeadingNext(lines, at + 1)) {
      this.#target = target
      return this.#drop(lines, at, at + 1)
    }
    if (this.#facts.isMyst && /^(?:%(?:\s|$)|\+\+\+\s*$|\+\+\+ *\{)/.test(line)) {
      this.hiddenChars += line.startsWith('%') ? line.slice(1).trim().length : 0
      return this.#drop(lines, at, at + 1)
    }
    if (/^[-*+]\s+\S/.test(line) && /^\{:\s*toc\b[^}]*\}\s*$/i.test(lines[at + 1] ?? ''))
      return this.#drop(lines, at, at + 2)
    const calloutEnd = this.#callout(lines, at)
    if (calloutEnd !== undefined) return calloutEnd
    this.#prose.push(this.#withTarget(line))
    if (isIndentedBlockStart(line)) this.#columns.push(indentOf(line) + CODE_INDENT)
    else this.#columns.enter(line)
    return at + 1
  }

  /** The index after lines that are dropped. If blank lines surround them, one of these is dropped too. */
  #drop(lines: readonly string[], start: number, end: number): number {
    const isBetweenBlanks =
      (start === 0 || isBlank(lines[start - 1] ?? '')) && isBlank(lines[end] ?? '') && end < lines.length
    return isBetweenBlanks ? end + 1 : end
  }

  /** `{: .note }` above a paragraph or quotation turns it into an admonition. */
  #callout(lines: readonly string[], at: number): number | undefined {
    const [, word = ''] = /^\{:\s*\.([a-z]+)(?:-title)?\s*\}\s*$/.exec(lines[at] ?? '') ?? []
    const box =
      word === '' || isBlank(lines[at + 1] ?? '') || this.#depth >= MAX_DEPTH ? undefined : admonitionOf(word, '')
    if (box === undefined) return undefined
    let end = at + 1
    while (end < lines.length && !isBlank(lines[end] ?? '')) end++
    const inner = lines.slice(at + 1, end).map((line) => line.replace(QUOTE, ''))
    this.#box(writeAdmonition({ ...box, title: '' }, this.#nested(inner)))
    return end
  }

  #box(lines: readonly string[]): void {
    this.#flush()
    this.#out.addGap()
    if (lines.length > 0) this.#out.addVerbatim(lines, true)
    this.#out.addGap()
  }

  /** Code between two template tags: `{{< highlight go >}}`, `{% highlight ruby %}`, `{{< tab header="Go" lang="go" >}}`. */
  #templateCode(lines: readonly string[], at: number): number | undefined {
    const line = lines[at] ?? ''
    const text = line.trimStart()
    if (!/^\{[{%]/.test(text)) return undefined
    const tag = readTemplateTag(text, 0, this.#scanner)
    if (tag === undefined || tag.isClosing || !isBlank(text.slice(tag.end))) return undefined
    const language = tag.attributes.get('lang') ?? (CODE_TAGS.has(tag.name) ? (tag.values[0] ?? '') : undefined)
    if (language === undefined || !this.#facts.closedTemplateTags.has(tag.name)) return undefined
    const closing = new RegExp(`^\\s*\\{[{%][<%]?-?\\s*(?:/|end)\\s*${tag.name}\\b`)
    const length = lines.slice(at + 1, at + MAX_RAW_LINES).findIndex((codeLine) => closing.test(codeLine))
    this.#scanner.spend(length < 0 ? MAX_RAW_LINES : length)
    if (length < 0) return undefined
    const code = lines.slice(at + 1, at + 1 + length)
    const fence = fenceFor(code.join('\n'), 3)
    const title = tag.attributes.get('header') ?? tag.attributes.get('title') ?? ''
    const written = [fence + (/^[\w+#.-]{1,30}$/.test(language) ? language : ''), ...code, fence]
    this.#flush()
    this.#out.addTitledCode('', title, written)
    return at + length + 2
  }

  #mayBeFence(indent: number): boolean {
    if (indent < CODE_INDENT || this.#facts.isMdx) return true
    this.#flush()
    return this.#out.isInComponent
  }

  #withTarget(line: string): string {
    if (this.#target === '') return line
    const id = this.#target
    this.#target = ''
    return /^#{1,6}\s/.test(line) && !/\{#[^{}]*\}\s*$/.test(line) ? `${line} {#${id}}` : line
  }

  #flush(): void {
    if (this.#prose.length === 0) return
    this.#out.addProse(`${this.#prose.join('\n')}\n`)
    this.#prose = []
  }

  #indentedCode(lines: readonly string[], start: number): number {
    const minIndent = this.#columns.current + CODE_INDENT
    let end = start + 1
    for (let at = end; at < lines.length; at++) {
      const line = lines[at] ?? ''
      if (isBlank(line)) continue
      if (indentOf(line) < minIndent) break
      end = at + 1
    }
    this.#out.addVerbatim(lines.slice(start, end), false)
    return end
  }

  /**
   * Handles a fence; returns the index of the line after it. Returns undefined for a container between colons that is not a MyST directive
   * or has no closing line.
   */
  #fence(lines: readonly string[], start: number, fence: Fence): number | undefined {
    const isContainer = fence.marker.startsWith(':')
    if (isContainer && (fence.marker.length >= this.#unclosed || readDirective(fence.info, []) === undefined))
      return undefined
    const end = this.#endOfFence(lines, start, fence)
    const isClosed = end > start + 1 && closesFence(lines[end - 1] ?? '', fence)
    const code = lines.slice(start + 1, isClosed ? end - 1 : end)
    if (isContainer && !isClosed) {
      this.#unclosed = fence.marker.length
      return undefined
    }
    this.#flush()
    if (this.#out.isHidden) {
      this.#out.text(`${lines.slice(start, end).join('\n')}\n`)
      return end
    }
    const directive = this.#depth < MAX_DEPTH ? readDirective(fence.info, code) : undefined
    if (directive !== undefined) {
      const written = writeDirective(directive, (body) => this.#nested(body))
      this.#box(written.map((line) => (line === '' ? '' : fence.indent + line)))
      return end
    }
    const { language, title, isDialect, isTwoslash } = readInfo(fence.info, this.#out.isInComponent)
    const marked = cleanMarks(code, isTwoslash)
    const opening = marked.isDiff ? 'diff' : language
    const first = isDialect || marked.isDiff ? fence.indent + fence.marker + opening : (lines[start] ?? '')
    const written = [first, ...marked.code, ...(isClosed ? [lines[end - 1] ?? ''] : [])]
    if (title === '') this.#out.addVerbatim(written, true)
    else this.#out.addTitledCode(fence.indent, title, written)
    return end
  }

  /** The index of the line after a fence. A fence in a list ends with the list at the latest. */
  #endOfFence(lines: readonly string[], start: number, fence: Fence): number {
    const column = this.#columns.current
    for (let at = start + 1; at < lines.length; at++) {
      const line = lines[at] ?? ''
      if (closesFence(line, fence)) return at + 1
      if (
        !this.#facts.isMdx &&
        column > 0 &&
        !isBlank(line) &&
        indentOf(line) < Math.min(column, indentOf(fence.indent))
      )
        return at
    }
    return lines.length
  }

  /** A quotation is cleaned separately, and stays as written if cleaning changes nothing. */
  #quote(lines: readonly string[], start: number): number {
    let end = start
    while (QUOTE.test(lines[end] ?? '')) end++
    const quoted = lines.slice(start, end)
    const inner = quoted.map((line) => line.replace(QUOTE, ''))
    const alert = readAlert(inner[0] ?? '')
    const body = alert === undefined ? inner : inner.slice(1)
    const cleaned = this.#nested(body)
    const indent = /^ */.exec(quoted[0] ?? '')?.[0] ?? ''
    const isSame = cleaned.length === body.length && cleaned.every((line, i) => line === body[i])
    this.#flush()
    const written =
      alert === undefined ? cleaned.map((line) => (line === '' ? '>' : `> ${line}`)) : writeAdmonition(alert, cleaned)
    const isKept =
      isSame && (alert === undefined || written.join('\n') === quoted.join('\n') || isAlertMarker(inner[0] ?? ''))
    this.#out.addVerbatim(isKept ? quoted : written.map((line) => indent + line), false)
    return end
  }

  #nested(lines: readonly string[]): string[] {
    const reader = new BlockReader(this.#facts, this.#scanner, this.#depth + 1)
    const cleaned = reader.read(lines)
    this.hiddenChars += reader.hiddenChars
    return cleaned
  }
}

/** Whether a line is the marker of a GitHub alert: `[!NOTE]`. */
function isAlertMarker(line: string): boolean {
  return /^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*$/.test(line.trim())
}

/** `:::{note}`: a directive between colons. */
function readColonFence(line: string): Fence | undefined {
  const [, lead = '', marker, info = ''] = /^([ \t]*)(:{3,})(\{[A-Za-z][\w:+-]*\}.*)$/.exec(line) ?? []
  return marker === undefined ? undefined : { indent: lead, marker, info }
}

function isHeadingNext(lines: readonly string[], from: number): boolean {
  for (let at = from; at < Math.min(lines.length, from + 5); at++) {
    const line = lines[at] ?? ''
    if (!isBlank(line) && !TARGET.test(line)) return /^#{1,6}\s/.test(line)
  }
  return false
}

/** Finds the ends of the HTML blocks in `RAW_BLOCK_PATTERNS`. */
class RawBlocks {
  /** Line ranges already searched without finding the end pattern, by pattern. */
  readonly #searched = new Map<RegExp, { readonly from: number; readonly to: number }>()

  /** The line after the block that begins at a line; undefined if no block begins there, or if it has no end. */
  endOf(lines: readonly string[], start: number): number | undefined {
    const line = lines[start] ?? ''
    const close = RAW_BLOCK_PATTERNS.find(([open]) => open.test(line))?.[1]
    if (close === undefined) return undefined
    const searched = this.#searched.get(close)
    const isKnown = searched !== undefined && searched.from <= start && start < searched.to
    const last = Math.min(lines.length, start + MAX_RAW_LINES)
    for (let at = isKnown ? searched.to : start; at < last; at++) {
      if (close.test(lines[at] ?? '')) return at + 1
    }
    this.#searched.set(close, { from: isKnown ? searched.from : start, to: last })
    return undefined
  }
}
