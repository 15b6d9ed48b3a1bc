import type { Change, ComparedPage } from '../../core/changes/change.ts'
import { type Comparison, comparePages } from '../../core/changes/compare-pages.ts'
import { usageError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { runCooperatively } from '../cooperative-task.ts'
import { readRows } from '../copy/read-rows.ts'
import type { Library } from '../library.ts'
import type { EarlierPages } from '../ports/library-store.ts'
import type { Crawl } from '../ports/store.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import { comparedPath, MAX_CHARS, type PageSet, readPageSet } from './read-page-set.ts'

/** What the last crawl of a source changed. */
export interface LastRunComparison extends Comparison {
  readonly crawl: Crawl
  readonly before: PageSet
  readonly after: PageSet
  readonly notices: readonly string[]
}

/** Compares the pages of a source with their texts before its last crawl. */
export async function compareLastRun(
  library: Pick<Library, 'store' | 'clock' | 'readEarlierPages'>,
  source: Source,
  signal?: AbortSignal,
): Promise<LastRunComparison> {
  const [crawl, previous] = await library.store.listCrawls(source.id, 2)
  if (crawl === undefined || previous === undefined) {
    const label = writeLabel(source)
    throw usageError(
      `${label} was crawled only once, so there is nothing to compare; crawl it again: pharos recrawl ${label}`,
    )
  }
  const earlier = (await library.readEarlierPages?.(source.id)) ?? NO_EARLIER_PAGES
  const current = await readPageSet(library, source, signal)
  const written = await listWritten(library, source, crawl)
  const { before, after, untold, uncertain } = await restorePages(source, current, written, earlier, crawl, signal)
  const running =
    crawl.state === 'running' ? ['the crawl is still running: only what it has read so far is compared'] : []
  const lost =
    uncertain === 0
      ? []
      : [
          `${countOf(uncertain, 'page')} may have changed too: the crawl wrote every page again, and no earlier texts were kept`,
        ]
  const partial = after.notice === null ? [] : [after.notice]
  const work = comparePages({ before: before.pages, after: after.pages, versions: null })
  const { notes, changes } = await runCooperatively(work, library.clock, signal)
  return { notes, changes: [...changes, ...untold], crawl, before, after, notices: [...running, ...partial, ...lost] }
}

const NO_EARLIER_PAGES: EarlierPages = { pages: [], isComplete: false, readText: () => Promise.resolve(null) }

/** When the pages that a crawl has written were found, by key. */
async function listWritten(
  { store }: Pick<Library, 'store'>,
  { id }: Source,
  { startedAt }: Crawl,
): Promise<Map<string, number>> {
  const written = new Map<string, number>()
  for await (const rows of readRows(store, id)) {
    for (const { key, hasPage, changedAt, firstSeenAt } of rows) {
      if (hasPage && (changedAt ?? 0) >= startedAt) written.set(key, firstSeenAt)
    }
  }
  return written
}

/** The pages before and after a crawl. */
interface RestoredPages {
  readonly before: PageSet
  readonly after: PageSet
  /** Pages that changed or went without an earlier text. They count as unchanged in the comparison. */
  readonly untold: readonly Change[]
  /** Number of pages of which it is not known whether they changed. */
  readonly uncertain: number
}

/**
 * Restores the pages before a crawl. A page that was written and is not among the earlier ones is new, or was written again with the same
 * text. If the earlier pages are not all known, an address that was known before has changed, unless the crawl wrote every page again.
 */
async function restorePages(
  source: Source,
  current: PageSet,
  written: ReadonlyMap<string, number>,
  earlier: EarlierPages,
  { startedAt, options }: Crawl,
  signal?: AbortSignal,
): Promise<RestoredPages> {
  const rest = new Map(earlier.pages.map((page) => [page.key, page]))
  const oldPages: ComparedPage[] = []
  const newPages: ComparedPage[] = []
  const untold: Change[] = []
  let uncertain = 0
  let chars = 0
  const readText = async (key: string): Promise<string | null> => {
    signal?.throwIfAborted()
    const text = chars > MAX_CHARS ? null : await earlier.readText(key)
    chars += text?.length ?? 0
    return text
  }
  for (const page of current.pages) {
    const key = current.keys.get(page.path) ?? page.path
    const isListed = rest.delete(key)
    const text = isListed ? await readText(key) : null
    if (text !== null) {
      // The definitions of earlier code are not kept, so that its lines are compared.
      newPages.push({ ...page, definitions: null })
      oldPages.push({ ...page, definitions: null, markdown: text })
      continue
    }
    newPages.push(page)
    const firstSeenAt = written.get(key)
    const isKnown = firstSeenAt !== undefined && firstSeenAt < startedAt
    const isChanged = isListed || (isKnown && !options.full && !earlier.isComplete)
    if (isChanged) untold.push(untoldChange('text', page.path))
    if (isChanged || firstSeenAt === undefined || (isKnown && options.full)) oldPages.push(page)
    if (!isListed && isKnown && options.full && !earlier.isComplete) uncertain++
  }
  const places = new Map(current.places)
  for (const page of rest.values()) {
    const path = comparedPath(source, page)
    places.set(path, { url: page.url, sections: [] })
    const markdown = await readText(page.key)
    if (markdown === null) untold.push(untoldChange('removed', path))
    else oldPages.push({ path, markdown, definitions: null })
  }
  return {
    before: { ...current, pages: oldPages, places },
    after: { ...current, pages: newPages },
    untold,
    uncertain,
  }
}

function untoldChange(kind: 'text' | 'removed', path: string): Change {
  return {
    ...{ kind, subject: 'page', name: path, newName: null, path, line: 1, isOldPage: kind === 'removed' },
    ...{ before: null, after: null, lostNames: [], lines: ['its earlier text was not kept'] },
  }
}
