import { FenceReader } from '../markdown/fences.ts'
import { indentOf, splitLines } from '../text/lines.ts'
import { BREAKING_HEADING, BREAKING_LINE, isMajor, type ReleaseSection } from './release-notes.ts'

/** A sentence of a changelog or guide that may announce an incompatible change. */
export interface Announcement {
  readonly sentence: string
  /** Subject of a commit message: `parser` of `**parser:** rename …`; empty if there is none. */
  readonly scope: string
  readonly path: string
  /** From 1. */
  readonly line: number
}

/** Headings of lists that break nothing. */
const HARMLESS_HEADING =
  /minor|patch|\badd|feature|\bnew\b|fix|perf|docs?\b|document|improve|depend|intern|locale|chore/i
/** Words about changes that break code, which are counted in major releases only. */
const CHANGED_LINE =
  /\b(?:now|chang\w+|behaviou?rs?|default\w*|always|never|throws?|returns?|mov(?:e|ed|es)|internal|swap\w*|rewr\w+|tweak\w*|not \w+ any ?more)\b/i
const URGENT = /\bBREAKING\b|\bbreaking(?: change)?\b|⚠/
const ITEM = /^\s*(?:[-*+]|\d+\.)\s+/
/** A type of commit and its subject, in bold or not. */
const SCOPE =
  /^(?:[0-9a-f]{6,40}:\s*)?(?:\*\*([\w /-]+):\*\*|(?:feat|fix|chore|refactor\w*|perf)\s*\(([\w /-]+)\)!?:)\s*/

/** Reads the sentences about incompatible changes, in order. */
export function readAnnouncements(sections: readonly ReleaseSection[]): Announcement[] {
  return sections.flatMap(readSection)
}

function readSection(section: ReleaseSection): Announcement[] {
  const isWholeMajor = isMajor(section) || /^\d+\.0\.0-|^0\.\d+(?:\.0)?$/.test(section.version ?? '')
  return readItems(section).flatMap(({ text, heading, line, isTitle }) => {
    const isUrgent = URGENT.test(text)
    const isBreaking = isUrgent || heading === 'breaking'
    const isRelevant = (sentence: string) =>
      BREAKING_LINE.test(sentence) || (isWholeMajor && (isTitle || CHANGED_LINE.test(sentence)))
    if (!isBreaking && (!isWholeMajor || heading === 'harmless')) return []
    const [, bold, plain] = SCOPE.exec(text) ?? []
    const scope = (bold ?? plain ?? '').trim().toLowerCase()
    return splitSentences(text.replace(SCOPE, ''))
      .filter((sentence, i) => (isBreaking && i === 0) || isRelevant(sentence))
      .map((sentence) => ({ sentence, scope, path: section.path, line }))
  })
}

interface Item {
  readonly text: string
  readonly heading: 'breaking' | 'harmless' | 'other'
  readonly line: number
  /** Whether it is a heading of a guide. */
  readonly isTitle: boolean
}

/** Items of lists, rows of tables and paragraphs; the headings of a guide name its subjects. Code blocks are left out. */
function readItems({ kind, lines, firstLine }: ReleaseSection): Item[] {
  const items: Item[] = []
  const trail: { readonly level: number; readonly heading: Item['heading'] }[] = []
  const labels: { readonly indent: number; readonly text: string }[] = []
  let parts: string[] = []
  let start = 0
  const fences = new FenceReader()
  const heading = () => trail.findLast((one) => one.heading !== 'other')?.heading ?? 'other'
  const close = () => {
    const text = parts.join(' ')
    if (LABEL.test(text)) labels.push({ indent: indentOf(lines[start] ?? ''), text })
    // `- remove:` says of the items below it what happened to them.
    const label = labels.find(({ indent }) => indent < indentOf(lines[start] ?? ''))?.text
    const whole = label === undefined ? text : `${label} ${text}`
    if (text !== '') items.push({ text: whole, heading: heading(), line: firstLine + start, isTitle: false })
    parts = []
  }
  splitLines(lines.join('\n')).forEach((raw, at) => {
    if (fences.read(raw) !== undefined) {
      close()
      return
    }
    const text = raw.replace(/\]\((?:[^()]|\([^()]*\))*\)/g, ']').trim()
    const [, marks = '', title = ''] = /^(#{1,6})\s+(.*)$/.exec(text) ?? []
    if (marks !== '') {
      close()
      while ((trail.at(-1)?.level ?? 0) >= marks.length) trail.pop()
      trail.push({ level: marks.length, heading: kindOfHeading(title) })
      if (kind === 'migration') items.push({ text: title, heading: heading(), line: firstLine + at, isTitle: true })
      return
    }
    const isRow = text.startsWith('|')
    if (text === '' || isRow || ITEM.test(raw)) close()
    if (text === '' || /^(?:<!--|={3,}$|-{3,}$|\|[\s|:-]+\|$)/.test(text)) return
    if (parts.length === 0) start = at
    if (parts.length === 0) while ((labels.at(-1)?.indent ?? -1) >= indentOf(raw)) labels.pop()
    // The first cell names what the row is about.
    parts.push(isRow ? (text.split('|')[1] ?? '').trim() : text.replace(ITEM, ''))
  })
  close()
  return items
}

/** An item that is the heading of a list. */
const LABEL = /^[\w ]{3,30}:$/

function kindOfHeading(title: string): Item['heading'] {
  if (BREAKING_HEADING.test(title) && !/\bnon-?breaking/i.test(title)) return 'breaking'
  return HARMLESS_HEADING.test(title) ? 'harmless' : 'other'
}

/** Longer sentences are cut: the patterns for names and code spans would take minutes for a sentence of a megabyte. */
const MAX_SENTENCE_CHARS = 2000

/** Sentences end with a full stop before a space and a capital letter, a code span or emphasis. */
function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?]\**\)?)\s+(?=[A-Z`*([])/).map((sentence) => sentence.slice(0, MAX_SENTENCE_CHARS))
}
