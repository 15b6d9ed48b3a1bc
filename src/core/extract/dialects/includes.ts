import { isBlank, splitLines } from '../../text/lines.ts'
import { baseName, extensionOf } from '../../text/path.ts'
import { cutFrontMatter } from '../front-matter.ts'
import { fenceFor } from '../write/escape.ts'
import { closesFence, type Fence, readFence } from './fences.ts'

/* Files that Markdown includes: `--8<-- "a.md"`, `{* a.py *}`, `<<< @/a.ts`, `<!--@include: a.md-->`, `{{#include a.rs}}`. */

/** The text of included files, by their paths as written in the document. */
export type IncludedFiles = Readonly<Record<string, string>>

/** One include directive. */
interface Include {
  readonly lead: string
  /** More than one if a MkDocs directive lists several files. */
  readonly paths: readonly string[]
  /** Whether the file is shown as code, unless the directive already is in code. */
  readonly isCode: boolean
  readonly title: string
  /** The included lines: a range, or the name of a part. */
  readonly part: string
  readonly language: string
  /** Number of lines of the document that it replaces. */
  readonly count: number
}

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
const INCLUDE_HINT = /8<-|\{[*!]|<<<|@include:|\{\{#|\{(?:literal)?include\}/
const MAX_INCLUDE_LINES = 50

/** Parses the include on a line; undefined if there is none. */
function readInclude(lines: readonly string[], at: number): Include | undefined {
  const line = lines[at] ?? ''
  if (!INCLUDE_HINT.test(line)) return undefined
  const snippet = PYMDOWN_SNIPPET.exec(line)
  if (snippet !== null) {
    const [, path = '', part = ''] = /^((?:https?:\/\/)?[^:]*):?(.*)$/.exec(snippet[2] ?? '') ?? []
    return createInclude(snippet[1], [path], { part: part.replace(':', '-') })
  }
  const list = PYMDOWN_SNIPPET_FENCE.exec(line)
  if (list !== null) {
    const end = lines.slice(at + 1, at + MAX_INCLUDE_LINES).findIndex((one) => PYMDOWN_SNIPPET_FENCE.test(one))
    if (end < 0) return undefined
    const paths = lines
      .slice(at + 1, at + 1 + end)
      .map((one) => one.trim())
      .filter((one) => one !== '' && !one.startsWith(';'))
    return createInclude(list[1], paths, { count: end + 2 })
  }
  const starred = FASTAPI_INCLUDE.exec(line)
  if (starred !== null) {
    const [, range = ''] = /\bln\[([^\]]*)\]/.exec(starred[3] ?? '') ?? []
    return createInclude(starred[1], [starred[2] ?? ''], { isCode: true, part: range.replaceAll(':', '-') })
  }
  const banged = MARKDOWN_INCLUDE.exec(line)
  if (banged !== null) return createInclude(banged[1], [banged[2] ?? ''])
  const arrowed = VITEPRESS_SNIPPET.exec(line)
  if (arrowed !== null) {
    const [, language = ''] = /(?:^|\s)([A-Za-z][\w+#-]*)(?::[\w-]+)?\s*$/.exec(arrowed[4] ?? '') ?? []
    return createInclude(arrowed[1], [arrowed[2] ?? ''], {
      isCode: true,
      part: arrowed[3] ?? '',
      language,
      title: arrowed[5] ?? '',
    })
  }
  const commented = VITEPRESS_INCLUDE.exec(line)
  if (commented !== null) {
    return createInclude(commented[1], [commented[2] ?? ''], {
      part: (commented[4] ?? commented[3] ?? '').replace(',', '-'),
    })
  }
  const doubled = MDBOOK_INCLUDE.exec(line)
  if (doubled !== null)
    return createInclude(doubled[1], [doubled[2] ?? ''], { part: (doubled[3] ?? '').replace(':', '-') })
  return readDirectiveInclude(lines, at)
}

function createInclude(lead = '', paths: readonly string[] = [], about: Partial<Include> = {}): Include {
  return { lead, paths, isCode: false, title: '', part: '', language: '', count: 1, ...about }
}

/** Parses a MyST directive that includes a file, with its options. */
function readDirectiveInclude(lines: readonly string[], at: number): Include | undefined {
  const [line = '', lead = '', name = '', path = ''] = MYST_INCLUDE.exec(lines[at] ?? '') ?? []
  if (path === '') return undefined
  const marker = /[`~:]{3,}/.exec(line)?.[0] ?? ''
  const end = lines
    .slice(at + 1, at + MAX_INCLUDE_LINES)
    .findIndex((one) => closesFence(one, { indent: lead, marker, info: '' }))
  if (end < 0) return undefined
  const options = new Map<string, string>()
  for (const one of lines.slice(at + 1, at + 1 + end)) {
    const [, key = '', value = ''] = /^\s*:([\w-]+):\s*(.*)$/.exec(one) ?? []
    options.set(key, value.trim())
  }
  const isCode = name === 'literalinclude'
  return createInclude(lead, [path], {
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
  if (!INCLUDE_HINT.test(lines.join('\n'))) return []
  for (let at = 0; at < lines.length && paths.size < MAX_FILES; at++) {
    for (const path of readInclude(lines, at)?.paths ?? []) paths.add(path)
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
  const path = written.replace(/^(?:@|~)\//, '')
  if (path === '' || path.startsWith('/') || /^[a-z][a-z\d+.-]*:/i.test(path) || path.includes('\\')) return []
  const places = new Set<string>()
  const folders = document.split('/').slice(0, -1)
  for (let depth = folders.length; depth >= 0; depth--) {
    const parts = folders.slice(0, depth)
    const isInside = path.split('/').every((part) => {
      if (part === '..') return parts.pop() !== undefined
      if (part !== '.' && part !== '') parts.push(part)
      return true
    })
    if (isInside && parts.length > 0) places.add(parts.join('/'))
  }
  return [...places]
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
  const take = async (source: string, from: string, depth: number): Promise<IncludedFiles> => {
    const files: Record<string, string> = {}
    for (const written of listIncludes(splitLines(source))) {
      for (const place of listCandidatePaths(written, from)) {
        if (budget.files <= 0 || budget.chars <= 0) return files
        budget.files--
        const found = await read(place)
        if (found === undefined) continue
        budget.chars -= found.length
        if (budget.chars < 0) break
        files[written] = isMarkdown(place) && depth < MAX_DEPTH ? await expand(found, place, depth) : found
        break
      }
    }
    return files
  }
  const expand = async (found: string, place: string, depth: number): Promise<string> => {
    const { lines } = cutFrontMatter(splitLines(found))
    return expandIncludes(lines, await take(found, place, depth + 1)).join('\n')
  }
  return take(text, document, 0)
}

function isMarkdown(path: string): boolean {
  return /\.(?:md|mdx|markdown)$/i.test(path)
}

/** Expands the includes in lines. A missing file is shown by its name. */
export function expandIncludes(lines: readonly string[], files: IncludedFiles): readonly string[] {
  if (!lines.some((line) => INCLUDE_HINT.test(line))) return lines
  const written: string[] = []
  let fence: Fence | undefined
  let left = MAX_CHARS
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const include = readInclude(lines, at)
    if (include !== undefined) {
      // A document may include one file many times, so the total size is limited.
      const taken = writeInclude(include, left > 0 ? files : {}, fence !== undefined)
      for (const one of taken) {
        written.push(one === '' ? '' : include.lead + one)
        left -= one.length + 1
      }
      at += include.count - 1
      continue
    }
    if (fence !== undefined && closesFence(line, fence)) fence = undefined
    else fence ??= readFence(line)
    if (!REGION_MARKER.test(line)) written.push(line)
  }
  return written
}

/** Markers of parts that other documents include. */
const REGION_MARKER = /^\s*(?:<!--|\/\/|#|\/\*)?\s*-{2,}8<-{2,}\s*\[(?:start|end)(?::[\w-]+)?\]/

function writeInclude(include: Include, files: IncludedFiles, isInFence: boolean): string[] {
  return include.paths.flatMap((path) => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    const name = /^https?:/.test(path) ? path : baseName(path)
    if (text === undefined) return isInFence ? [name] : [`\`${name}\``]
    const lines = selectLines(splitLines(text), include.part)
    const isCode = !isInFence && (include.isCode || !isMarkdown(path))
    if (!isCode) return lines
    const fence = fenceFor(lines.join('\n'), 3)
    const language = include.language === '' ? extensionOf(path) : include.language
    const title = include.title === '' ? '' : ` title="${include.title.replaceAll('"', "'")}"`
    return [`${fence}${language}${title}`, ...lines, fence]
  })
}

/** The requested lines of a file: by line numbers, or between two markers. */
function selectLines(lines: readonly string[], part: string): readonly string[] {
  const ranges = [...part.matchAll(/(\d*)-(\d*)|(\d+)/g)].filter(([all]) => all !== '' && all !== '-')
  if (part !== '' && /^[\d,\s-]+$/.test(part) && ranges.length > 0) {
    return ranges.flatMap(([, from = '', to = '', one]) => {
      if (one !== undefined) return lines.slice(Number(one) - 1, Number(one))
      return lines.slice(from === '' ? 0 : Number(from) - 1, to === '' ? lines.length : Number(to))
    })
  }
  const shown = part === '' ? lines : selectRegion(lines, part)
  return shown.filter((line) => !isRegionMarker(line))
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
  const least = Math.min(...lines.filter((line) => !isBlank(line)).map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(Math.min(least, line.length - line.trimStart().length)))
}
