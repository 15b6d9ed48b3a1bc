import type { PageSignature } from '../../core/retrieval/page-signature.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import { normalizePagePath } from '../../core/url/normalized-path.ts'
import { compareVersions } from '../../core/version/version.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source, versionOf } from '../source.ts'
import type { FoundPage } from './find-page.ts'

/** The same page in another version of its documentation, or in another language. */
export interface RelatedPage {
  readonly source: Source
  readonly url: string
  readonly language: string | null
  /** What distinguishes it: its version, or its language. */
  readonly label: string
}

/** The pages to which a reader of a page can switch, and the page itself among them. */
export interface RelatedPages {
  /** The page in the versions of its source, newest first; empty if there is only one. */
  readonly versions: readonly RelatedPage[]
  /** The page in all its languages; empty if there is only one. */
  readonly languages: readonly RelatedPage[]
}

/** Limits the pages that are compared, because a reader waits. */
const MAX_COMPARED = 20_000
/** Number of pages compared before yielding to other work. */
const PAGES_AT_ONCE = 500

/** Finds a page in the other versions of its source and in its other languages. Fetches nothing. */
export async function findRelatedPages(
  { store, clock }: Pick<Library, 'store' | 'clock'>,
  page: Pick<FoundPage, 'source' | 'key' | 'url' | 'language'>,
): Promise<RelatedPages> {
  const sources = (await store.listSources()).filter(({ name }) => name === page.source.name)
  const place = placeOf(page, page.source)
  const [own] = await store.readPageSignatures([{ sourceId: page.source.id, key: page.key }])
  const versions: RelatedPage[] = []
  const languages = new Map<string, RelatedPage>()
  let compared = 0
  for (const source of sources) {
    const isOwnSource = source.id === page.source.id
    for await (const other of store.listPageSignatures(source.id)) {
      if (++compared > MAX_COMPARED) break
      if (compared % PAGES_AT_ONCE === 0) await clock.sleep(0)
      const isOther = !areSameLanguage(page.language, other.language)
      if (isOwnSource && !isOther) continue
      if (!isSamePage(own, other, place, source)) continue
      const found = { source, url: other.url, language: other.language }
      const language = other.language ?? ''
      if (isOwnSource) languages.set(language, { ...found, label: language })
      else if (!isOther) versions.push({ ...found, label: versionOf(source) ?? labelOf(source) })
    }
  }
  const self = { source: page.source, url: page.url, language: page.language }
  const ownVersion = { ...self, label: versionOf(page.source) ?? labelOf(page.source) }
  const ownLanguage = { ...self, label: page.language ?? 'this language' }
  const byVersion = (a: RelatedPage, b: RelatedPage) => compareVersions(b.source.version ?? '', a.source.version ?? '')
  const byLabel = (a: RelatedPage, b: RelatedPage) => (a.label < b.label ? -1 : 1)
  return {
    versions: versions.length === 0 ? [] : [...versions, ownVersion].toSorted(byVersion),
    languages: languages.size === 0 ? [] : [...languages.values(), ownLanguage].toSorted(byLabel),
  }
}

/** Whether a page says what another one does: they name each other as translations, or have the same place in the documentation. */
function isSamePage(
  own: PageSignature | undefined,
  other: PageSignature & { readonly url: string },
  place: string,
  source: Source,
): boolean {
  const { family = null } = own ?? {}
  return (family !== null && family === other.family) || placeOf(other, source) === place
}

function areSameLanguage(a: string | null, b: string | null): boolean {
  return a === null || b === null || primaryLanguageOf(a) === primaryLanguageOf(b)
}

function placeOf(
  { url, language }: { readonly url: string; readonly language: string | null },
  source: Source,
): string {
  return normalizePagePath(url, source, language).path
}
