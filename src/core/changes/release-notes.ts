import { parseBlocks } from '../markdown/blocks.ts'
import { FenceReader } from '../markdown/fences.ts'
import { clipText, splitLines } from '../text/lines.ts'
import { baseName } from '../text/path.ts'
import { compareVersions } from '../version/version.ts'
import type { ComparedPage, ReleaseNote } from './change.ts'

const MIGRATION = /(?:^|[/_-])(?:migrat\w*|upgrad\w*|breaking)(?:$|[/._-])/i
const CHANGELOG = /^(?:changelog|changes|history|news|releases?|release[-_ ]?notes|whats?[-_]?new)(?:$|[._-])/i
const MAX_NOTES = 12
const MAX_NOTE_LINES = 12
const MAX_LINE_CHARS = 240

/** Whether a page tells what changed between versions, rather than how the program works. */
export function isReleasePage({ path }: Pick<ComparedPage, 'path'>): boolean {
  return MIGRATION.test(path) || CHANGELOG.test(baseName(path.replace(/\/$/, '')))
}

/** What a page says about one version, or about all of them. */
export interface ReleaseSection extends Pick<ReleaseNote, 'kind' | 'title' | 'version' | 'path' | 'line'> {
  readonly lines: readonly string[]
  /** Line of the page on which `lines` begin, from 1. */
  readonly firstLine: number
}

/** Reads what the newer version says about the versions after `from`, up to `to`: migration guides first, then the newest release. */
export function readReleaseSections(pages: readonly ComparedPage[], from: string, to: string): ReleaseSection[] {
  const isBetween = (version: string) => compareVersions(version, from) > 0 && isUpTo(version, to)
  const sections = pages.filter(isReleasePage).flatMap((page) => readPage(page, isBetween))
  const rank = { migration: 0, release: 1 } as const
  const sorted = sections.toSorted((a, b) => {
    return rank[a.kind] - rank[b.kind] || compareVersions(b.version ?? '0', a.version ?? '0')
  })
  // Major releases first, because minor ones promise to break nothing.
  return [...sorted.filter(isMajor), ...sorted.filter((section) => !isMajor(section))]
}

/** Whether a section is about a major version, or a guide. */
export function isMajor({ kind, version }: Pick<ReleaseNote, 'kind' | 'version'>): boolean {
  return kind === 'migration' || /^\d+(?:\.0)*$/.test(version ?? '')
}

/** Shortens sections to what is shown of them. */
export function writeReleaseNotes(sections: readonly ReleaseSection[]): ReleaseNote[] {
  return sections.slice(0, MAX_NOTES).map(createNote)
}

/** `4` counts up to 4.2.1, although the release is 4.0.0. */
function isUpTo(version: string, to: string): boolean {
  return compareVersions(version, to) <= 0 || to.startsWith(`${version}.`)
}

function readPage({ path, markdown }: ComparedPage, isBetween: (version: string) => boolean): ReleaseSection[] {
  const lines = splitLines(markdown)
  const headings = [...parseBlocks(lines)].filter(({ type }) => type === 'heading')
  const isGuide = MIGRATION.test(path)
  const ownVersion = versionIn(baseName(path)) ?? (isGuide ? versionIn(headings[0]?.text ?? '') : undefined)
  const whole = { kind: 'migration', title: headings[0]?.text ?? path, path, line: 1, lines, firstLine: 1 } as const
  if (isGuide && ownVersion !== undefined) return isBetween(ownVersion) ? [{ ...whole, version: ownVersion }] : []
  const sections: ReleaseSection[] = []
  let end = 0
  headings.forEach(({ level, text, start, open }, i) => {
    const version = versionIn(text)
    if (version === undefined || open < end || !isBetween(version)) return
    const next = headings.slice(i + 1).find((one) => one.level <= level)
    end = next?.start ?? lines.length
    const kind = isGuide ? 'migration' : 'release'
    const own = { lines: lines.slice(start + 1, end), firstLine: start + 2 }
    sections.push({ kind, title: text, version, path, line: open + 1, ...own })
  })
  const hasVersions = headings.some(({ text }) => versionIn(text) !== undefined)
  return isGuide && !hasVersions ? [{ ...whole, version: null }] : sections
}

/** The version that a heading or file name names: `## [5.0.0] - 2024-01-02`, `Migration-Guide-V5.md`, `Upgrading to 8`. */
function versionIn(text: string): string | undefined {
  const plain = text.replace(/\d{4}-\d{2}-\d{2}/, '')
  const [, range] = /(?<!\S)(?=\S*\d)\S+?\s*(?:to|→|->)\s*v?(\d+(?:\.\d+)*)/i.exec(plain) ?? []
  const [, full] = /(?:^|[^\d.])v?(\d+\.\d+(?:\.\d+){0,2}(?:-[\w.]*\d[\w.]*)?)/i.exec(plain) ?? []
  const [, major] =
    /(?:^\W*|[-_\s])(?:v|version\s+|to\s+v?|release\s+)?(\d{1,3})(?=$|[^\w.]|\.x|\.md)/i.exec(plain) ?? []
  return range ?? full ?? major
}

/** Headings and lines about changes that break code. */
export const BREAKING_HEADING: RegExp = /break|remov|major|incompatib|⚠|migrat|deprecat|renam/i
export const BREAKING_LINE: RegExp =
  /\b(?:break\w*|remov\w+|renam\w+|drop(?:s|ped|ping)?|no longer|deprecat\w+|instead of|must now|replac\w+|requires?)\b/i

/** Keeps the lines about incompatible changes, then the others in order. */
function createNote({ kind, title, version, path, line, lines }: ReleaseSection): ReleaseNote {
  let isBreaking = false
  const fences = new FenceReader()
  // The headings of a guide name its subjects.
  const headings: string[] = []
  const first: string[] = []
  const rest: string[] = []
  for (const raw of lines) {
    const text = raw.replace(/\]\((?:[^()]|\([^()]*\))*\)/g, ']').trim()
    if (fences.read(raw) !== undefined || text === '' || /^(?:<!--|={3,}$|-{3,}$)/.test(text)) continue
    const [, heading] = /^#{1,6}\s+(.*)$/.exec(text) ?? []
    if (heading !== undefined) isBreaking = BREAKING_HEADING.test(text)
    if (heading !== undefined && kind === 'migration' && heading !== title) headings.push(heading)
    if (heading !== undefined) continue
    if (isBreaking || BREAKING_LINE.test(text)) first.push(clipText(text, MAX_LINE_CHARS))
    else rest.push(clipText(text, MAX_LINE_CHARS))
  }
  const all = [...headings, ...first, ...rest]
  return {
    kind,
    title,
    version,
    path,
    line,
    lines: all.slice(0, MAX_NOTE_LINES),
    omitted: Math.max(0, all.length - MAX_NOTE_LINES),
  }
}
