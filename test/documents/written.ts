import { archive } from './convert.ts'

/* Documents that are written part by part, so that they can hold data that no program would write. */

const SCHEMAS = 'http://schemas.openxmlformats.org'
const RELATIONS = `${SCHEMAS}/officeDocument/2006/relationships`
const WORD = `xmlns:w="${SCHEMAS}/wordprocessingml/2006/main" xmlns:r="${RELATIONS}"`
const SHEET = `xmlns="${SCHEMAS}/spreadsheetml/2006/main" xmlns:r="${RELATIONS}"`

/** A relation from a part of an office document to another part. */
export function relation(id: string, type: string, target: string, mode: '' | 'External' = ''): string {
  const modeAttribute = mode === '' ? '' : ` TargetMode="${mode}"`
  return `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${modeAttribute}/>`
}

/** All relations of a part. */
export function relations(...all: readonly string[]): string {
  return `<Relationships xmlns="${SCHEMAS}/package/2006/relationships">${all.join('')}</Relationships>`
}

/** The content types of an office document, which other programs require. */
function contentTypes(parts: Readonly<Record<string, string>>): string {
  const types = Object.entries(parts).map(([name, type]) => {
    return `<Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`
  })
  const defaults =
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
  return `<Types xmlns="${SCHEMAS}/package/2006/content-types">${defaults}${types.join('')}</Types>`
}

/** A document of paragraphs and tables as Word writes them. */
export function docx(body: string, extraParts: Readonly<Record<string, string>> = {}): Uint8Array {
  return archive({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relations(relation('a', 'officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': relations(
      relation('s', 'styles', 'styles.xml'),
      relation('n', 'numbering', '/word/numbering.xml'),
      relation('f', 'footnotes', 'footnotes.xml'),
      relation('l', 'hyperlink', 'https://a.example/', 'External'),
    ),
    'word/document.xml': `<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    ...extraParts,
  })
}

/** A paragraph of a Word document. */
export function docxParagraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
}

/** A presentation. */
export function pptx(...slides: readonly string[]): Uint8Array {
  const list = slides.map((_, i) => `<p:sldId id="${i}" r:id="r${i}"/>`).join('')
  const related = slides.map((_, i) => relation(`r${i}`, 'slide', `slides/s${i}.xml`))
  return archive({
    '_rels/.rels': relations(relation('a', 'officeDocument', 'ppt/presentation.xml')),
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${list}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(...related),
    ...Object.fromEntries(slides.map((slide, i) => [`ppt/slides/s${i}.xml`, slide])),
  })
}

/** A slide of a presentation. */
export function pptxSlide(shapes: string, attributes = ''): string {
  return `<p:sld ${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`
}

/** A shape of a slide, and its placeholder type. */
export function pptxShape(placeholder: string, paragraphs: string): string {
  return `<p:sp><p:nvSpPr><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`
}

/** A paragraph of a shape. */
export function pptxParagraph(text: string, properties = ''): string {
  return `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`
}

/** A text as LibreOffice writes it. */
export function odt(body: string, styles = ''): Uint8Array {
  return archive({
    'content.xml': `<office:document-content xmlns:office="o" xmlns:text="t"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
  })
}

/** A workbook of one sheet. */
export function xlsx(sheet: string, strings = '<sst/>'): Uint8Array {
  return archive({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/s.xml': 'spreadsheetml.worksheet',
      'xl/t.xml': 'spreadsheetml.sharedStrings',
    }),
    '_rels/.rels': relations(relation('a', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `<workbook ${SHEET}><sheets><sheet name="One" sheetId="1" r:id="b"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      relation('b', 'worksheet', 's.xml'),
      relation('c', 'sharedStrings', 't.xml'),
    ),
    'xl/t.xml': strings,
    'xl/s.xml': `<worksheet ${SHEET}>${sheet}</worksheet>`,
  })
}

/** A book of chapters by the names of their files. */
export function epub(
  chapters: Readonly<Record<string, string>>,
  extraParts: Readonly<Record<string, string>> = {},
): Uint8Array {
  const names = Object.keys(chapters)
  const items = names.map((name, i) => `<item id="i${i}" href="${name}" media-type="application/xhtml+xml"/>`).join('')
  const spine = names.map((_, i) => `<itemref idref="i${i}"/>`).join('')
  return archive({
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="b/c.opf"/></rootfiles></container>',
    'b/c.opf': `<package><metadata><dc:title>Book</dc:title></metadata><manifest>${items}<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine>${spine}</spine></package>`,
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, body]) => [`b/${name}`, `<html><body>${body}</body></html>`]),
    ),
    ...extraParts,
  })
}

/** A PDF of the given objects, the first of which is its catalog. `hasTable` adds a cross-reference table. */
export function pdf(objects: readonly string[], hasTable = true): Uint8Array {
  const parts = ['%PDF-1.7\n']
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  for (const [i, object] of objects.entries()) {
    const part = `${i + 1} 0 obj\n${object}\nendobj\n`
    offsets.push(length)
    parts.push(part)
    length += part.length
  }
  const lines = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${lines.join('')}`
  parts.push(`${hasTable ? table : ''}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\n`)
  parts.push(hasTable ? `startxref\n${length}\n%%EOF` : '')
  return new TextEncoder().encode(parts.join(''))
}

/** Objects of a PDF with one page for each content stream, such as `pdfLines` writes. */
export function pdfPages(...streams: readonly string[]): string[] {
  const kids = streams.map((_, i) => `${4 + 2 * i} 0 R`)
  return [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${streams.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...streams.flatMap((stream, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + 2 * i} 0 R>>`,
      `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    ]),
  ]
}

/** The content stream of a PDF page that shows lines of text, from the top. */
export function pdfLines(...texts: readonly string[]): string {
  return texts.map((text, i) => `BT /F 10 Tf 1 0 0 1 50 ${700 - 12 * i} Tm (${text}) Tj ET`).join('\n')
}
