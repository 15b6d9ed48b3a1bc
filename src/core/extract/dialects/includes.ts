import { closesFence, FenceReader } from '../../markdown/fences.ts'
import { isBlank, splitLines, trimBlank } from '../../text/lines.ts'
import { baseName, extensionOf, resolvePath } from '../../text/path.ts'
import { cutFrontMatter } from '../front-matter.ts'
import { fenceFor } from '../write/escape.ts'

/*
 * Finds, reads and inserts the files that Markdown includes: `--8<-- "a.md"`, `{* a.py *}`, `<<< @/a.ts`, `<!--@include: a.md-->`,
 * `{{#include a.rs}}`, and the files that MDX imports and then uses as a component or as the text of a code block.
 */

/** The text of included files, by their paths as written in the document. */
export type IncludedFiles = Readonly<Record<string, string>>

/** One include directive. */
interface Include {
  readonly indent: string
  /** More than one if a MkDocs directive lists several files. */
  readonly paths: readonly string[]
  /** Whether the file is shown as code, unless the directive already is in code. */
  readonly isCode: boolean
  readonly title: string
  /** The part of the file to include: line numbers, or the name of a region; all if empty. */
  readonly part: string
  readonly language: string
  /** Number of lines of the document that the directive takes up. */
  readonly count: number
  /** Whether a missing file leaves the lines of the document as they are. */
  readonly isOptional: boolean
}

/** Paths of the files that an MDX document imports, by the names that it gives them. */
type ImportedFiles = ReadonlyMap<string, string>

const PYMDOWN_SNIPPET = /^([ \t]*)-{2,}8<-{2,}[ \t]+["']([^"'\n]+)["'][ \t]*$/
const PYMDOWN_SNIPPET_FENCE = /^([ \t]*)-{2,}8<-{2,}[ \t]*$/
const FASTAPI_INCLUDE = /^([ \t]*)\{\*[ \t]*([^\s*]+)((?:[ \t]+\w+\[[^\]]*\])*)[ \t]*\*\}[ \t]*$/
const MARKDOWN_INCLUDE = /^([ \t]*)\{!>?[ \t]*([^\s!]+)[ \t]*!\}[ \t]*$/
const VITEPRESS_SNIPPET =
  /^([ \t]*)<<<[ \t]*([^\s#{[]+)(?:#([\w-]+))?(?:[ \t]*\{([^{}]*)\})?(?:[ \t]*\[([^[\]]*)\])?[ \t]*$/
const VITEPRESS_INCLUDE =
  /^([ \t]*)<!--[ \t]*@include:[ \t]*([^\s#{}]+?)(?:#([\w-]+))?(?:\{([\d,-]*)\})?[ \t]*-->[ \t]*$/
const MDBOOK_INCLUDE = /^([ \t]*)\{\{#(?:rustdoc_)?include[ \t]+([^\s:{}]+)(?::([^{}]*))?\}\}[ \t]*$/
const MYST_INCLUDE = /^([ \t]*)(?:`{3,}|~{3,}|:{3,})\{(include|literalinclude)\}[ \t]+(\S+)[ \t]*$/
const MDX_IMPORT =
  /^import\s+([A-Za-z_$][\w$]*)(?:\s*,\s*\{[^{}]*\})?\s+from\s+["'](?:(?:!!)?raw-loader!([^"'?]+)|([^"']+\.mdx?))["']/
const MDX_COMPONENT = /^([ \t]*)<([A-Z][\w$]*)(?:\s[^<>]*)?\/>[ \t]*$/
const MDX_CODE_BLOCK = /^([ \t]*)<CodeBlock((?:\s[^<>]*)?)>[ \t]*\{[ \t]*([\w$]+)[ \t]*\}[ \t]*<\/CodeBlock>[ \t]*$/
const INCLUDE_HINT = /8<-|\{[*!]|<<<|@include:|\{\{#|\{(?:literal)?include\}/
const MAX_INCLUDE_LINES = 50

const NO_IMPORTS: ImportedFiles = new Map()

/** Finds the imports of Markdown files and of the text of other files, outside code. */
function findImportedFiles(lines: readonly string[]): ImportedFiles {
  if (!lines.some((line) => line.startsWith('import'))) return NO_IMPORTS
  const imported = new Map<string, string>()
  const fences = new FenceReader()
  for (const line of lines) {
    const [, name = '', textPath, markdownPath] = (fences.read(line) === undefined ? MDX_IMPORT.exec(line) : null) ?? []
    const path = textPath ?? markdownPath
    if (path !== undefined) imported.set(name, path)
  }
  return imported
}

/** Parses the use of an imported file on a line; undefined if there is none. */
function readImportedUse(line: string, imported: ImportedFiles): Include | undefined {
  const [, indent = '', component = ''] = MDX_COMPONENT.exec(line) ?? []
  const partial = imported.get(component)
  if (partial !== undefined) return createInclude(indent, [partial], { isOptional: true })
  const [, blockIndent = '', attributes = '', name = ''] = MDX_CODE_BLOCK.exec(line) ?? []
  const source = imported.get(name)
  if (source === undefined) return undefined
  const attribute = (key: string) => new RegExp(`\\s${key}=["']([^"']*)["']`).exec(attributes)?.[1] ?? ''
  return createInclude(blockIndent, [source], {
    isCode: true,
    isOptional: true,
    language: /^[\w+#-]*$/.exec(attribute('language'))?.[0] ?? '',
    title: attribute('title'),
  })
}

/** Parses the include on a line; undefined if there is none. */
function readInclude(lines: readonly string[], at: number, imported: ImportedFiles): Include | undefined {
  const line = lines[at] ?? ''
  if (imported.size > 0 && line.includes('<')) {
    const use = readImportedUse(line, imported)
    if (use !== undefined) return use
  }
  if (!INCLUDE_HINT.test(line)) return undefined
  const snippet = PYMDOWN_SNIPPET.exec(line)
  if (snippet !== null) {
    const [, path = '', part = ''] = /^((?:https?:\/\/)?[^:]*):?(.*)$/.exec(snippet[2] ?? '') ?? []
    return createInclude(snippet[1], [path], { part: part.replace(':', '-') })
  }
  const list = PYMDOWN_SNIPPET_FENCE.exec(line)
  if (list !== null) {
    const end = lines.slice(at + 1, at + MAX_INCLUDE_LINES).findIndex((entry) => PYMDOWN_SNIPPET_FENCE.test(entry))
    if (end < 0) return undefined
    const paths = lines
      .slice(at + 1, at + 1 + end)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '' && !entry.startsWith(';'))
    return createInclude(list[1], paths, { count: end + 2 })
  }
  const fastApi = FASTAPI_INCLUDE.exec(line)
  if (fastApi !== null) {
    const [, range = ''] = /\bln\[([^[\]]*)\]/.exec(fastApi[3] ?? '') ?? []
    return createInclude(fastApi[1], [fastApi[2] ?? ''], { isCode: true, part: range.replaceAll(':', '-') })
  }
  const markdownInclude = MARKDOWN_INCLUDE.exec(line)
  if (markdownInclude !== null) return createInclude(markdownInclude[1], [markdownInclude[2] ?? ''])
  const vitePressSnippet = VITEPRESS_SNIPPET.exec(line)
  if (vitePressSnippet !== null) {
    const [, language = ''] = /(?:^|\s)([A-Za-z][\w+#-]*)(?::[\w-]+)?\s*$/.exec(vitePressSnippet[4] ?? '') ?? []
    return createInclude(vitePressSnippet[1], [vitePressSnippet[2] ?? ''], {
      isCode: true,
      part: vitePressSnippet[3] ?? '',
      language,
      title: vitePressSnippet[5] ?? '',
    })
  }
  const vitePressInclude = VITEPRESS_INCLUDE.exec(line)
  if (vitePressInclude !== null) {
    return createInclude(vitePressInclude[1], [vitePressInclude[2] ?? ''], {
      part: (vitePressInclude[4] ?? vitePressInclude[3] ?? '').replace(',', '-'),
    })
  }
  const mdBookInclude = MDBOOK_INCLUDE.exec(line)
  if (mdBookInclude !== null) {
    const [, indent, path = '', part = ''] = mdBookInclude
    return createInclude(indent, [path], { part: part.replace(':', '-') })
  }
  return readDirectiveInclude(lines, at)
}

function createInclude(indent = '', paths: readonly string[] = [], properties: Partial<Include> = {}): Include {
  return { indent, paths, isCode: false, title: '', part: '', language: '', count: 1, isOptional: false, ...properties }
}

/** Parses a MyST directive that includes a file, with its options. */
function readDirectiveInclude(lines: readonly string[], at: number): Include | undefined {
  const [line = '', indent = '', name = '', path = ''] = MYST_INCLUDE.exec(lines[at] ?? '') ?? []
  if (path === '') return undefined
  const marker = /[`~:]{3,}/.exec(line)?.[0] ?? ''
  const end = lines
    .slice(at + 1, at + MAX_INCLUDE_LINES)
    .findIndex((bodyLine) => closesFence(bodyLine, { indent, marker, info: '' }))
  if (end < 0) return undefined
  const options = new Map<string, string>()
  for (const optionLine of lines.slice(at + 1, at + 1 + end)) {
    const [, key = '', value = ''] = /^\s*:([\w-]+):\s*(.*)$/.exec(optionLine) ?? []
    options.set(key, value.trim())
  }
  const isCode = name === 'literalinclude'
  return createInclude(indent, [path], {
    isCode,
    part: options.get('lines') ?? '',
    language: options.get('language') ?? '',
    title: options.get('caption') ?? '',
    count: end + 2,
  })
}

/** The paths of included files, as written. */
export function listIncludes(lines: readonly string[]): string[] {
  const paths = new Set<string>()
  const imported = findImportedFiles(lines)
  if (imported.size === 0 && !INCLUDE_HINT.test(lines.join('\n'))) return []
  for (let at = 0; at < lines.length && paths.size < MAX_FILES; at++) {
    for (const path of readInclude(lines, at, imported)?.paths ?? []) paths.add(path)
  }
  return [...paths]
}

const MAX_FILES = 100
const MAX_CHARS = 2_000_000
const MAX_DEPTH = 4

/**
 * The paths in the tree that an include may mean, the likeliest first: relative to the folder of the document, and to each folder above it,
 * because generators resolve from where they run. There are none for a path that leads out of the tree, an absolute path or a URL.
 */
export function listCandidatePaths(written: string, document: string): string[] {
  const path = written.replace(/^(?:@site|@|~)\//, '')
  if (path === '' || path.startsWith('/') || /^[a-z][a-z\d+.-]*:/i.test(path) || path.includes('\\')) return []
  const candidates = new Set<string>()
  const folders = document.split('/').slice(0, -1)
  for (let depth = folders.length; depth >= 0; depth--) {
    const candidate = resolvePath(folders.slice(0, depth).join('/'), path)
    if (candidate !== undefined && candidate !== '') candidates.add(candidate)
  }
  return [...candidates]
}

/**
 * Reads the files that a document includes, and those that they include. `read` returns the text of a file of the same tree; undefined for
 * a missing or unreadable one.
 */
export async function readIncludes(
  text: string,
  document: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<IncludedFiles> {
  const budget = { files: MAX_FILES, chars: MAX_CHARS }
  const readAll = async (source: string, sourcePath: string, depth: number): Promise<IncludedFiles> => {
    const files: Record<string, string> = {}
    for (const written of listIncludes(splitLines(source))) {
      for (const path of listCandidatePaths(written, sourcePath)) {
        if (budget.files <= 0 || budget.chars <= 0) return files
        budget.files--
        const content = await read(path)
        if (content === undefined) continue
        budget.chars -= content.length
        if (budget.chars < 0) break
        files[written] = isMarkdown(path) && depth < MAX_DEPTH ? await expand(content, path, depth) : content
        break
      }
    }
    return files
  }
  const expand = async (content: string, path: string, depth: number): Promise<string> => {
    const { lines } = cutFrontMatter(splitLines(content))
    return expandIncludes(lines, await readAll(content, path, depth + 1)).join('\n')
  }
  return readAll(text, document, 0)
}

function isMarkdown(path: string): boolean {
  return /\.(?:md|mdx|markdown)$/i.test(path)
}

/** Expands the includes in lines. A missing file is shown by its name. */
export function expandIncludes(lines: readonly string[], files: IncludedFiles): readonly string[] {
  const imported = findImportedFiles(lines)
  if (imported.size === 0 && !lines.some((line) => INCLUDE_HINT.test(line))) return lines
  const written: string[] = []
  const fences = new FenceReader()
  let charsLeft = MAX_CHARS
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const include = readInclude(lines, at, fences.fence === undefined ? imported : NO_IMPORTS)
    const isLeft =
      include?.isOptional === true && (charsLeft <= 0 || include.paths.some((path) => !Object.hasOwn(files, path)))
    if (include !== undefined && !isLeft) {
      // A document may include one file many times, so the total size is limited.
      const includedLines = writeInclude(include, charsLeft > 0 ? files : {}, fences.fence !== undefined)
      // A component is a block of its own, even without blank lines around it.
      if (include.isOptional && !isBlank(written.at(-1) ?? '')) written.push('')
      for (const includedLine of includedLines) {
        written.push(includedLine === '' ? '' : include.indent + includedLine)
        charsLeft -= includedLine.length + 1
      }
      at += include.count - 1
      if (include.isOptional && !isBlank(lines[at + 1] ?? '')) written.push('')
      continue
    }
    fences.read(line)
    if (!REGION_MARKER.test(line)) written.push(line)
  }
  return written
}

/** Marks the start or the end of a region that other documents can include. */
const REGION_MARKER = /^\s*(?:(?:<!--|\/\/|#|\/\*)\s*)?-{2,}8<-{2,}\s*\[(?:start|end)(?::[\w-]+)?\]/

function writeInclude(include: Include, files: IncludedFiles, isInFence: boolean): string[] {
  return include.paths.flatMap((path) => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    const name = /^https?:/.test(path) ? path : baseName(path)
    if (text === undefined) return isInFence ? [name] : [`\`${name}\``]
    const lines = selectLines(splitLines(text), include.part)
    const isCode = !isInFence && (include.isCode || !isMarkdown(path))
    if (!isCode) return include.isOptional ? trimBlank(lines) : lines
    const fence = fenceFor(lines.join('\n'), 3)
    const language = include.language === '' ? extensionOf(path) : include.language
    const title = include.title === '' ? '' : ` title="${include.title.replace(/["`]/g, "'")}"`
    return [`${fence}${language}${title}`, ...lines, fence]
  })
}

/** The requested part of a file: by line numbers, or the region between two markers. */
function selectLines(lines: readonly string[], part: string): readonly string[] {
  const ranges = [...part.matchAll(/(\d*)-(\d*)|(\d+)/g)].filter(([all]) => all !== '' && all !== '-')
  if (part !== '' && /^[\d,\s-]+$/.test(part) && ranges.length > 0) {
    return ranges.flatMap(([, from = '', to = '', single]) => {
      if (single !== undefined) return lines.slice(Number(single) - 1, Number(single))
      return lines.slice(from === '' ? 0 : Number(from) - 1, to === '' ? lines.length : Number(to))
    })
  }
  const selected = part === '' ? lines : selectRegion(lines, part)
  return selected.filter((line) => !isRegionMarker(line))
}

function isRegionMarker(line: string): boolean {
  return (
    REGION_MARKER.test(line) || /^\s*(?:\/\/|#|<!--|\/\*|--|;|%)\s*(?:#?(?:end)?region\b|ANCHOR(?:_END)?:)/.test(line)
  )
}

function selectRegion(lines: readonly string[], name: string): readonly string[] {
  const begins = (line: string) =>
    isRegionMarker(line) && line.includes(name) && !/end/i.test(line.split(name)[0] ?? '')
  const start = lines.findIndex(begins)
  if (start < 0) return lines
  const end = lines.findIndex(
    (line, i) => i > start && isRegionMarker(line) && /end/i.test(line) && (line.includes(name) || !/[[:]/.test(line)),
  )
  return dedent(lines.slice(start + 1, end < 0 ? lines.length : end))
}

function dedent(lines: readonly string[]): string[] {
  const indentLength = (line: string) => line.length - line.trimStart().length
  const minIndent = Math.min(...lines.filter((line) => !isBlank(line)).map(indentLength))
  return lines.map((line) => line.slice(Math.min(minIndent, indentLength(line))))
}
