import { type ConversionResult, DOCUMENT_LIMITS, DocumentError } from '../document.ts'
import type { XmlElement } from '../xml-tree.ts'
import {
  isFixedWidth,
  type OfficeBlock,
  type OfficeRow,
  spanOf,
  writeBlocks,
  writeLink,
  writePicture,
  writeRun,
  writeTable,
} from './office-blocks.ts'
import { createOfficeDocument } from './office-document.ts'
import { OfficePackage } from './office-package.ts'

/** Converts a presentation to a page: one section per slide, with its speaker notes. Hidden slides are counted and left out. */
export function convertPptx(bytes: Uint8Array): ConversionResult {
  const file = new OfficePackage(bytes)
  const presentation = file.root('presentation')
  const parts = file.relations(file.main)
  const slides = [...(presentation.find('sldIdLst')?.elements('sldId') ?? [])]
  if (slides.length > DOCUMENT_LIMITS.pages) {
    throw new DocumentError('too-large', `it has ${slides.length} slides, more than ${DOCUMENT_LIMITS.pages}`)
  }
  const blocks: OfficeBlock[] = []
  let hiddenCount = 0
  for (const [i, id] of slides.entries()) {
    const name = parts.get(id.prefixed('id') ?? '')?.target
    const slide = file.xml(name)
    if (name === undefined || slide === undefined) continue
    if (slide.attribute('show') === '0' || slide.attribute('show') === 'false') hiddenCount++
    else for (const block of readSlide(file, name, slide, i + 1)) blocks.push(block)
  }
  if (hiddenCount > 0) blocks.push({ type: 'paragraph', html: `Hidden slides, left out: ${hiddenCount}.` })
  const { metadata } = file
  const title: OfficeBlock[] =
    metadata.title === null ? [] : [{ type: 'heading', level: 1, html: writeRun(metadata.title, {}) }]
  return createOfficeDocument(metadata, blocks.length === 0 ? '' : writeBlocks([...title, ...blocks]))
}

type Links = ReadonlyMap<string, { readonly target: string; readonly isExternal: boolean }>

function readSlide(file: OfficePackage, name: string, slide: XmlElement, number: number): OfficeBlock[] {
  const links = file.relations(name)
  const blocks: OfficeBlock[] = []
  let title = ''
  for (const shape of shapesIn(slide.find('cSld', 'spTree'))) {
    const role = placeholderTypeOf(shape)
    if (role === 'title' && title === '') title = lineOfShape(shape)
    else if (!REPEATED_PLACEHOLDERS.has(role ?? ''))
      for (const block of readShape(shape, role, links)) blocks.push(block)
  }
  const notes = readNotes(file, name)
  if (title === '' && blocks.length === 0 && notes === '') return []
  // The fragment names the slide, even if no program jumps to it.
  const html = writeRun(title === '' ? `Slide ${number}` : title, {})
  const heading: OfficeBlock = { type: 'heading', level: 2, html, id: `slide=${number}` }
  if (notes === '') return [heading, ...blocks]
  return [
    heading,
    ...blocks,
    { type: 'markup', html: `<p><strong>Notes</strong></p><blockquote>${notes}</blockquote>` },
  ]
}

function readNotes(file: OfficePackage, slide: string): string {
  const name = file.relatedName(slide, 'notesSlide')
  const notes = file.xml(name)
  if (name === undefined || notes === undefined) return ''
  const links = file.relations(name)
  const blocks: OfficeBlock[] = []
  for (const shape of shapesIn(notes.find('cSld', 'spTree'))) {
    const role = placeholderTypeOf(shape)
    // Speaker notes are not a list, whatever style they inherit.
    if (!REPEATED_PLACEHOLDERS.has(role ?? ''))
      for (const block of readShape(shape, undefined, links)) blocks.push(block)
  }
  return writeBlocks(blocks)
}

/** Placeholders that every slide repeats, and the slide image on the notes page. */
const REPEATED_PLACEHOLDERS = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg'])
/** Placeholders whose paragraphs are list items by default. */
const LIST_PLACEHOLDERS = new Set(['body', 'obj'])
const SHAPES = new Set(['sp', 'graphicFrame', 'pic', 'cxnSp'])

function* shapesIn(tree: XmlElement | undefined): Generator<XmlElement, void, void> {
  for (const child of tree?.elements() ?? []) {
    if (SHAPES.has(child.name)) yield child
    else if (child.name === 'grpSp') yield* shapesIn(child)
    else if (child.name === 'AlternateContent') yield* shapesIn(child.find('Choice') ?? child.find('Fallback'))
  }
}

/** The placeholder type of a shape; undefined for other shapes. */
function placeholderTypeOf(shape: XmlElement): string | undefined {
  const placeholder = shape.find('nvSpPr', 'nvPr', 'ph') ?? shape.find('nvGraphicFramePr', 'nvPr', 'ph')
  if (placeholder === undefined) return undefined
  const type = placeholder.attribute('type') ?? 'obj'
  return type === 'ctrTitle' ? 'title' : type
}

function lineOfShape(shape: XmlElement): string {
  const paragraphs = [...(shape.find('txBody')?.elements('p') ?? [])].map(
    (paragraph) => readLine(paragraph, NO_LINKS).text,
  )
  return paragraphs.join(' ').replace(/\s+/g, ' ').trim()
}

const NO_LINKS: Links = new Map()

function readShape(shape: XmlElement, role: string | undefined, links: Links): OfficeBlock[] {
  if (shape.name === 'pic') {
    return [{ type: 'paragraph', html: writePicture(shape.find('nvPicPr', 'cNvPr')?.attribute('descr')) }]
  }
  const table = shape.find('graphic', 'graphicData', 'tbl')
  if (table !== undefined) return [{ type: 'markup', html: readTable(table, links) }]
  return readParagraphs(shape.find('txBody'), LIST_PLACEHOLDERS.has(role ?? ''), links)
}

function readParagraphs(body: XmlElement | undefined, areItems: boolean, links: Links): OfficeBlock[] {
  const blocks: OfficeBlock[] = []
  let numbers: number[] = []
  for (const paragraph of body?.elements('p') ?? []) {
    const properties = paragraph.find('pPr')
    const level = Math.min(8, Number(properties?.attribute('lvl') ?? '0') || 0)
    const { html, text, isFixed } = readLine(paragraph, links)
    if (text.trim() === '') continue
    const autoNumber = properties?.find('buAutoNum')
    const isItem = properties?.find('buChar') !== undefined || properties?.find('buBlip') !== undefined || areItems
    numbers = numbers.slice(0, level + 1)
    if (autoNumber !== undefined) {
      numbers[level] = (numbers[level] ?? (Number(autoNumber.attribute('startAt') ?? '1') || 1) - 1) + 1
      blocks.push({ type: 'item', level, number: numbers[level] ?? 1, html })
    } else if (isItem && properties?.find('buNone') === undefined)
      blocks.push({ type: 'item', level, number: null, html })
    else if (isFixed) blocks.push({ type: 'code', text })
    else blocks.push({ type: 'paragraph', html })
  }
  return blocks
}

function readLine(paragraph: XmlElement, links: Links): { html: string; text: string; isFixed: boolean } {
  let html = ''
  let text = ''
  let isFixed = true
  for (const child of paragraph.elements()) {
    if (child.name === 'br') {
      html += '<br>'
      text += '\n'
    }
    if (child.name !== 'r' && child.name !== 'fld') continue
    const properties = child.find('rPr')
    const runText = child.find('t')?.text ?? ''
    const code = isFixedWidth(properties?.find('latin')?.attribute('typeface') ?? '')
    const strike = properties?.attribute('strike') ?? 'noStrike'
    const format = {
      bold: isTrue(properties?.attribute('b')),
      italic: isTrue(properties?.attribute('i')),
      struck: strike !== 'noStrike',
      code,
    }
    const link = links.get(properties?.find('hlinkClick')?.prefixed('id') ?? '')
    html += writeLink(writeRun(runText, format), link?.isExternal === true ? link.target : undefined)
    text += runText
    if (!code && runText.trim() !== '') isFixed = false
  }
  return { html, text, isFixed: isFixed && text.trim() !== '' }
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}

function readTable(table: XmlElement, links: Links): string {
  // The first row is the header by default, as in most tables.
  const hasHeaderRow = isTrue(table.find('tblPr')?.attribute('firstRow') ?? '1')
  const rows: OfficeRow[] = []
  for (const row of table.elements('tr')) {
    const cells = [...row.elements('tc')]
      .filter((cell) => !isTrue(cell.attribute('hMerge')) && !isTrue(cell.attribute('vMerge')))
      .slice(0, DOCUMENT_LIMITS.columns)
      .map((cell) => ({
        html: writeBlocks(readParagraphs(cell.find('txBody'), false, links)),
        columns: spanOf(cell, 'gridSpan'),
        rows: spanOf(cell, 'rowSpan'),
      }))
    rows.push({ cells, isHeader: hasHeaderRow && rows.length === 0 })
  }
  return writeTable(rows)
}
