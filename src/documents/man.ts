import { gunzipSync } from 'node:zlib'
import { isGzip } from '../core/archive/is-gzip.ts'
import { codeOf } from '../core/errors.ts'
import { parseDate } from '../core/extract/metadata/dates.ts'
import { escapeHtml } from '../core/html/escape.ts'
import { splitLines } from '../core/text/lines.ts'
import { baseName } from '../core/text/path.ts'
import { type Converter, DOCUMENT_LIMITS, DocumentError } from './document.ts'
import { createManMacros } from './man/man-macros.ts'
import { createMdocMacros } from './man/mdoc-macros.ts'
import type { PageFacts } from './man/page.ts'
import { PageWriter } from './man/page-writer.ts'
import { RoffReader } from './man/roff.ts'
import { TextReader } from './man/text.ts'
import { Anchors, createDocument, readText } from './markup.ts'

/** Converts a manual page, which may be compressed, to HTML. A page that only includes another is refused with the name of that page. */
export const convertMan: Converter = (bytes, path) => {
  const lines = splitLines(readText(isGzip(bytes) ? unpack(bytes) : bytes))
  const flow = new PageWriter()
  const facts: PageFacts = { name: '', section: '', date: '' }
  const isMdoc = lines.some((line) => /^\.\s*D[dt]\b/.test(line))
  // Macros read lines, and lines depend on the known macros, so both refer to each other.
  const reader: RoffReader = new RoffReader(lines, (name) => macros.isKnown(name))
  const parts = { reader, text: new TextReader(), flow, anchors: new Anchors(), facts }
  const macros = isMdoc ? createMdocMacros(parts) : createManMacros(parts)
  for (let line = reader.next(); line !== undefined; line = reader.next()) macros.write(line)
  const body = flow.finish()
  if (body.trim() === '') {
    const { include } = reader
    throw new DocumentError(
      'empty',
      include === undefined ? 'it has no text' : `it only includes another page: ${include}`,
    )
  }
  const title = titleOf(facts, path)
  // Translations have their own folders: `man/pt_BR/man1/ls.1`.
  const language = /(?:^|\/)man\/([a-z]{2,3}(?:_[A-Z]{2})?)\/man\d/.exec(path)?.[1]?.replace('_', '-') ?? null
  const about = { title, language, modifiedAt: parseDate(facts.date) }
  return createDocument(`<h1>${escapeHtml(title)}</h1>\n${body}`, 'html', about)
}

function unpack(bytes: Uint8Array): Uint8Array {
  const maxRatioBytes = Math.max(1024 * 1024, bytes.length * DOCUMENT_LIMITS.ratio)
  const maxOutputLength = Math.min(DOCUMENT_LIMITS.unpackedBytes, maxRatioBytes)
  try {
    return gunzipSync(bytes, { maxOutputLength })
  } catch (error) {
    const isLarge = error instanceof RangeError || codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
    if (isLarge) throw new DocumentError('too-large', 'it is too large when unpacked', { cause: error })
    throw new DocumentError('damaged', 'it cannot be unpacked', { cause: error })
  }
}

/** `ls(1)`: in the case of the file name, because most pages write their title in capitals. */
function titleOf({ name, section }: PageFacts, path: string): string {
  const file = baseName(path).replace(/\.gz$/, '')
  const dot = file.lastIndexOf('.')
  const stem = dot > 0 ? file.slice(0, dot) : file
  const displayName = name === '' || stem.toLowerCase() === name.toLowerCase() ? stem : name
  const number = section === '' && dot > 0 ? file.slice(dot + 1) : section
  return number === '' ? displayName : `${displayName}(${number})`
}
