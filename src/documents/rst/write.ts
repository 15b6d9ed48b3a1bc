import { escapeHtml } from '../../core/html/escape.ts'
import { safeAddress, unwrapParagraph, writeAdmonition, writeCode, writeTable } from '../markup.ts'
import type { Block, Blocks, Field, Term } from './blocks.ts'
import type { RstContext } from './context.ts'
import { noteId, writeInline } from './inline.ts'

/** Writes blocks as HTML. */
export function writeBlocks(blocks: Blocks, context: RstContext): string {
  return new Writer(context).blocks(blocks)
}

class Writer {
  readonly #context: RstContext

  constructor(context: RstContext) {
    this.#context = context
  }

  blocks(blocks: Blocks): string {
    return blocks.map((block) => this.#block(block)).join('')
  }

  #inline(text: string): string {
    return writeInline(text, this.#context)
  }

  #block(block: Block): string {
    switch (block.type) {
      case 'heading': {
        const id = this.#context.resolve(block.names[0] ?? block.text)?.address.slice(1) ?? ''
        return `<h${block.level} id="${escapeHtml(id)}">${this.#inline(block.text)}</h${block.level}>\n`
      }
      case 'paragraph':
        return `<p>${this.#inline(block.text)}</p>\n`
      case 'code':
        return block.code === '' ? '' : this.#caption(block.caption) + writeCode(block.code, block.language)
      case 'parsed':
        return `<pre>${this.#inline(block.text)}</pre>\n`
      case 'list':
        return this.#list(block.start, block.items)
      case 'terms':
        return `<dl>\n${block.items.map((item) => this.#term(item)).join('')}</dl>\n`
      case 'fields':
        return this.#fields(block.items)
      case 'quote':
        return `<blockquote>\n${this.blocks(block.blocks)}</blockquote>\n`
      case 'lines':
        return `<p>${block.lines.map((line) => this.#inline(line)).join('<br>\n')}</p>\n`
      case 'table':
        return this.#table(block)
      case 'rule':
        return '<hr>\n'
      case 'box':
        return writeAdmonition(block.kind, this.#inline(block.title), this.blocks(block.blocks))
      case 'titled':
        return this.#caption(block.title) + this.blocks(block.blocks)
      case 'picture':
        return this.#picture(block.address, block.altText) + this.blocks(block.blocks)
      case 'object':
        return this.#object(block.signatures, block.blocks)
      case 'note':
        return `<aside class="footnote" id="${noteId(block.label)}">${this.blocks(block.blocks)}</aside>\n`
      case 'formula':
        return `<div class="math">\\[${escapeHtml(block.tex)}\\]</div>\n`
      case 'target':
        return ''
    }
  }

  #caption(text: string): string {
    return text === '' ? '' : `<p><strong>${this.#inline(text)}</strong></p>\n`
  }

  #list(start: number | null, items: readonly Blocks[]): string {
    const name = start === null ? 'ul' : 'ol'
    const startAttribute = start === null || start === 1 ? '' : ` start="${start}"`
    const written = items.map((item) => `<li>${unwrapParagraph(this.blocks(item))}</li>\n`)
    return `<${name}${startAttribute}>\n${written.join('')}</${name}>\n`
  }

  #term({ term, isCode, blocks }: Term): string {
    const termHtml = isCode ? `<code>${escapeHtml(term)}</code>` : this.#inline(term)
    return `<dt>${termHtml}</dt>\n<dd>${unwrapParagraph(this.blocks(blocks))}</dd>\n`
  }

  #fields(items: readonly Field[]): string {
    const written = items
      .filter(({ name }) => !FILE_METADATA_FIELDS.has(name.toLowerCase()))
      .map(
        ({ name, blocks }) => `<dt>${this.#fieldName(name)}</dt>\n<dd>${unwrapParagraph(this.blocks(blocks))}</dd>\n`,
      )
    return written.length === 0 ? '' : `<dl>\n${written.join('')}</dl>\n`
  }

  /** `param str name` → Parameter `name` (str). */
  #fieldName(name: string): string {
    const [kind = '', ...words] = name.split(/\s+/)
    const title = FIELD_TITLES.get(kind)
    if (title === undefined) return this.#inline(name)
    const last = words.pop()
    if (last === undefined) return title
    const type = words.length === 0 ? '' : ` (${escapeHtml(words.join(' '))})`
    return `${title} <code>${escapeHtml(last)}</code>${type}`
  }

  #table({ table: { rows, headerRows }, caption }: Block & { readonly type: 'table' }): string {
    const written = rows.map((row) =>
      row.map(({ blocks, columns, rows: rowSpan }) => ({
        html: unwrapParagraph(this.blocks(blocks)),
        columns,
        rows: rowSpan,
      })),
    )
    return writeTable(written, headerRows, caption === '' ? '' : this.#inline(caption))
  }

  #picture(address: string, altText: string): string {
    const safe = safeAddress(address)
    return safe === '' ? '' : `<p><img src="${escapeHtml(safe)}" alt="${escapeHtml(altText)}"></p>\n`
  }

  #object(signatures: readonly string[], blocks: Blocks): string {
    const terms = signatures.map((text) => `<dt class="sig">${escapeHtml(text.replace(/\\(.)/g, '$1'))}</dt>\n`)
    return `<dl>\n${terms.join('')}<dd>${this.blocks(blocks)}</dd>\n</dl>\n`
  }
}

const FIELD_TITLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    param: 'Parameter',
    parameter: 'Parameter',
    arg: 'Parameter',
    argument: 'Parameter',
    key: 'Parameter',
    keyword: 'Parameter',
    type: 'Type of',
    raises: 'Raises',
    raise: 'Raises',
    except: 'Raises',
    exception: 'Raises',
    var: 'Variable',
    ivar: 'Variable',
    cvar: 'Variable',
    returns: 'Returns',
    return: 'Returns',
    rtype: 'Return type',
    yields: 'Yields',
  }),
)

/** Metadata fields of a file for its publishing tool. */
const FILE_METADATA_FIELDS = new Set(
  'orphan tocdepth nocomments nosearch no-search hide-toc hide-navigation hidetoc html_theme.sidebar_secondary.remove'.split(
    ' ',
  ),
)
