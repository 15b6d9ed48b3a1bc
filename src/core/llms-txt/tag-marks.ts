import { isBlank } from '../text/lines.ts'
import { decodeEntities, type LlmsFullFile, type PageMark, pageUrl, titleKey, titleText } from './page-mark.ts'

const OPENING_TAG = /^\s*<(doc|page|document)(\s[^<>]*)?>/i
const METADATA_TAG = /^\s*<(source|url|link|title)>([^<>]*)<\/\1>/i
const CONTENT_TAG = /^\s*<((?:document_|page_)?contents?)>/i
// A name is matched from its beginning only: starting at each letter would take quadratic time for a long name.
const ATTRIBUTE = /(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
/** Only this many lines, from the opening tag of a page on, may hold its metadata. */
const MAX_METADATA_LINES = 20

/** `<doc title="…" url="…">…</doc>`, and `<document><source>…</source><document_content>…`. */
export function findTags(file: LlmsFullFile): PageMark[] {
  const { lines, fences } = file
  const marks: PageMark[] = []
  for (let i = 0; i < lines.length; i++) {
    const [tag = '', name = '', attributes = ''] = fences[i] === true ? [] : (OPENING_TAG.exec(lines[i] ?? '') ?? [])
    if (name === '') continue
    const metadata = new Map<string, string>()
    for (const [, key = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
      metadata.set(key.toLowerCase(), decodeEntities(double ?? single ?? ''))
    }
    const edits = new Map<number, string>([[i, (lines[i] ?? '').slice(tag.length)]])
    const content = readMetadataTags(lines, i, edits, metadata)
    const end = findClosing(file, i, name, edits, content)
    const title = titleText(metadata.get('title') ?? '')
    const candidates = ['url', 'source', 'href', 'link'].map((key) => pageUrl(metadata.get(key) ?? '', file.url))
    const url = candidates.find((candidate) => candidate !== undefined) ?? file.titles.get(titleKey(title))
    if (url === undefined) continue
    marks.push({ start: i, end, url, title, edits: [...edits] })
    i = end - 1
  }
  return marks
}

/** Reads the metadata tags after an opening tag and removes them. Returns the name of the tag around the content, if there is one. */
function readMetadataTags(
  lines: readonly string[],
  start: number,
  edits: Map<number, string>,
  metadata: Map<string, string>,
): string | undefined {
  const end = Math.min(lines.length, start + MAX_METADATA_LINES)
  for (let i = start; i < end; ) {
    const line = edits.get(i) ?? lines[i] ?? ''
    const [whole = '', key, value = ''] = METADATA_TAG.exec(line) ?? []
    if (key !== undefined) {
      metadata.set(key.toLowerCase(), decodeEntities(value.trim()))
      edits.set(i, line.slice(whole.length))
    } else if (isBlank(line)) {
      i++
    } else {
      const [opening = '', content] = CONTENT_TAG.exec(line) ?? []
      if (content !== undefined) edits.set(i, line.slice(opening.length))
      return content
    }
  }
  return undefined
}

/** Finds where a page ends, removes its closing tags, and returns the line after the page. */
function findClosing(
  { lines, fences }: LlmsFullFile,
  start: number,
  name: string,
  edits: Map<number, string>,
  content: string | undefined,
): number {
  const closing = `</${name.toLowerCase()}>`
  for (let i = start; i < lines.length; i++) {
    if (fences[i] === true) continue
    const line = (edits.get(i) ?? lines[i] ?? '').trimEnd()
    if (i > start && OPENING_TAG.exec(line)?.[1]?.toLowerCase() === name.toLowerCase()) return i
    if (!line.toLowerCase().endsWith(closing)) continue
    edits.set(i, line.slice(0, -closing.length))
    if (content !== undefined) cutContentEnd(lines, start, i, edits, `</${content.toLowerCase()}>`)
    return i + 1
  }
  return lines.length
}

function cutContentEnd(
  lines: readonly string[],
  start: number,
  end: number,
  edits: Map<number, string>,
  closing: string,
): void {
  for (let i = end; i >= start; i--) {
    const line = (edits.get(i) ?? lines[i] ?? '').trimEnd()
    if (line === '') continue
    if (line.toLowerCase().endsWith(closing)) edits.set(i, line.slice(0, -closing.length))
    return
  }
}
