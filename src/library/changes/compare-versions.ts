import { CHANGE_KINDS, type Change, type ChangeKind, type ReleaseNote } from '../../core/changes/change.ts'
import { type Comparison, comparePages } from '../../core/changes/compare-pages.ts'
import { isUsed, type UsedNames } from '../../core/changes/used-names.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { findAnchor, withAnchor } from '../../core/retrieval/anchored-url.ts'
import { packageTitle, parsePackageUrl } from '../../core/url/package-url.ts'
import { compareVersions as orderVersions } from '../../core/version/version.ts'
import { runCooperatively } from '../cooperative-task.ts'
import type { Library, SourceLookup } from '../library.ts'
import type { Crawl } from '../ports/store.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import { findSource } from '../sources/find-source.ts'
import { chooseVersion, describeDoubts, type VersionChoice, writeVersions } from '../sources/find-version.ts'
import { compareLastRun } from './compare-last-run.ts'
import { addPassedOn, importNameOf } from './passed-on.ts'
import { type PageSet, readPageSet } from './read-page-set.ts'

/** What to compare. */
export interface ChangesInput {
  /** Name, name@version, id or address of the source. */
  readonly source: string
  /** Older version, as a version or range. @default the version before `to` */
  readonly from?: string | undefined
  /** Newer version, as a version or range. @default the newest */
  readonly to?: string | undefined
  /** Reads which names of a package some code uses; only their changes are listed. */
  readonly readUses?: ((packageName: string) => Promise<UsedNames>) | undefined
  /** Maximum number of changes of each kind. @default 20 */
  readonly limit?: number | undefined
}

/** Where to read about a change. */
export interface ListedPlace {
  /** Address of the page. */
  readonly url: string
  /** Id of the source that has the page; null if it is no longer stored. */
  readonly sourceId: string | null
}

/** A change with the page to read about it. */
export interface ListedChange extends Change, ListedPlace {}

/** A release note with the page to read it. */
export interface ListedNote extends ReleaseNote, ListedPlace {}

/** Changes of one kind. */
export interface ChangeGroup {
  readonly kind: ChangeKind
  /** Number of changes, listed or not. */
  readonly total: number
  readonly changes: readonly ListedChange[]
}

/** What changed between two versions of a source, or in its last crawl. */
export interface ChangeList {
  /** The same source twice, if its last crawl is compared. */
  readonly from: Source
  readonly to: Source
  /** The crawl that made the changes; null if two versions are compared. */
  readonly crawl: Crawl | null
  readonly notes: readonly ListedNote[]
  /** In the order of {@link CHANGE_KINDS}; kinds without changes are left out. */
  readonly groups: readonly ChangeGroup[]
  /** What limits the comparison, one sentence each. */
  readonly notices: readonly string[]
}

export const DEFAULT_CHANGES = 20

/** The parts of a library that a comparison needs. */
export type ChangesLibrary = SourceLookup & Pick<Library, 'readEarlierPages'>

/** Compares two versions of a source by symbol and by section. A source without other versions is compared with its state before its last crawl. */
export async function compareVersions(
  library: ChangesLibrary,
  input: ChangesInput,
  signal?: AbortSignal,
): Promise<ChangeList> {
  const { named, only } = await findNamed(library, input)
  if (
    only !== undefined &&
    input.from === undefined &&
    input.to === undefined &&
    (await isAlone(library, only, named))
  ) {
    const { crawl, before, after, notices, ...comparison } = await compareLastRun(library, only, signal)
    const uses = await input.readUses?.(importNameOf(only))
    // A page that the last crawl removed is not stored any more.
    const sides = [
      { set: before, sourceId: null },
      { set: after, sourceId: only.id },
    ] as const
    return { from: only, to: only, crawl, ...listChanges(comparison, ...sides, uses, input.limit), notices }
  }
  const { from, to, notices } = await chooseSides(library, named, { to: only?.version ?? undefined, ...input })
  const own = { before: await readPageSet(library, from, signal), after: await readPageSet(library, to, signal) }
  const { before, after, notices: missing } = await addPassedOn(library, { from, to, ...own }, signal)
  const versions = { from: from.version ?? '', to: to.version ?? '' }
  const work = comparePages({ before: before.pages, after: after.pages, versions })
  const comparison = await runCooperatively(work, library.clock, signal)
  const partial = [before, after].flatMap(({ notice }) => (notice === null ? [] : [notice]))
  const uses = await input.readUses?.(importNameOf(to))
  const sides = [
    { set: before, sourceId: from.id },
    { set: after, sourceId: to.id },
  ] as const
  const listed = listChanges(comparison, ...sides, uses, input.limit)
  return { from, to, crawl: null, ...listed, notices: [...notices, ...partial, ...missing] }
}

/** Whether a source is compared with its state before its last crawl: there is no other version, or it was crawled again. */
async function isAlone({ store }: ChangesLibrary, only: Source, named: readonly Source[]): Promise<boolean> {
  return named.length === 1 || (await store.listCrawls(only.id, 2)).length > 1
}

/** Groups changes by kind, at most `limit` of each, with their addresses. */
function listChanges(
  { notes, changes }: Comparison,
  before: ComparedSide,
  after: ComparedSide,
  uses?: UsedNames,
  limit: number = DEFAULT_CHANGES,
): Pick<ChangeList, 'notes' | 'groups'> {
  const kept = uses === undefined ? changes : changes.filter((change) => isUsed(change, uses))
  const groups = CHANGE_KINDS.flatMap((kind): ChangeGroup[] => {
    const all = kept.filter((change) => change.kind === kind)
    const listed = all.slice(0, limit).map((change) => {
      return { ...change, ...placeOf(change.isOldPage ? before : after, change) }
    })
    return all.length === 0 ? [] : [{ kind, total: all.length, changes: listed }]
  })
  return { notes: notes.map((note) => ({ ...note, ...placeOf(after, note) })), groups }
}

/** The pages of one side, and the source that has them; null if they are no longer stored. */
interface ComparedSide {
  readonly set: PageSet
  readonly sourceId: string | null
}

function placeOf(
  { set: { places }, sourceId }: ComparedSide,
  { path, line }: { readonly path: string; readonly line: number },
): ListedPlace {
  const place = places.get(path)
  if (place === undefined) return { url: path, sourceId }
  return { url: withAnchor(place.url, findAnchor(place.sections, line)), sourceId: place.sourceId ?? sourceId }
}

/** Finds the two versions to compare. */
async function chooseSides(
  library: SourceLookup,
  named: readonly Source[],
  { from, to }: Pick<ChangesInput, 'from' | 'to'>,
): Promise<{ readonly from: Source; readonly to: Source; readonly notices: readonly string[] }> {
  const newer = await chooseVersion(library, named, to)
  // Only versions that the user wrote are named.
  const newest = requireVersion(named, to === undefined ? { ...newer, target: from ?? newer.target } : newer)
  const older = from === undefined ? olderThan(newer, newest) : await chooseVersion(library, named, from)
  const oldest = requireVersion(named, older)
  if (oldest.id === newest.id) {
    throw usageError(
      `both versions are ${writeLabel(newest)}: give two that differ, of ${writeVersions(newer.versions)}`,
    )
  }
  const notices = [...describeDoubts(older), ...describeDoubts(newer)]
  const isBackwards = orderVersions(oldest.version ?? '', newest.version ?? '') > 0
  return {
    from: oldest,
    to: newest,
    notices: isBackwards ? [...notices, 'the newer version is compared with an older one'] : notices,
  }
}

/** All versions of the name that a text gives; `only` is the one source that it means, if it means one. */
async function findNamed(
  library: SourceLookup,
  { source: text }: ChangesInput,
): Promise<{ readonly named: readonly Source[]; readonly only: Source | undefined }> {
  const sources = await library.store.listSources()
  const wanted = text.trim()
  const sameName = sources.filter(({ name }) => name === wanted)
  // Code imports `@a/b`, which is the source `a/b`.
  const named = sameName.length > 0 ? sameName : sources.filter((source) => importNameOf(source) === wanted)
  if (named.length > 0) return { named, only: named.length === 1 ? named[0] : undefined }
  const only = await findSource(library, text)
  return { named: sources.filter(({ name }) => name === only.name), only }
}

/** The choice of the newest version before another. */
function olderThan(choice: VersionChoice, newest: Source): VersionChoice {
  const best = choice.versions.find(({ version }) => orderVersions(version, newest.version ?? '') < 0) ?? null
  return { ...choice, best, target: `older than ${newest.version}`, passedOver: [] }
}

function requireVersion(named: readonly Source[], { best, target, versions }: VersionChoice): Source {
  if (best !== null) return best.source
  const [first] = named
  const name = first?.name ?? ''
  const list = versions.length === 0 ? '; it has no versions' : `; the library has ${writeVersions(versions)}`
  const advice = `take in the other version first: \`${first === undefined ? 'pharos add' : writeAddCommand(first, target)}\``
  throw new PharosError('VERSION_UNKNOWN', { version: target, name, versions: list, advice })
}

/** The command that takes in another version of a source. */
function writeAddCommand({ url, name }: Source, target: string): string {
  const version = /^[\w.^~-]+$/.test(target) ? target : '<version>'
  const found = parsePackageUrl(url)
  if (found !== undefined) return `pharos add ${found.type}:${packageTitle(found)}@${version}`
  return `pharos add <address> --name ${name} --version ${version}`
}
