import { parseDate } from '../core/extract/metadata/dates.ts'
import { escapeHtml } from '../core/html/escape.ts'
import { splitLines } from '../core/text/lines.ts'
import type { Converter } from './document.ts'
import { Anchors, createDocument, readText } from './markup.ts'
import { endOfNote, OrgBlocks } from './org/blocks.ts'
import type { OrgTargets } from './org/inline.ts'

/** Converts an Org file to HTML. Code blocks are shown, never run; included files are only named. */
export const convertOrg: Converter = (bytes) => {
  const lines = splitLines(readText(bytes)).map((line) => line.trimEnd().replaceAll('\t', '        '))
  const settings = readSettings(lines)
  const parts = splitHeadlines(lines, settings.get('todo'))
  const notes = readNotes(lines)
  const targets = createTargets(parts, notes, lines)
  const blocks = new OrgBlocks(targets)
  const title = settings.get('title') ?? null
  // If a file has a title, its headlines are one level below it.
  const shift = title === null ? 0 : 1
  const html = parts.map((part) => writePart(part, blocks, shift)).join('')
  const body = `${title === null ? '' : `<h1>${blocks.inline(title)}</h1>\n`}${html}`
  return createDocument(body + writeNotes(notes, blocks), 'html', {
    title: (title ?? parts.find(({ level }) => level > 0)?.title)?.replace(/[*=~]/g, '') ?? null,
    author: settings.get('author') ?? null,
    language: settings.get('language') ?? null,
    modifiedAt: parseDate(/\d{4}-\d\d-\d\d/.exec(settings.get('date') ?? '')?.[0] ?? ''),
  })
}

/** A headline and its content; level 0 is the content before all headlines. */
interface OrgSection {
  readonly level: number
  readonly title: string
  readonly anchor: string
  /** Names by which links refer to the section. */
  readonly names: readonly string[]
  readonly lines: string[]
}

const SETTING = /^#\+(title|author|date|language|todo|seq_todo|typ_todo):\s*(.+)$/i

/** The settings of a file. A title may span several lines. */
function readSettings(lines: readonly string[]): Map<string, string> {
  const settings = new Map<string, string>()
  for (const line of lines) {
    const [, key = '', value = ''] = SETTING.exec(line) ?? []
    if (key === '') continue
    const name = key.toLowerCase().replace(/^(?:seq|typ)_/, '')
    const before = settings.get(name)
    settings.set(name, before === undefined ? value.trim() : `${before} ${value.trim()}`)
  }
  return settings
}

const HEADLINE = /^(\*+)\s+(.*)$/
const TAGS = /\s:([\w@#%:]{1,200}):$/

/** Splits a file at its headlines. Comments and unpublished headlines are dropped with everything below them. */
function splitHeadlines(lines: readonly string[], todo = ''): OrgSection[] {
  const states = new Set(['TODO', 'DONE', ...todo.replace(/\([^()]*\)|\|/g, ' ').split(/\s+/)])
  const anchors = new Anchors()
  const parts: OrgSection[] = [{ level: 0, title: '', anchor: '', names: [], lines: [] }]
  let hiddenLevel = Number.POSITIVE_INFINITY
  for (const [at, line] of lines.entries()) {
    const [, stars = '', rest = ''] = HEADLINE.exec(line) ?? []
    if (stars === '') {
      if (hiddenLevel === Number.POSITIVE_INFINITY) parts.at(-1)?.lines.push(line)
      continue
    }
    if (stars.length <= hiddenLevel) hiddenLevel = Number.POSITIVE_INFINITY
    const { title, isHidden } = readHeadline(rest, states)
    if (isHidden) hiddenLevel = Math.min(hiddenLevel, stars.length)
    if (hiddenLevel !== Number.POSITIVE_INFINITY) continue
    const ids = readIds(lines, at + 1)
    const anchor = ids[0] === undefined ? anchors.create(title) : anchors.claim(ids[0])
    parts.push({ level: stars.length, title, anchor, names: [title, ...ids], lines: [] })
  }
  return parts
}

function readHeadline(
  text: string,
  states: ReadonlySet<string>,
): { readonly title: string; readonly isHidden: boolean } {
  const tags = TAGS.exec(text)?.[1]?.split(':') ?? []
  let title = text.replace(TAGS, '').trim()
  const [first = ''] = title.split(/\s+/, 1)
  if (states.has(first) && first !== '') title = title.slice(first.length).trim()
  title = title.replace(/^\[#[A-Z\d]\]\s*/, '')
  const isComment = /^COMMENT(?:\s|$)/.test(title)
  return {
    title: title.replace(/(?<!\s)\s*\[\d*(?:%|\/\d*)\]$/, ''),
    isHidden: isComment || tags.includes('noexport') || tags.includes('ARCHIVE'),
  }
}

/** The ids in the properties of a headline. */
function readIds(lines: readonly string[], start: number): string[] {
  const ids: string[] = []
  for (const line of lines.slice(start, start + MAX_PROPERTIES)) {
    const text = line.trim()
    if (/^:end:$/i.test(text) || text.startsWith('*')) break
    const [, id] = /^:CUSTOM_ID:\s*(\S{1,200})$/i.exec(text) ?? []
    if (id !== undefined) ids.push(id)
  }
  return ids
}

const MAX_PROPERTIES = 20

/** The footnotes of a file by label. */
function readNotes(lines: readonly string[]): Map<string, string> {
  const notes = new Map<string, string>()
  for (const [at, line] of lines.entries()) {
    const [mark, label = ''] = /^\[fn:([\w-]{1,80})\]\s*/.exec(line) ?? []
    if (mark === undefined) continue
    notes.set(label, [line.slice(mark.length), ...lines.slice(at + 1, endOfNote(lines, at))].join('\n'))
  }
  return notes
}

function createTargets(parts: readonly OrgSection[], notes: Map<string, string>, lines: readonly string[]): OrgTargets {
  const anchors = new Map<string, string>()
  for (const { names, anchor } of parts) for (const name of names) if (!anchors.has(name)) anchors.set(name, anchor)
  const abbreviations = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', address = ''] = /^#\+link:\s*(\S{1,60})\s+(\S+)/i.exec(line) ?? []
    if (name !== '') abbreviations.set(name, address)
  }
  return {
    find: (name) => anchors.get(name.replace(/^[*#]/, '').trim()),
    hasNote: (label) => notes.has(label),
    addNote(label, text) {
      const name = label === '' ? `note-${notes.size + 1}` : label
      notes.set(name, text)
      return name
    },
    abbreviations,
  }
}

function writePart({ level, title, anchor, lines }: OrgSection, blocks: OrgBlocks, shift: number): string {
  const html = blocks.write(lines)
  if (level === 0) return html
  const name = `h${Math.min(level + shift, 6)}`
  // A section that only holds the footnotes is left out.
  if (html === '' && /^footnotes$/i.test(title)) return ''
  return `<${name} id="${escapeHtml(anchor)}">${blocks.inline(title)}</${name}>\n${html}`
}

function writeNotes(notes: ReadonlyMap<string, string>, blocks: OrgBlocks): string {
  return [...notes]
    .map(([label, text]) => `<aside class="footnote" id="fn-${label}">${blocks.write(splitLines(text))}</aside>\n`)
    .join('')
}
