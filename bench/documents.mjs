// Megabytes of documents per CPU second, from the bytes of a file to its chunks, compared with common libraries for each format.
//
//   npm run bench documents [--megabytes 1] [--kinds pdf,docx]
//
// Each kind is one generated document with the given megabytes of text, with headings, paragraphs, tables and code if the format has them,
// plus the documents of test/documents, written by LibreOffice and TeX, each read ten times. Megabytes are those of the files; office
// files and books are compressed. We convert a document, find its sections and links, and cut it into chunks with ids and hashes. Peers
// do less: `pdf.js` returns unordered text, `fflate` with `htmlparser2` XML trees, `yaml` values, Asciidoctor and `mammoth` HTML, SheetJS
// lines of CSV, Papa Parse rows. A format without a peer has no common library. Contenders take turns after a warm-up with a tenth of
// the text.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { convert as convertAsciidoc } from '@asciidoctor/core'
import { unzipSync } from 'fflate'
import { parseDocument } from 'htmlparser2'
import mammoth from 'mammoth'
import Papa from 'papaparse'
import * as sheetJs from 'xlsx'
import { parse as parseYaml } from 'yaml'
import { convertDocument, formatOf } from '../dist/documents/formats.js'
import { loadPdfLibrary, pdfData } from '../dist/documents/pdf/library.js'
import { nodeSha256 } from '../dist/node.js'
import { readDocument } from '../dist/processes/read-document.js'
import * as written from '../test/documents/written.ts'
import { createRandom, createWords, pick, pickContent } from './corpus.mjs'
import { cpuSeconds, option, printTable } from './measure.mjs'

const megabytes = Number(option('megabytes') ?? 1)
const random = createRandom(12)
const words = createWords(20_000, random)
const samples = fileURLToPath(new URL('../test/documents/', import.meta.url))
const utf8 = new TextDecoder()

/** Sections of a document, each with a heading, three paragraphs, a table and some code. */
function createSections(bytes) {
  const sections = []
  for (let size = 0; size < bytes; ) {
    const section = {
      heading: Array.from({ length: 3 }, () => pickContent(words, random)).join(' '),
      paragraphs: [createProse(), createProse(), createProse()],
      rows: Array.from({ length: 6 }, () => [1, 2, 3].map(() => pickContent(words, random))),
      code: Array.from({ length: 5 }, (_, i) => `${pickContent(words, random)}(${i}, ${pickContent(words, random)})`),
    }
    size += JSON.stringify(section).length
    sections.push(section)
  }
  return sections
}

function createProse() {
  const prose = Array.from({ length: 60 }, () => pick(words, random)).join(' ')
  return `${prose[0].toUpperCase()}${prose.slice(1)}.`
}

const join = (sections, write) => sections.map(write).join('')
const table = (rows, row, cell) => rows.map((cells) => row(cells.map(cell).join(''))).join('')

/** Writers of documents by format. */
const WRITERS = {
  pdf: (sections) =>
    written.pdf(
      written.pdfPages(
        ...sections.map(({ heading, paragraphs, code }) =>
          written
            .pdfLines(heading, ...paragraphs.flatMap((text) => text.match(/.{1,90}(?: |$)/g)), ...code)
            .replaceAll(/\((.*)\) Tj/g, (_, text) => `(${text.replaceAll(/[()]/g, '\\$&')}) Tj`),
        ),
      ),
    ),
  docx: (sections) =>
    written.docx(
      join(sections, ({ heading, paragraphs, rows }) =>
        [
          written.docxParagraph(heading, '<w:outlineLvl w:val="0"/>'),
          ...paragraphs.map((text) => written.docxParagraph(text)),
          `<w:tbl>${table(
            rows,
            (cells) => `<w:tr>${cells}</w:tr>`,
            (text) => `<w:tc>${written.docxParagraph(text)}</w:tc>`,
          )}</w:tbl>`,
        ].join(''),
      ),
    ),
  pptx: (sections) =>
    written.pptx(
      ...sections.map(({ heading, paragraphs }) =>
        written.pptxSlide(
          written.pptxShape('<p:ph type="title"/>', written.pptxParagraph(heading)) +
            written.pptxShape('', paragraphs.map((text) => written.pptxParagraph(text)).join('')),
        ),
      ),
    ),
  xlsx: (sections) => {
    const cells = sections.flatMap(({ heading, paragraphs, rows }) => [[heading, ...paragraphs], ...rows])
    const cell = (text, row, column) => `<c r="${'ABCDEFGH'[column]}${row}" t="inlineStr"><is><t>${text}</t></is></c>`
    const rows = cells.map((texts, i) => {
      return `<row r="${i + 1}">${texts.map((text, k) => cell(text, i + 1, k)).join('')}</row>`
    })
    return written.xlsx(`<sheetData>${rows.join('')}</sheetData>`)
  },
  odt: (sections) =>
    written.odt(
      join(sections, ({ heading, paragraphs, rows }) =>
        [
          `<text:h text:outline-level="1">${heading}</text:h>`,
          ...paragraphs.map((text) => `<text:p>${text}</text:p>`),
          `<table:table>${table(
            rows,
            (cells) => `<table:table-row>${cells}</table:table-row>`,
            (text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`,
          )}</table:table>`,
        ].join(''),
      ),
    ),
  epub: (sections) =>
    written.epub(
      Object.fromEntries(
        sections.map((section, i) => [
          `c${i}.xhtml`,
          `<h1>${section.heading}</h1>${join(section.paragraphs, (text) => `<p>${text}</p>`)}<table>${table(
            section.rows,
            (cells) => `<tr>${cells}</tr>`,
            (text) => `<td>${text}</td>`,
          )}</table><pre>${section.code.join('\n')}</pre>`,
        ]),
      ),
    ),
  rtf: (sections) =>
    `{\\rtf1\\ansi ${join(sections, ({ heading, paragraphs }) => {
      return `{\\pard\\outlinelevel0\\b ${heading}\\par}${join(paragraphs, (text) => `{\\pard ${text}\\par}\n`)}`
    })}}`,
  ipynb: (sections) =>
    JSON.stringify({
      cells: sections.flatMap(({ heading, paragraphs, code }) => [
        { cell_type: 'markdown', source: `# ${heading}\n\n${paragraphs.join('\n\n')}` },
        { cell_type: 'code', source: code, outputs: [{ output_type: 'stream', text: paragraphs[0] }] },
      ]),
    }),
  rst: (sections) =>
    join(sections, ({ heading, paragraphs, rows, code }) => {
      const items = rows.map((cells) => `   * - ${cells.join('\n     - ')}\n`).join('')
      const block = code.map((line) => `   ${line}\n`).join('')
      return `${heading}\n${'='.repeat(heading.length)}\n\n${paragraphs.join('\n\n')}\n\n.. list-table::\n\n${items}\n::\n\n${block}\n`
    }),
  adoc: (sections) =>
    `= Manual\n\n${join(sections, ({ heading, paragraphs, rows, code }) => {
      return `== ${heading}\n\n${paragraphs.join('\n\n')}\n\n|===\n${table(
        rows,
        (cells) => `${cells}\n`,
        (text) => `|${text} `,
      )}|===\n\n----\n${code.join('\n')}\n----\n\n`
    })}`,
  org: (sections) =>
    join(sections, ({ heading, paragraphs, rows, code }) => {
      const block = `#+BEGIN_SRC c\n${code.join('\n')}\n#+END_SRC`
      return `* ${heading}\n\n${paragraphs.join('\n\n')}\n\n${rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}\n${block}\n\n`
    }),
  man: (sections) =>
    `.TH MANUAL 1\n${join(sections, ({ heading, paragraphs, rows, code }) => {
      const terms = rows.map(([term, ...rest]) => `.TP\n.B ${term}\n${rest.join(' ')}\n`).join('')
      return `.SH ${heading}\n${paragraphs.join('\n.PP\n')}\n${terms}.nf\n${code.join('\n')}\n.fi\n`
    })}`,
  csv: (sections) =>
    join(sections, ({ paragraphs, rows }) => rows.map((cells) => `${cells},"${paragraphs[0]}"\n`).join('')),
  yaml: (sections) =>
    `openapi: 3.0.0\ninfo: {title: Lamps, version: '1'}\npaths:\n${join(sections, describeOperation)}`,
}

function describeOperation({ heading, paragraphs, rows }, i) {
  const properties = rows.map(
    ([name, ...rest], k) => `                  ${name}_${k}: {type: string, description: ${rest.join(' ')}}\n`,
  )
  return `  /lamps/${i}:\n    get:\n      summary: ${heading}\n      description: ${paragraphs.join(' ')}\n      responses:\n        '200':\n          description: Found\n          content:\n            application/json:\n              schema:\n                type: object\n                properties:\n${properties.join('')}`
}

/** Unpacks a document and parses all its XML. */
function readXml(bytes) {
  for (const [name, member] of Object.entries(unzipSync(bytes))) {
    if (/\.(?:xml|xhtml|opf|ncx|rels)$/.test(name)) parseDocument(utf8.decode(member), { xmlMode: true })
  }
}

async function readPdf(bytes) {
  const { getDocument } = await loadPdfLibrary()
  const data = new Uint8Array(bytes)
  const options = { cMapUrl: pdfData('cmaps'), cMapPacked: true, standardFontDataUrl: pdfData('standard_fonts') }
  const task = getDocument({ data, isEvalSupported: false, disableFontFace: true, verbosity: 0, ...options })
  const document = await task.promise
  for (let i = 1; i <= document.numPages; i++) await (await document.getPage(i)).getTextContent()
  await task.destroy()
}

const XML_PEER = ['fflate and htmlparser2', readXml]
/** Peers by format. */
const PEERS = {
  pdf: [['pdf.js: getTextContent', readPdf]],
  docx: [XML_PEER, ['mammoth: HTML', (bytes) => mammoth.convertToHtml({ buffer: Buffer.from(bytes) })]],
  pptx: [XML_PEER],
  xlsx: [XML_PEER, ['SheetJS: CSV', readWorkbook]],
  odt: [XML_PEER],
  epub: [XML_PEER],
  ipynb: [['JSON.parse', (bytes) => JSON.parse(utf8.decode(bytes))]],
  adoc: [['Asciidoctor: HTML', (bytes) => convertAsciidoc(utf8.decode(bytes), { safe: 'secure' })]],
  csv: [['Papa Parse', (bytes) => Papa.parse(utf8.decode(bytes))]],
  yaml: [['yaml: values', (bytes) => parseYaml(utf8.decode(bytes))]],
}

function readWorkbook(bytes) {
  const book = sheetJs.read(bytes)
  for (const name of book.SheetNames) sheetJs.utils.sheet_to_csv(book.Sheets[name])
}

const pathOf = (kind) => (kind === 'man' ? 'man1/manual.1' : `manual.${kind}`)

async function read(bytes, path) {
  const reading = await readDocument({ url: 'file:///manual', body: bytes, headers: {} }, path, nodeSha256)
  if (reading.type === 'refused') throw new Error(`${path}: ${reading.detail}`)
}

async function convert(bytes, path) {
  await convertDocument(formatOf(path, bytes), bytes, path)
}

const encode = (content) => (typeof content === 'string' ? new TextEncoder().encode(content) : content)
const kinds = option('kinds')?.split(',') ?? Object.keys(WRITERS)
const rows = []
for (const kind of kinds) {
  const path = pathOf(kind)
  rows.push(
    ...(await compare(`${kind}, generated`, path, kind, [encode(WRITERS[kind](createSections(megabytes * 1e6)))])),
  )
  for (const name of readdirSync(samples)) {
    if (!name.endsWith(`.${kind}`) || /^(?:locked|scan)/.test(name)) continue
    const bytes = new Uint8Array(readFileSync(samples + name))
    rows.push(...(await compare(name, path, kind, Array(10).fill(bytes))))
  }
}
printTable(['', 'MB', 'CPU s', 'MB a CPU s', 'ours ÷ this'], rows)

/** Measures our reader and the peers on documents of one kind, and returns their rows. */
async function compare(label, path, kind, documents) {
  const contenders = [['pharos: chunks', read], ['pharos: conversion alone', convert], ...(PEERS[kind] ?? [])]
  const warmUp = encode(WRITERS[kind](createSections(megabytes * 1e5)))
  for (const [, work] of contenders) await work(warmUp, path)
  const seconds = contenders.map(() => 0)
  for (const bytes of documents) {
    for (const [i, [, work]] of contenders.entries()) {
      const start = process.cpuUsage()
      await work(bytes, path)
      seconds[i] += cpuSeconds(start)
    }
  }
  const size = documents.reduce((sum, { length }) => sum + length, 0) / 1e6
  return contenders.map(([name], i) => [
    `${label}, ${name}`,
    size.toFixed(2),
    seconds[i].toFixed(2),
    (size / seconds[i]).toFixed(2),
    (seconds[0] / seconds[i]).toFixed(1),
  ])
}
