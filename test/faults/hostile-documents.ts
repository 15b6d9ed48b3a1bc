import { zipSync } from 'fflate'
import { docx, docxParagraph, epub, pdf, pdfLines, pdfPages, relation, relations, xlsx } from '../documents/written.ts'
import { writeTar } from '../trees/archive-bytes.ts'
import { isLong } from './bounded.ts'

/** Targets that a malicious document tries to reach. */
export interface Bait {
  /** A web address that must not be requested. */
  readonly url: string
  /** The path of a file outside the tree. */
  readonly file: string
  /** A shell command that leaves a trace when it runs. */
  readonly program: string
}

/** A malicious file and its expected state in the ledger. */
export interface HostileFile {
  readonly content: string | Uint8Array
  /** State, reason and explanation; `skipped container` for a file of several pages. */
  readonly outcome: string
}

/** Script text that must not appear in any page. */
export const SCRIPT = 'stealTheLamp()'

/** The full number in a long run, otherwise a hundredth of it. */
function scale(count: number): number {
  return isLong ? count : count / 100
}

/** Entities that each expand to ten of the previous one, known as the billion laughs attack. */
const LAUGHS = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join('')

/** Documents of every format, by their paths. */
export function hostileDocuments(bait: Bait): Readonly<Record<string, HostileFile>> {
  return { ...office(bait), ...pdfs(bait), ...markup(bait), ...data(bait), ...wrongExtensions() }
}

function office({ url, file }: Bait): Record<string, HostileFile> {
  const external = (entity: string) =>
    `<!DOCTYPE d [<!ENTITY e SYSTEM "${entity}">]><w:document><w:body>${docxParagraph('&e;')}</w:body></w:document>`
  const laughs = `<!DOCTYPE d [<!ENTITY e0 "ha">${LAUGHS}]><d>&e9;</d>`
  const entities = { outcome: 'skipped damaged it defines entities of its own, which are not resolved' }
  const externalRelations = relations(
    relation('s', 'styles', `${url}/styles.xml`, 'External'),
    relation('n', 'numbering', `../../../../../../../..${file}`),
    relation('t', 'attachedTemplate', `${url}/template.dotm`, 'External'),
    relation('f', 'footnotes', `file://${file}`, 'External'),
  )
  const zeros = (name: string) => zipSync({ [name]: new Uint8Array(20 * 2 ** 20) })
  const shared = '<c r="A1"><f t="shared" ref="A1:XFD1048576" si="0">B1&amp;B1</f><v>7</v></c>'
  const chapter = `<p>A quiet chapter.</p><script>${SCRIPT}</script><script src="${url}/x.js"/><iframe src="${url}"/><img src="${url}/x.png" alt="A lamp"/><link rel="stylesheet" href="${url}/x.css"/><object data="file://${file}"/>`
  return {
    'entities-file.docx': { content: docx('', { 'word/document.xml': external(`file://${file}`) }), ...entities },
    'entities-web.docx': { content: docx('', { 'word/document.xml': external(`${url}/x.dtd`) }), ...entities },
    'laughs.docx': { content: docx(docxParagraph('x'), { 'word/styles.xml': laughs }), ...entities },
    'relations.docx': {
      content: docx(docxParagraph('A quiet document.'), {
        'word/_rels/document.xml.rels': externalRelations,
      }),
      outcome: 'indexed',
    },
    'bomb.docx': {
      content: docx('', { 'word/document.xml': `<a>${' '.repeat(20 * 2 ** 20)}</a>` }),
      outcome: 'skipped too-large word/document.xml unpacks to more than 200 times its size',
    },
    'bomb.pptx': { content: zeros('[Content_Types].xml'), outcome: 'skipped damaged it has no document in it' },
    'deep.docx': {
      content: docx('<w:sdt>'.repeat(scale(1e5))),
      outcome: 'skipped too-large its elements are nested more than 200 levels deep',
    },
    'entities.odt': {
      content: zipSync({
        mimetype: Buffer.from('application/vnd.oasis.opendocument.text'),
        'content.xml': Buffer.from(laughs),
      }),
      ...entities,
    },
    'claims.xlsx': {
      content: xlsx(
        `<dimension ref="A1:XFD1048576"/><sheetData><row r="1">${shared}</row><row r="1048576"><c r="XFD1048576"><v>8</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>`,
      ),
      outcome: 'indexed',
    },
    'formulas.xlsx': {
      content: xlsx(
        `<sheetData>${Array.from({ length: scale(1e5) }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><f t="shared" si="0"/><v>${i}</v></c></row>`).join('')}</sheetData>`,
      ),
      outcome: 'indexed',
    },
    'script.epub': { content: epub({ 'a.xhtml': chapter }), outcome: 'skipped container' },
    'groups.rtf': {
      content: `{\\rtf1 A quiet letter. ${'{'.repeat(scale(1e6))}\\par deep`,
      outcome: 'skipped too-large its groups are nested more than 200 levels deep',
    },
    'objects.rtf': {
      content: `{\\rtf1 A quiet letter. {\\object\\objemb{\\*\\objclass Package}{\\*\\objdata ${'4d5a'.repeat(scale(1e6))}}}{\\field{\\*\\fldinst INCLUDETEXT "${file}"}{\\fldrslt shown}}{\\*\\template ${url}/x.dot}\\par}`,
      outcome: 'indexed',
    },
  }
}

function pdfs({ url, file }: Bait): Record<string, HostileFile> {
  const [catalogue = '', tree = '', font = '', page = '', content = ''] = pdfPages(pdfLines('A quiet page.'))
  const actions = `<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${SCRIPT.replace('()', '')})/Next<</S/URI/URI(${url})>>>>/AA<</WC<</S/Launch/F(${file})>>>>>>`
  const form = (text: string, extra = '') =>
    `<</Type/XObject/Subtype/Form/BBox[0 0 600 800]${extra}/Length ${text.length}>>stream\n${text}\nendstream`
  const drawing = page.replace('/Font', '/XObject<</X 6 0 R>>/Font')
  const draw = '/X Do'
  return {
    'objects.pdf': {
      content: pdf([catalogue, tree, font, page, content, ...Array<string>(scale(1e6)).fill('null')]),
      outcome: 'indexed',
    },
    'actions.pdf': { content: pdf([actions, tree, font, page, content]), outcome: 'indexed' },
    'tree.pdf': {
      content: pdf([catalogue, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>', font, page, content]),
      outcome: 'skipped damaged it is not a readable PDF',
    },
    'count.pdf': {
      content: pdf([catalogue, '<</Type/Pages/Kids[4 0 R]/Count 2147483647>>', font, page, content]),
      outcome: 'indexed',
    },
    'forms.pdf': {
      content: pdf([
        catalogue,
        tree,
        font,
        drawing,
        `<</Length 5>>stream\n${draw}\nendstream`,
        form(draw, '/Resources<</XObject<</X 6 0 R>>>>'),
      ]),
      outcome: 'skipped empty there is no text on its page, only pictures, which are not read',
    },
    'length.pdf': {
      content: pdf([catalogue, tree, font, page, content.replace(/Length \d+/, 'Length 999999999999')]),
      outcome: 'indexed',
    },
  }
}

function markup({ url, file, program }: Bait): Record<string, HostileFile> {
  const text = 'A quiet text.'
  return {
    'include.adoc': {
      content: `= Title\n:docinfo:\n:allow-uri-read:\n:source-highlighter: ${file}\n\n${text}\n\ninclude::${file}[]\n\ninclude::${url}/x.adoc[]\n\nimage::${url}/x.svg[opts=inline]\n\ninclude::../outside/secret.md[]\n\n[graphviz]\n----\n${program}\n----\n\nkroki::${url}[]\n`,
      outcome: 'indexed',
    },
    'include.rst': {
      content: `Title\n=====\n\n${text}\n\n.. include:: ${file}\n\n.. raw:: html\n   :file: ${file}\n\n.. raw:: html\n   :url: ${url}/x.html\n\n.. csv-table:: Rows\n   :file: ${file}\n\n.. csv-table:: Rows\n   :url: ${url}/x.csv\n\n.. literalinclude:: ../outside/secret.md\n\n.. raw:: html\n\n   <script>${SCRIPT}</script>\n`,
      outcome: 'indexed',
    },
    'include.org': {
      content: `#+TITLE: Title\n#+SETUPFILE: ${url}/x.setup\n#+INCLUDE: "${file}" src org\n#+INCLUDE: "../outside/secret.md"\n\n${text}\n\n#+BEGIN_SRC sh :exports results\n${program}\n#+END_SRC\n\n#+CALL: run()\n\n#+BEGIN_EXPORT html\n<script>${SCRIPT}</script>\n#+END_EXPORT\n`,
      outcome: 'indexed',
    },
    'man1/include.1': {
      content: `.TH INCLUDE 1\n.SH NAME\ninclude \\- ${text}\n.so ${file}\n.mso ${file}\n.sy ${program}\n.pso ${program}\n.pi ${program}\n.open f ${file}.trace\n.write f x\n.cf ${file}\n.trf ${file}\n`,
      outcome: 'indexed',
    },
    'man1/elsewhere.1': { content: `.so ${file}\n`, outcome: `skipped empty it only includes another page: ${file}` },
    'page.mdx': {
      content: `import x from '${url}/x.js'\nexport const y = require('child_process').execSync(${JSON.stringify(program)})\n\n# Title\n\n${text} {${SCRIPT}}\n\n<script>${SCRIPT}</script>\n\n<Include file="${file}" />\n`,
      outcome: 'indexed',
    },
  }
}

function data({ url, file, program }: Bait): Record<string, HostileFile> {
  const output = {
    'text/html': [`<script>${SCRIPT}</script><img src="${url}/x.png" onerror="${SCRIPT}">`],
    'application/javascript': SCRIPT,
    'text/plain': '<Figure>',
  }
  const cells = [
    { cell_type: 'markdown', source: `# Notes\n\nA quiet note. <script>${SCRIPT}</script>\n\n![x](${url}/x.png)` },
    {
      cell_type: 'code',
      source: `!${program}`,
      outputs: [{ output_type: 'display_data', data: output, metadata: {} }],
      execution_count: 1,
      metadata: {},
    },
  ]
  const aliases = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}x]`).join('\n')
  const refs = Object.fromEntries(
    [`${url}/x.json#/a`, `file://${file}`, `../outside/secret.md`, '#/components/schemas/A'].map((ref, i) => [
      `p${i}`,
      { $ref: ref },
    ]),
  )
  const circular = {
    openapi: '3.0.0',
    info: { title: 'Lamps', version: '1' },
    paths: {
      '/a': { get: { responses: { 200: { content: { 'a/b': { schema: { $ref: '#/components/schemas/A' } } } } } } },
    },
    components: { schemas: { A: { properties: refs }, B: { allOf: [{ $ref: '#/components/schemas/B' }] } } },
  }
  return {
    'notes.ipynb': { content: JSON.stringify({ cells, metadata: {}, nbformat: 4 }), outcome: 'indexed' },
    'columns.csv': { content: `${'a,'.repeat(scale(1e6))}\n${'1,'.repeat(scale(1e6))}\n`, outcome: 'indexed' },
    'rows.csv': { content: 'a,b\n'.repeat(scale(1e6)), outcome: 'indexed' },
    'aliases.yaml': {
      content: `openapi: 3.0.0\na0: &a0 [x, x]\n${aliases}\n`,
      outcome: 'skipped too-large its YAML aliases expand to too much data',
    },
    'circular.json': { content: JSON.stringify(circular), outcome: 'skipped container' },
  }
}

/** Files whose content differs from their extension. */
function wrongExtensions(): Record<string, HostileFile> {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const tar = writeTar([{ name: 'a.md', content: '# A\n' }])
  const word = docx(docxParagraph('x'))
  const entriesFor = (content: Uint8Array, names: string, why: string) => {
    return names.split(' ').map((name) => [name, { content, outcome: `skipped ${why}` }] as const)
  }
  const noZip = 'damaged it is not a zip archive'
  const noPdf = 'damaged it is not a readable PDF'
  return Object.fromEntries([
    ...entriesFor(tar, 'tar.docx tar.pptx tar.xlsx tar.odt tar.epub', noZip),
    ...entriesFor(png, 'png.docx png.epub', noZip),
    ...entriesFor(word.subarray(0, 300), 'cut.docx cut.epub', noZip),
    ...entriesFor(png, 'png.pdf', noPdf),
    ...entriesFor(word, 'word.pdf', noPdf),
    ...entriesFor(word, 'word.xlsx', 'damaged it contains no workbook'),
    ...entriesFor(word, 'word.pptx', 'damaged it contains no presentation'),
    ...entriesFor(word, 'word.odt', 'damaged it has no document in it'),
    ...entriesFor(word, 'word.epub', 'damaged it has no book in it'),
    ...entriesFor(word, 'word.rtf', 'damaged it does not start like an RTF file'),
    ...entriesFor(word, 'word.ipynb', 'not-text it contains bytes that are not text'),
  ])
}
