import type { ComparedPage } from '../../core/changes/change.ts'
import { kindOf } from '../../core/chunk/kind.ts'
import type { Kind, Section } from '../../core/model.ts'
import { countOf } from '../../core/text/count.ts'
import { normalizePagePath } from '../../core/url/normalized-path.ts'
import type { Library } from '../library.ts'
import { isTree } from '../ports/tree.ts'
import { writeLabel } from '../search/display-text.ts'
import { listDefinitions } from '../search/list-symbols.ts'
import type { Source } from '../source.ts'

/** Address and sections of a page. */
export interface PagePlace {
  readonly url: string
  readonly sections: readonly Section[]
  /** Source that has the page. @default the compared one */
  readonly sourceId?: string
}

/** The pages of one version, as they are compared. */
export interface PageSet {
  readonly pages: readonly ComparedPage[]
  /** Address and sections of each page by its path. */
  readonly places: ReadonlyMap<string, PagePlace>
  /** Key of each page by its path. */
  readonly keys: ReadonlyMap<string, string>
  /** What was left out; null if nothing was. */
  readonly notice: string | null
}

/** Maximum number of pages and characters read of a version. */
const MAX_PAGES = 5000
export const MAX_CHARS = 60_000_000
/** Number of pages read before yielding to other work. */
const PAGES_AT_ONCE = 16

/** Kinds of files whose definitions are compared instead of their text. */
const CODE_KINDS: ReadonlySet<Kind> = new Set([
  ...(['java_script', 'python', 'go', 'rust', 'java', 'c', 'cpp', 'ruby', 'shell'] as const),
])

/** Reads the pages of a version. */
export async function readPageSet(
  { store, clock }: Pick<Library, 'store' | 'clock'>,
  source: Source,
  signal?: AbortSignal,
): Promise<PageSet> {
  const pages: ComparedPage[] = []
  const places = new Map<string, { url: string; sections: readonly Section[] }>()
  const keys = new Map<string, string>()
  let chars = 0
  for await (const stored of store.listPages(source.id)) {
    signal?.throwIfAborted()
    const { url, sections, markdown } = stored.page
    chars += markdown.length
    if (pages.length === MAX_PAGES || chars > MAX_CHARS) {
      const notice = `only the first ${countOf(pages.length, 'page')} of ${writeLabel(source)} were compared`
      return { pages, places, keys, notice }
    }
    const path = comparedPath(source, { key: stored.key, url })
    const text =
      CODE_KINDS.has(kindOf(stored.key)) && isTree(source) ? await store.readPageText(source.id, stored.key) : undefined
    pages.push({ path, markdown, definitions: text === undefined ? null : listDefinitions(text) })
    places.set(path, { url, sections })
    keys.set(path, stored.key)
    if (pages.length % PAGES_AT_ONCE === 0) await clock.sleep(0)
  }
  return { pages, places, keys, notice: null }
}

/** The path of a page below the start of its source, without the version. */
export function comparedPath(source: Source, { key, url }: { readonly key: string; readonly url: string }): string {
  return isTree(source) ? key : normalizePagePath(url, source, null).path
}
