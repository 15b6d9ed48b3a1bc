import { isBlank } from '../../text/lines.ts'
import { type Scanner, textOfExpression } from './scanner.ts'

/** Lines without the statements of a JavaScript module, and the metadata that these export. */
export interface ModuleRemoval {
  readonly lines: readonly string[]
  /** Whether there was a statement, which proves that the text is MDX. */
  readonly isModule: boolean
  /** Metadata by names in lower case: `title`, `description`. */
  readonly exportedMetadata: ReadonlyMap<string, string>
}

/**
 * Drops module statements. They begin a block, and end with the line on which all brackets are closed. `isCode` tells which lines are code.
 */
export function removeModuleStatements(
  lines: readonly string[],
  isCode: (line: number) => boolean,
  scanner: Scanner,
): ModuleRemoval {
  const exportedMetadata = new Map<string, string>()
  if (!lines.some((line) => START.test(line))) return { lines, isModule: false, exportedMetadata }
  const kept: string[] = []
  let isModule = false
  let isBlockStart = true
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (!isBlockStart || isCode(at) || !START.test(line) || !isStatement(lines, at)) {
      kept.push(line)
      isBlockStart = isBlank(line)
      continue
    }
    const end = endOfStatement(lines, at, scanner)
    if (line.startsWith('export')) readExportedMetadata(lines.slice(at, end + 1).join('\n'), scanner, exportedMetadata)
    isModule = true
    isBlockStart = true
    at = end
    // The blank line after the statement is dropped too, so that two blank lines do not follow each other.
    if (isBlank(lines[at + 1] ?? '') && isBlank(kept.at(-1) ?? '')) at++
  }
  return { lines: isModule ? kept : lines, isModule, exportedMetadata }
}

const START = /^(?:import|export)[\s{*"']/
const MAX_IMPORT_LINES = 100

/**
 * Whether a line begins a statement, and not a sentence that begins with the same word. An import ends with the name of a module, an export
 * declares a name.
 */
function isStatement(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  if (line.startsWith('export')) {
    return /^export\s*(?:\{.*|\*\s.*|default\s+(?:function\b|class\b|async\b|[({<[]|[\w$.]+\s*[;(]|(?=[\w$.]*[A-Z$.])[\w$.]+\s*$).*|(?:const|let|var)\s+(?:[\w$]+\s*[=:]|[{[]).*|(?:async\s+)?function\b.*|class\s+\w.*\{.*|(?:type|interface|enum)\s+[\w$].*[={<].*)$/.test(
      line,
    )
  }
  if (/^import\s*["'][^"']+["'];?\s*(?:\/\/.*)?$/.test(line)) return true
  if (!/^import\s*(?:[\w$]+|\{|\*)/.test(line)) return false
  const hasOpenBrace = line.includes('{') && !line.includes('}')
  const text = hasOpenBrace ? lines.slice(at, at + MAX_IMPORT_LINES).join('\n') : `${line}\n${lines[at + 1] ?? ''}`
  return /^import\s+(?:type\s+)?(?:[\w$]+(?![\w$])\s*(?:,\s*)?)?(?:(?:\{[^{}]*\}|\*\s+as\s+[\w$]+(?![\w$]))\s*)?from\s+["'][^"'\n]+["']/.test(
    text,
  )
}

const MAX_STATEMENT_LINES = 2000
/** Number of characters at the end of a line that tell whether a statement ends there. */
const LINE_END_CHARS = 20

function endOfStatement(lines: readonly string[], start: number, scanner: Scanner): number {
  let depth = 0
  for (let at = start; at < Math.min(lines.length, start + MAX_STATEMENT_LINES) && !scanner.isExhausted; at++) {
    const line = lines[at] ?? ''
    scanner.spend(LINE_END_CHARS)
    for (let i = 0; i < line.length; i = scanner.endOfToken(line, i)) {
      if ('{(['.includes(line[i] ?? ' ')) depth++
      else if ('})]'.includes(line[i] ?? ' ')) depth--
    }
    // A statement continues after a line that ends with an operator or an opening bracket.
    if (depth <= 0 && !/(?:=>?|,|\|\||&&|\?|:|from|\()\s*$/.test(line.slice(-LINE_END_CHARS))) return at
  }
  return start
}

/** Begins the export of an object with the metadata of a page. */
const METADATA_OBJECT = /^export\s+const\s+(?:metadata|meta|frontmatter|frontMatter|pageMetadata)\b[^=]*=\s*\{/
/** Begins the export of a single value of the metadata. */
const METADATA_VALUE = /^export\s+const\s+(title|description|author|lang)\b[^=]*=\s*/
const METADATA_FIELD = /["']?(title|description|author|authors|lang|date|updated)["']?\s*:\s*/iy
/** In Next.js the title can be an object. These fields of the object hold the title itself. */
const TITLE_PART = /["']?(?:absolute|default)["']?\s*:\s*/y

/** Reads the metadata that an export statement declares. */
function readExportedMetadata(statement: string, scanner: Scanner, exportedMetadata: Map<string, string>): void {
  const value = METADATA_VALUE.exec(statement)
  if (value !== null) {
    setField(exportedMetadata, value[1] ?? '', readString(statement, value[0].length, scanner))
    return
  }
  const object = METADATA_OBJECT.exec(statement)
  if (object === null) return
  let depth = 1
  let titleDepth = 0
  for (let at = object[0].length; at < statement.length && depth > 0 && !scanner.isExhausted; ) {
    const pattern = depth === 1 ? METADATA_FIELD : TITLE_PART
    pattern.lastIndex = at
    const field = depth === 1 || depth === titleDepth ? pattern.exec(statement) : null
    if (field !== null) {
      at += field[0].length
      const name = field[1]?.toLowerCase() ?? 'title'
      setField(exportedMetadata, name, readString(statement, at, scanner))
      if (depth === 1 && name === 'title' && statement[at] === '{') titleDepth = 2
      continue
    }
    if ('{(['.includes(statement[at] ?? ' ')) depth++
    else if ('})]'.includes(statement[at] ?? ' ')) {
      depth--
      if (depth < titleDepth) titleDepth = 0
    }
    at = scanner.endOfToken(statement, at)
    // Only the start of a word can be a field.
    while (/[\w$]/.test(statement[at - 1] ?? '') && /[\w$]/.test(statement[at] ?? '')) at++
  }
}

function setField(exportedMetadata: Map<string, string>, name: string, value: string): void {
  if (value !== '' && !exportedMetadata.has(name)) exportedMetadata.set(name, value)
}

function readString(text: string, at: number, scanner: Scanner): string {
  const end = scanner.endOfToken(text, at)
  return textOfExpression(text.slice(at, end))
}
