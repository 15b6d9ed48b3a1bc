import type { ChangeKind } from '../../core/changes/change.ts'
import { countOf } from '../../core/text/count.ts'
import { clipText } from '../../core/text/lines.ts'
import type { ChangeGroup, ChangeList, ListedChange, ListedNote } from './compare-versions.ts'

/** Headings of the kinds of changes. */
export const KIND_TITLES: Readonly<Record<ChangeKind, string>> = {
  removed: 'Removed',
  renamed: 'Renamed',
  moved: 'Moved',
  changed: 'Changed signatures and options',
  deprecated: 'Deprecated',
  added: 'Added',
  text: 'Changed text',
}

const MAX_SIGNATURE_CHARS = 240
const MAX_TITLE_CHARS = 120
const MAX_LOST_NAMES = 8

/** A part of the text of a comparison. */
export interface ChangeText {
  readonly title: string
  readonly entries: readonly ChangeTextEntry[]
  /** How many entries are left out, in words; null if none are. */
  readonly more: string | null
}

/** A change in words. */
export interface ChangeTextEntry {
  readonly title: string
  readonly url: string
  /** Id of the source that has the page; null if it is no longer stored. */
  readonly sourceId: string | null
  readonly lines: readonly string[]
}

/** Writes a comparison in words, the most important part first. */
export function writeChanges({ notes, groups }: Pick<ChangeList, 'notes' | 'groups'>): ChangeText[] {
  const guides = notes.map(writeNote)
  const release = guides.length === 0 ? [] : [{ title: 'What the new version says', entries: guides, more: null }]
  return [...release, ...groups.map(writeGroup)]
}

function writeNote({ title, url, sourceId, lines, omitted }: ListedNote): ChangeTextEntry {
  return { title, url, sourceId, lines: omitted === 0 ? lines : [...lines, `… and ${countOf(omitted, 'more line')}`] }
}

function writeGroup({ kind, total, changes }: ChangeGroup): ChangeText {
  const more = total > changes.length ? `and ${total - changes.length} more` : null
  return { title: `${KIND_TITLES[kind]} (${total})`, entries: changes.map(writeChange), more }
}

function writeChange(change: ListedChange): ChangeTextEntry {
  const { subject, name, newName, url, sourceId } = change
  const label = clipText(subject === 'symbol' ? name : `${subject} ${name}`, MAX_TITLE_CHARS)
  return { title: newName === null ? label : `${label} → ${newName}`, url, sourceId, lines: writeDetails(change) }
}

function writeDetails({ kind, before, after, lostNames, lines }: ListedChange): string[] {
  const clip = (text: string) => clipText(text, MAX_SIGNATURE_CHARS)
  const isChange = (kind === 'changed' || kind === 'renamed') && before !== after
  const signatures = isChange && before !== null && after !== null ? [`- ${clip(before)}`, `+ ${clip(after)}`] : []
  const only = kind === 'removed' ? before : kind === 'added' ? after : null
  const single = only === null || only === '' ? [] : [clip(only)]
  const lost =
    lostNames.length === 0 || (kind !== 'changed' && kind !== 'removed')
      ? []
      : [`no longer: ${lostNames.slice(0, MAX_LOST_NAMES).join(', ')}`]
  return [...single, ...signatures, ...lost, ...lines]
}
