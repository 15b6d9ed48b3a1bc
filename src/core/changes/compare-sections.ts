import { groupBy } from '../group-by.ts'
import { createComparable, isNearDuplicate } from '../retrieval/near-duplicates.ts'
import type { Change, ComparedPage } from './change.ts'
import { diffLines, writeLineDiff } from './line-diff.ts'
import { type PageSection, readSections } from './read-sections.ts'

/** Maximum number of lines of the diff of a section. */
const MAX_DIFF_LINES = 6
/** Shorter texts are too common to recognise a section by them. */
const MIN_CHARS = 40
/** Number of sections of each side that are compared with all of the other. */
const MAX_CANDIDATES = 300
/** A line that appears or disappears on this share of the pages belongs to the theme of the site. */
const MIN_THEME_SHARE = 0.3
const MIN_THEME_PAGES = 3

interface Pair {
  readonly old: PageSection
  readonly fresh: PageSection
}

/** Compares pages of Markdown, section by section. Markup, white space, link targets and levels of headings do not count. */
export function compareSections(before: readonly ComparedPage[], after: readonly ComparedPage[]): Change[] {
  const sides = [before, after].map(groupByPath) as [Pages, Pages]
  const [oldPages, newPages] = sides
  const same = new Set(
    [...oldPages].filter(([key, page]) => newPages.get(key)?.markdown === page.markdown).map(([key]) => key),
  )
  const [oldSections, newSections] = sides.map((pages) => {
    const changed = [...pages].filter(([key]) => !same.has(key))
    return changed.flatMap(([key, { path, markdown }]) => readSections(path, markdown).map((one) => ({ key, one })))
  }) as [Keyed[], Keyed[]]
  const { pairs, removed, added } = matchSections(oldSections, newSections)
  const themeLines = findThemeLines(pairs, oldPages.size)
  const changes = pairs.flatMap((pair) => comparePair(pair, themeLines, oldPages, newPages))
  return [
    ...groupMoves(changes, oldPages, newPages),
    ...listLost('removed', removed, newPages, themeLines),
    ...listLost('added', added, oldPages, themeLines),
  ]
}

type Pages = ReadonlyMap<string, ComparedPage>

interface Keyed {
  /** Key of the page. */
  readonly key: string
  readonly one: PageSection
}

function groupByPath(pages: readonly ComparedPage[]): Pages {
  return new Map(pages.map((page) => [keyOf(page.path), page]))
}

/** The path without differences of spelling: `README.md` and `readme.markdown` are the same page. */
function keyOf(path: string): string {
  return path
    .toLowerCase()
    .replace(/\.(?:md|mdx|markdown|html?)$/, '')
    .replace(/\/(?:index)?$/, '')
}

/** Matches sections by page and headings, then by headings alone on the same page, then by text. */
function matchSections(
  oldSections: readonly Keyed[],
  newSections: readonly Keyed[],
): { readonly pairs: Pair[]; readonly removed: Keyed[]; readonly added: Keyed[] } {
  const pairs: Pair[] = []
  let removed = [...oldSections]
  let added = [...newSections]
  const matchBy = (nameOf: (section: Keyed) => string) => {
    const byName = groupBy(added, nameOf)
    byName.delete('')
    const taken = new Set<Keyed>()
    removed = removed.filter((old) => {
      const found = byName.get(nameOf(old))?.shift()
      if (found === undefined) return true
      taken.add(found)
      pairs.push({ old: old.one, fresh: found.one })
      return false
    })
    added = added.filter((section) => !taken.has(section))
  }
  const textOf = ({ one }: Keyed) => one.lines.join('\n')
  matchBy(({ key, one }) => [key, ...one.trail].join('\n'))
  matchBy((section) => `${section.key}\n${section.one.trail.at(-1) ?? ''}\n${textOf(section)}`)
  matchBy((section) =>
    textOf(section).length < MIN_CHARS ? '' : `${section.one.trail.at(-1) ?? ''}\n${textOf(section)}`,
  )
  matchBy((section) => (textOf(section).length < MIN_CHARS ? '' : textOf(section)))
  matchBy(({ key, one }) => (one.trail.length === 0 ? '' : `${key}\n${one.trail.at(-1)}`))
  const similar = matchSimilar(removed, added)
  const taken = new Set(similar.flat())
  for (const [old, fresh] of similar) pairs.push({ old: old.one, fresh: fresh.one })
  return { pairs, removed: removed.filter((one) => !taken.has(one)), added: added.filter((one) => !taken.has(one)) }
}

function matchSimilar(removed: readonly Keyed[], added: readonly Keyed[]): [Keyed, Keyed][] {
  const prepare = (sections: readonly Keyed[]) => {
    const long = sections.filter(({ one }) => one.lines.join(' ').length >= MIN_CHARS * 3).slice(0, MAX_CANDIDATES)
    return long.map((section) => ({ section, text: createComparable(section.one.lines.join('\n')) }))
  }
  const candidates = prepare(added)
  const taken = new Set<Keyed>()
  return prepare(removed).flatMap(({ section, text }): [Keyed, Keyed][] => {
    const found = candidates.find((one) => !taken.has(one.section) && isNearDuplicate(text, one.text))
    if (found === undefined) return []
    taken.add(found.section)
    return [[section, found.section]]
  })
}

/** Lines that appear or disappear on many pages at once. */
function findThemeLines(pairs: readonly Pair[], pageCount: number): ReadonlySet<string> {
  const pagesByLine = new Map<string, Set<string>>()
  for (const { old, fresh } of pairs) {
    const { removed, added } = diffLines(old.lines, fresh.lines)
    for (const line of [...removed, ...added]) {
      const pages = pagesByLine.get(line) ?? new Set()
      pagesByLine.set(line, pages.add(fresh.path))
    }
  }
  const min = Math.max(MIN_THEME_PAGES, pageCount * MIN_THEME_SHARE)
  return new Set([...pagesByLine].filter(([, pages]) => pages.size >= min).map(([line]) => line))
}

function comparePair(
  { old, fresh }: Pair,
  themeLines: ReadonlySet<string>,
  oldPages: Pages,
  newPages: Pages,
): SectionChange[] {
  const isOther = (line: string) => !themeLines.has(line)
  const [before, after] = [old.lines.filter(isOther), fresh.lines.filter(isOther)]
  // A page whose counterpart still exists has not moved: its section is a copy.
  const isMoved = keyOf(old.path) !== keyOf(fresh.path)
  const isCopy = isMoved && newPages.has(keyOf(old.path)) && oldPages.has(keyOf(fresh.path)) && old.lines.length < 3
  const [title, newTitle] = [old.trail.at(-1) ?? '', fresh.trail.at(-1) ?? '']
  // Some themes number headings, or write them in capitals.
  const isRenamed = wordsOf(title) !== wordsOf(newTitle)
  // Joined, because themes break lines in other places.
  const hasNewText = before.join(' ').replace(/\s/g, '') !== after.join(' ').replace(/\s/g, '')
  const lines = hasNewText ? writeLineDiff(before, after, MAX_DIFF_LINES) : []
  if (isCopy || (!isMoved && !isRenamed && lines.length === 0)) return []
  const isDeprecated = lines.some((line) => line.startsWith('+ ') && /\bdeprecated\b/i.test(line))
  const kind = isMoved ? 'moved' : isRenamed ? 'renamed' : isDeprecated ? 'deprecated' : 'text'
  const newName = isMoved ? fresh.path : isRenamed ? newTitle : null
  const place = { path: fresh.path, line: fresh.line }
  return [
    {
      change: sectionChange(kind, 'section', { name: title || old.path, newName, ...place, lines }),
      oldPath: old.path,
    },
  ]
}

function wordsOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/^[\d.\s]+(?=\p{L})|[^\p{L}\p{N}.$_-]+/gu, ' ')
    .trim()
}

/** A change with the page that it was on before. */
interface SectionChange {
  readonly change: Change
  readonly oldPath: string
}

/** Sections that moved from a page that is gone are one move of the page. */
function groupMoves(changes: readonly SectionChange[], oldPages: Pages, newPages: Pages): Change[] {
  const grouped = new Map<string, Change>()
  const rest: Change[] = []
  for (const { change, oldPath } of changes) {
    const { kind, path, lines } = change
    const key = `${oldPath}\n${path}`
    if (kind !== 'moved' || newPages.has(keyOf(oldPath)) || oldPages.has(keyOf(path))) {
      rest.push(change)
      continue
    }
    if (!grouped.has(key)) grouped.set(key, { ...change, subject: 'page', name: oldPath, line: 1, lines: [] })
    if (lines.length > 0) rest.push({ ...change, kind: 'text', newName: null })
  }
  return [...grouped.values(), ...rest]
}

/** Sections without a counterpart; those of a page that the other side lacks are one change. */
function listLost(
  kind: 'removed' | 'added',
  sections: readonly Keyed[],
  others: Pages,
  themeLines: ReadonlySet<string>,
): Change[] {
  const pages = new Set<string>()
  return sections.flatMap(({ key, one }) => {
    const hasPage = others.has(key)
    if (hasPage ? !one.lines.some((line) => !themeLines.has(line)) : pages.has(key)) return []
    pages.add(key)
    const name = (hasPage ? one.trail.at(-1) : undefined) ?? one.path
    const lines = hasPage
      ? one.lines.slice(0, 2).map((line) => `${kind === 'added' ? '+' : '-'} ${line.slice(0, 200)}`)
      : []
    const { path, line } = one
    const change = sectionChange(kind, hasPage ? 'section' : 'page', { name, newName: null, path, line, lines })
    return [{ ...change, isOldPage: kind === 'removed' }]
  })
}

function sectionChange(
  kind: Change['kind'],
  subject: Change['subject'],
  rest: Pick<Change, 'name' | 'newName' | 'path' | 'line' | 'lines'>,
): Change {
  return { kind, subject, isOldPage: false, before: null, after: null, lostNames: [], ...rest }
}
