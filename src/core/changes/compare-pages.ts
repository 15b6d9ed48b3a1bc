import { splitLines } from '../text/lines.ts'
import { listAnnouncedChanges } from './announced-changes.ts'
import { CHANGE_KINDS, type Change, type ComparedPage, type ReleaseNote } from './change.ts'
import { compareSections } from './compare-sections.ts'
import { compareSymbols } from './compare-symbols.ts'
import { compareDocumentedNames, type DocumentedNames, readDocumentedNames } from './documented-names.ts'
import { readAnnouncements } from './read-announcements.ts'
import { isApiPage, readModules } from './read-symbols.ts'
import { isReleasePage, type ReleaseSection, readReleaseSections, writeReleaseNotes } from './release-notes.ts'

/** Two versions to compare. */
export interface ComparisonInput {
  readonly before: readonly ComparedPage[]
  readonly after: readonly ComparedPage[]
  /** Versions of both sides; null for two crawls of the same version. */
  readonly versions: { readonly from: string; readonly to: string } | null
}

/** What changed between two versions. */
export interface Comparison {
  readonly notes: readonly ReleaseNote[]
  /** By kind, in the order of {@link CHANGE_KINDS}; within a kind, what users are likely to call comes first. */
  readonly changes: readonly Change[]
}

/** Compares two versions of a package, or two crawls of a site, by symbol and by section. Yields between its parts, for other work. */
export function* comparePages({ before, after, versions }: ComparisonInput): Generator<void, Comparison, void> {
  const sections = versions === null ? [] : readReleaseSections(after, versions.from, versions.to)
  const notes = writeReleaseNotes(sections)
  yield
  const oldModules = readModules(before)
  yield
  const newModules = readModules(after)
  yield
  // A package that no longer brings declarations, or does so for the first time, still has its names.
  const symbols = oldModules.size > 0 && newModules.size > 0 ? compareSymbols(oldModules, newModules) : []
  yield
  // Two crawls of one version tell nothing else about a changelog than its text.
  const isCompared = (page: ComparedPage) => isProse(page) && (versions === null || !isReleasePage(page))
  const [oldProse, newProse] = [before.filter(isCompared), after.filter(isCompared)]
  const knownNames = new Set<string>()
  for (const { symbols: names } of newModules.values()) {
    for (const name of names.keys()) knownNames.add(name.slice(name.lastIndexOf('.') + 1))
  }
  const reported = new Set(symbols.map(({ name }) => name.slice(name.lastIndexOf('.') + 1)))
  const oldNames = readDocumentedNames(oldProse)
  yield
  const newNames = readDocumentedNames(newProse)
  yield
  const documented = compareDocumentedNames(oldNames, newNames, (name) => knownNames.has(name))
  const others = documented.filter(({ name }) => !reported.has(name.replace(/^.*\./, '')))
  yield
  const announced = listAnnouncedChanges(
    readAnnouncements(sections.map((section) => withoutOldLines(section, before))),
    { modules: oldModules, documented: oldNames, words: wordsOf([readDocumentedNames(before.filter(isReleasePage))]) },
    { modules: newModules, documented: newNames, words: new Set() },
    [...symbols, ...others],
  )
  yield
  const changes = [...symbols, ...others, ...announced.changes, ...compareSections(oldProse, newProse)]
  // Declarations tell the API better than lists in prose.
  const isFromProse = new Set(oldModules.size > 0 && newModules.size > 0 ? others : [])
  const words = wordsOf([oldNames, newNames])
  const isVague = (change: Change) => isFromProse.has(change)
  return { notes, changes: sortChanges(changes, announced.isAnnounced, isVague, words) }
}

/** A guide that names no version, without the lines that the older version has too. Those are about earlier changes. */
function withoutOldLines(section: ReleaseSection, before: readonly ComparedPage[]): ReleaseSection {
  const old = section.version === null ? before.find(({ path }) => path === section.path) : undefined
  if (old === undefined) return section
  const lines = new Set(splitLines(old.markdown))
  return { ...section, lines: section.lines.map((line) => (lines.has(line) ? '' : line)) }
}

/** Pages that are compared by section: neither API pages nor code. */
function isProse(page: ComparedPage): boolean {
  return page.definitions === null && !isApiPage(page)
}

/** The words in code of both versions. */
function wordsOf(sides: readonly DocumentedNames[]): Set<string> {
  return new Set(sides.flatMap(({ mentioned }) => [...mentioned.values()].flatMap((words) => [...words])))
}

function sortChanges(
  changes: readonly Change[],
  isAnnounced: (change: Change) => boolean,
  isVague: (change: Change) => boolean,
  documented: ReadonlySet<string>,
): Change[] {
  const subjects = ['symbol', 'module', 'page', 'section']
  const rankOf = (change: Change) => {
    const { kind, subject, name, lostNames } = change
    const isSymbol = subject === 'symbol'
    const parts = name.replace(/\.(?:\(\)|constructor)$/, '').split(/[.#]/)
    const isMember = isSymbol && parts.length > 1
    // Names of members are often common words, so their owner counts too.
    const isIn = (names: ReadonlySet<string>) => isSymbol && parts.slice(-2).every((part) => names.has(part))
    return [
      CHANGE_KINDS.indexOf(kind),
      (isSymbol || subject === 'module') && isAnnounced(change) ? 0 : 1,
      isSymbol && isInternal(name) ? 1 : 0,
      subjects.indexOf(subject),
      isVague(change) ? 1 : 0,
      isSymbol && isTypeOnly(change) ? 1 : 0,
      isIn(documented) ? 0 : 1,
      isMember ? 1 : 0,
      lostNames.length > 0 ? 0 : 1,
    ]
  }
  const ranked = changes.map((change) => ({ change, rank: rankOf(change) }))
  ranked.sort((a, b) => a.rank.reduce((order, value, i) => order || value - (b.rank[i] ?? 0), 0))
  return ranked.map(({ change }) => change)
}

/** Names that packages export without meaning them for users. */
function isInternal(name: string): boolean {
  return /(?:^|\.)(?:[_$]|internals?\b|unsafe_|unstable_)/i.test(name)
}

/** Types cannot be called. Members are judged by their own signature; options are written by users like arguments. */
function isTypeOnly({ name, before, after }: Change): boolean {
  const signature = before ?? after ?? ''
  const owner = name.split('.').at(-2)
  if (owner !== undefined) return !signature.includes('(') && !OPTIONS.test(owner)
  return signature === '' || /^(?:type|interface)\b/.test(signature)
}

/** Types of options. */
const OPTIONS = /(?:options?|config(?:uration)?|props|settings|init|params?)$/i
