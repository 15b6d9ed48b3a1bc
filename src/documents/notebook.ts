import { isJsonObject } from '../core/json/is-json-object.ts'
import { closeFences } from '../core/markdown/fences.ts'
import { countOf } from '../core/text/count.ts'
import { clipText, splitLines } from '../core/text/lines.ts'
import { type Converter, DOCUMENT_LIMITS, DocumentError } from './document.ts'
import { writeFence } from './markdown-text.ts'
import { createDocument, readText } from './markup.ts'

/** Length limit of a cell's output; the rest may be hours of logs. */
const MAX_OUTPUT = 4000
const MAX_CELLS = 20_000

/** Converts a Jupyter notebook to Markdown: its texts unchanged, its code in fences, and the outputs of the code. Nothing is run. */
export const convertNotebook: Converter = (bytes) => {
  const notebook = parseNotebook(readText(bytes))
  const cells = listCells(notebook)
  const language = languageOf(notebook)
  const parts: string[] = []
  let length = 0
  for (const cell of cells.slice(0, MAX_CELLS)) {
    const text = writeCell(cell, language, parts.length === 0)
    if (text === '') continue
    length += text.length
    if (length > DOCUMENT_LIMITS.characters) throw new DocumentError('too-large', 'its cells are too long')
    parts.push(text)
  }
  if (cells.length > MAX_CELLS) parts.push(`${countOf(cells.length - MAX_CELLS, 'further cell')} left out.`)
  const about = fieldOf(notebook, 'metadata')
  return createDocument(`${parts.join('\n\n')}\n`, 'markdown', {
    title: textField(about, 'title'),
    author: authorOf(about),
  })
}

type Fields = Readonly<Record<string, unknown>>

function fieldOf(fields: Fields, name: string): Fields {
  const value = fields[name]
  return isJsonObject(value) ? value : {}
}

function listField(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textField(fields: Fields, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Text that may be stored as a list of lines. */
function linesOf(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : ''
}

function parseNotebook(text: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DocumentError('damaged', 'it is not a notebook: it is not JSON', { cause: error })
  }
  if (!isJsonObject(value)) throw new DocumentError('damaged', 'it is not a notebook: it has no cells')
  return value
}

/** The cells of version 4, or of the worksheets in version 3. */
function listCells(notebook: Fields): readonly Fields[] {
  const cells = Array.isArray(notebook['cells'])
    ? listField(notebook, 'cells')
    : listField(notebook, 'worksheets').flatMap((sheet) => listField(sheet, 'cells'))
  if (cells.length === 0) throw new DocumentError('damaged', 'it is not a notebook: it has no cells')
  return cells
}

function languageOf(notebook: Fields): string {
  const about = fieldOf(notebook, 'metadata')
  return textField(fieldOf(about, 'language_info'), 'name') ?? textField(fieldOf(about, 'kernelspec'), 'language') ?? ''
}

function authorOf(about: Fields): string | null {
  const names = listField(about, 'authors').map((author) => textField(author, 'name'))
  return names.filter((name) => name !== null).join(', ') || null
}

function writeCell(cell: Fields, language: string, isFirst: boolean): string {
  const source = linesOf(cell['source'] ?? cell['input']).trimEnd()
  switch (cell['cell_type']) {
    case 'markdown':
      return closeFences(dropAttachments(source))
    case 'heading':
      return `${'#'.repeat(Math.min(Number(cell['level']) || 1, 6))} ${source.replace(/\s+/g, ' ')}`
    case 'code':
      return writeCode(cell, source, language)
    case 'raw':
      // Publishing tools store metadata in the front matter of the first cell.
      return isFirst && source.startsWith('---\n') ? source : ''
    default:
      return ''
  }
}

/** Removes images that are embedded in the notebook, because they have no URL. */
function dropAttachments(text: string): string {
  return text.replace(/!\[([^[\]\n]*)\]\(attachment:[^()\s]*\)/g, '$1')
}

function writeCode(cell: Fields, source: string, language: string): string {
  const [first = ''] = splitLines(source)
  // `%%bash` means that another program runs the cell.
  const magic = /^%%(bash|sh|html|javascript|js|ruby|perl|sql|latex|markdown|R)\b/.exec(first)?.[1]
  const code = source === '' ? '' : writeFence(source, magic ?? textField(cell, 'language') ?? language)
  const text = joinOutputs(listField(cell, 'outputs'))
  if (text.trim() === '') return code
  return [code, 'Output:', writeFence(clipOutput(text), '')].filter((part) => part !== '').join('\n\n')
}

/** Joins outputs. A stream is stored in pieces, which may end within a line. */
function joinOutputs(outputs: readonly Fields[]): string {
  let text = ''
  let stream: string | null = null
  for (const output of outputs) {
    const piece = textOfOutput(output)
    const name = output['output_type'] === 'stream' ? textField(output, 'name') : null
    const isContinued = name !== null && name === stream
    if (!isContinued && piece.trim() === '') continue
    text += (text === '' || text.endsWith('\n') || isContinued ? '' : '\n') + piece
    stream = name
  }
  return text
}

/** The text of an output. HTML, scripts and images are dropped, because their content is mostly available as text too. */
function textOfOutput(output: Fields): string {
  const type = output['output_type']
  if (type === 'stream') return stripControls(linesOf(output['text']))
  if (type === 'error' || type === 'pyerr') {
    return [textField(output, 'ename'), textField(output, 'evalue')].filter((part) => part !== null).join(': ')
  }
  const data = fieldOf(output, 'data')
  // Version 3 stored the formats of an output directly in it.
  return stripControls(linesOf(data['text/plain'] ?? data['text/markdown'] ?? output['text']))
}

const ESCAPE = String.fromCharCode(27)
const COLORS = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, 'g')

/** Removes terminal colors and overwritten parts of lines. */
function stripControls(text: string): string {
  return text
    .replace(COLORS, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')
}

function clipOutput(text: string): string {
  const trimmed = text.trimEnd()
  if (trimmed.length <= MAX_OUTPUT) return trimmed
  return `${clipText(trimmed, MAX_OUTPUT)}\n… (${countOf(trimmed.length - MAX_OUTPUT, 'further character')})`
}
