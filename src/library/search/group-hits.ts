import { type FingerprintBits, readFingerprint } from '../../core/retrieval/fingerprint.ts'
import { createComparable, isEquivalentText } from '../../core/retrieval/near-duplicates.ts'
import {
  type ComparablePage,
  findRelation,
  type PageRelation,
  type RelationOptions,
} from '../../core/retrieval/page-relation.ts'
import type { PageSignature } from '../../core/retrieval/page-signature.ts'
import { countOf } from '../../core/text/count.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import { writeList } from '../../core/text/list.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { languagesOfQuery } from '../../core/text/query-language.ts'
import { stem } from '../../core/text/stem.ts'
import {
  languageInUrl,
  type NormalizedPath,
  normalizePagePath,
  type VersionedSource,
} from '../../core/url/normalized-path.ts'
import type { Store } from '../ports/store.ts'
import type { SearchInput, SimilarPage } from '../search.ts'
import { labelOf, type Source, versionOf } from '../source.ts'
import type { HitSources } from './hit-sources.ts'
import type { RankedHit } from './ranked-hits.ts'

/** A hit on a shown page, with the similar pages that it represents; `similar` may grow until an answer is composed. */
export interface GroupedHit extends RankedHit {
  readonly similar: readonly SimilarPage[]
}

/** Groups pages that are nearly identical or translations of each other. */
export interface HitGroups {
  /**
   * Adds hits that rank below earlier ones, and returns those on pages to show. If a new page is to replace an earlier one, `withdraw` gets
   * the page key of the earlier one and returns false if an answer already shows that page.
   */
  add(hits: readonly RankedHit[], withdraw?: (page: string) => boolean): Promise<readonly GroupedHit[]>
  /** Notices about pages left out of an answer. Parameters are named as in the API. */
  listNotices(answered: readonly Pick<GroupedHit, 'similar'>[]): readonly string[]
}

/** Search options that affect grouping. */
type GroupingOptions = Pick<SearchInput, 'query' | 'duplicates' | 'language'>

/** A page with hits. It is a class for speed, because every question creates about fifty. */
class HitPage implements ComparablePage {
  readonly id: string
  readonly sourceId: string
  readonly name: string
  readonly url: string
  /** Whether the page has a signature; a page without one is never grouped. */
  readonly isKnown: boolean
  /** Language tag as declared. */
  readonly tag: string | null
  readonly language: string | null
  readonly family: string | null
  readonly bits: FingerprintBits | null
  /** Score of the best hit. */
  readonly score: number
  /** Best first. */
  readonly hits: readonly RankedHit[]
  group: Group = { pages: [this], shown: undefined, similar: [] }
  readonly #source: VersionedSource
  #at: NormalizedPath | undefined

  constructor(
    id: string,
    best: RankedHit,
    hits: readonly RankedHit[],
    signature: PageSignature | undefined,
    source?: Source,
  ) {
    this.id = id
    this.sourceId = best.sourceId
    this.name = source?.name ?? ''
    this.url = best.url
    this.isKnown = signature !== undefined
    this.tag = signature?.language ?? null
    this.language = this.tag === null ? null : primaryLanguageOf(this.tag)
    this.family = signature?.family ?? null
    const fingerprint = signature?.fingerprint ?? null
    this.bits = fingerprint === null ? null : readFingerprint(fingerprint)
    this.score = best.score
    this.hits = hits
    this.#source = source ?? { url: '', version: null }
  }

  /** Position of the page in its site. Computed lazily, because most pages have no other version or language. */
  get at(): NormalizedPath {
    this.#at ??= normalizePagePath(this.url, this.#source, this.tag)
    return this.#at
  }

  get place(): string {
    return this.at.path
  }
}

/** Related pages, of which one is shown. */
interface Group {
  readonly pages: HitPage[]
  /** Undefined until a page is chosen, or if none is shown. */
  shown: HitPage | undefined
  readonly similar: SimilarPage[]
}

/** A page with less than this share of the best score is not shown in place of the best: the question may concern exactly what differs. */
const MIN_SCORE_SHARE = 0.6

/** Creates groups for the hits of a question; `origins` are the sources that hits can come from. */
export function createHitGroups(store: Store, origins: HitSources, options: GroupingOptions): HitGroups {
  const relations = { byText: options.duplicates !== 'show', byLanguage: (options.language ?? 'auto') === 'auto' }
  const { languages: queryLanguages, isSure } = languagesOfQuery(relations.byLanguage ? options.query : '')
  /** All pages seen so far, by id. */
  const pages = new Map<string, HitPage>()
  /** Best score per source name among pages in the language of the question. */
  const bestScores = new Map<string, number>()
  /** Pages in other languages from sources that also answer in the language of the question. */
  const foreign = new Set<HitPage>()

  /** Creates pages for new hits and groups each with related ones. */
  const takePages = async (hits: readonly RankedHit[]): Promise<HitPage[]> => {
    const hitsByPage = new Map<string, RankedHit[]>()
    for (const hit of hits) {
      const { pageKey: id } = hit
      const known = hitsByPage.get(id)
      if (known !== undefined) known.push(hit)
      else if (!pages.has(id)) hitsByPage.set(id, [hit])
    }
    const found = await describePages(store, hitsByPage, origins)
    for (const page of found) {
      for (const other of page.isKnown ? pages.values() : []) {
        const relation = other.group === page.group ? undefined : findGroupRelation(page, other, relations)
        if (relation !== undefined) unite(page.group, other.group, relation)
      }
      pages.set(page.id, page)
    }
    return found
  }
  /** Whether a page is certainly in another language than the question, and its source answers equally well in the right one. */
  const isForeign = ({ language, name, score }: HitPage): boolean =>
    isSure && language !== null && !queryLanguages.includes(language) && score <= (bestScores.get(name) ?? -1)

  return {
    async add(hits, withdraw = () => false) {
      if (!relations.byText && !relations.byLanguage) return hits.map((hit) => ({ ...hit, similar: [] }))
      const found = await takePages(hits)
      for (const { language, name, score } of found) {
        if (language === null || !queryLanguages.includes(language)) continue
        bestScores.set(name, Math.max(score, bestScores.get(name) ?? 0))
      }
      for (const group of new Set(found.map((page) => page.group))) {
        const best = chooseShown(group.pages, queryLanguages, origins)
        const before = group.shown
        const isKept = before !== undefined && (best === before || !found.includes(best) || !withdraw(before.id))
        if (before === undefined && isForeign(best)) for (const page of group.pages) foreign.add(page)
        else setShownPage(group, isKept ? before : best, origins)
      }
      return hits.flatMap((hit) => {
        const page = pages.get(hit.pageKey)
        return page !== undefined && page.group.shown === page ? [{ ...hit, similar: page.group.similar }] : []
      })
    },
    listNotices: (answered) => {
      const similar = new Set(answered.flatMap((page) => page.similar.map(({ source, url }) => `${source} ${url}`)))
      const unknown = [...pages.values()].filter(({ isKnown }) => !isKnown).length
      const leftOut = [...foreign].filter(({ group }) => !group.shown)
      return [...describeSimilar(similar.size, relations), ...describeForeign(leftOut), ...describeUnknown(unknown)]
    },
  }
}

/** Reads the signatures of pages; each page starts as a group of its own. */
async function describePages(
  store: Store,
  found: ReadonlyMap<string, readonly RankedHit[]>,
  origins: HitSources,
): Promise<HitPage[]> {
  const pageHits = [...found].flatMap(([id, hits]) => (hits[0] === undefined ? [] : [{ id, hits, best: hits[0] }]))
  if (pageHits.length === 0) return []
  const places = pageHits.map(({ best: { sourceId, chunk, page } }) => ({ sourceId, key: chunk.path, page }))
  const signatures = await store.readPageSignatures(places)
  return pageHits.map(({ id, hits, best }, i) => {
    return new HitPage(id, best, hits, signatures[i], origins.sourceOf(best.sourceId))
  })
}

/** Merges two groups, unless both have a shown page. A translation never merges two pages in the same language. */
function unite(own: Group, other: Group, relation: PageRelation): void {
  const [into, from] = other.shown === undefined ? [own, other] : [other, own]
  if (from.shown !== undefined || (relation === 'translation' && hasSameLanguagePages(into.pages, from.pages))) return
  into.pages.push(...from.pages)
  for (const page of from.pages) page.group = into
}

/** Whether both lists contain pages of one source in the same language. */
function hasSameLanguagePages(some: readonly HitPage[], others: readonly HitPage[]): boolean {
  return some.some((a) => others.some((b) => a.sourceId === b.sourceId && a.language === b.language))
}

/** Sets the shown page of a group and lists the others as similar. */
function setShownPage(group: Group, shown: HitPage, origins: HitSources): void {
  group.shown = shown
  if (group.pages.length === 1) return
  const others = group.pages.filter((page) => page !== shown).map((page) => toSimilar(page, shown, origins))
  group.similar.splice(0, group.similar.length, ...others)
}

/**
 * Returns why two pages are shown as one. Near-identical pages may still differ in the passage that matched, so these passages must agree.
 */
function findGroupRelation(a: HitPage, b: HitPage, relations: RelationOptions): PageRelation | undefined {
  const relation = b.isKnown ? findRelation(a, b, relations) : undefined
  if (relation === undefined && relations.byText && haveSameShortText(a, b)) return 'copy'
  return relation === 'copy' && !haveSamePassage(a, b) ? undefined : relation
}

/** Whether two short pages of different sources have the same best chunk; a fingerprint of few words would be unreliable. */
function haveSameShortText(a: HitPage, b: HitPage): boolean {
  if (a.sourceId === b.sourceId || a.language !== b.language || a.bits?.isShort !== true || b.bits?.isShort !== true) {
    return false
  }
  return a.hits[0] !== undefined && a.hits[0].chunk.contentHash === b.hits[0]?.chunk.contentHash
}

function haveSamePassage({ hits: [own] }: HitPage, { hits }: HitPage): boolean {
  const ownText = createComparable(own?.chunk.content ?? '')
  return hits.some(({ chunk }) => isEquivalentText(createComparable(chunk.content), ownText))
}

/** Chooses the page to show from a group: by language, then version, then score. */
function chooseShown(pages: readonly HitPage[], queryLanguages: readonly string[], origins: HitSources): HitPage {
  const [only, ...more] = pages
  if (only === undefined) throw new TypeError('Expected a group to have a page, got none')
  if (more.length === 0) return only
  const bestScore = pages.reduce((best, { score }) => Math.max(best, score), 0)
  const answering = pages.filter(({ score }) => score >= MIN_SCORE_SHARE * bestScore).sort((a, b) => b.score - a.score)
  const language = chooseLanguage(answering, queryLanguages, origins)
  const [best = only, ...others] = answering.filter((page) => page.language === language)
  return others.reduce((a, b) => (origins.isPreferred(b.sourceId, a.sourceId) ? b : a), best)
}

/**
 * Chooses the language to show: the language of the question, as detected or as the matched words suggest; otherwise the language of the
 * source, from its start address or from pages without a language in their address; otherwise English, the usual original of documentation.
 */
function chooseLanguage(
  pages: readonly HitPage[],
  queryLanguages: readonly string[],
  origins: HitSources,
): string | null {
  const available = new Set(pages.map(({ language }) => language))
  if (available.size === 1) return pages[0]?.language ?? null
  const [best] = pages.toSorted((a, b) => b.score - a.score)
  const main = languageInUrl(origins.sourceOf(best?.sourceId ?? '')?.url ?? '')
  const unmarked = pages.find(({ at, language }) => !at.namesLanguage && language !== null)?.language ?? null
  const preferences = [...queryLanguages, languageOfWords(pages), main, unmarked, 'en', best?.language ?? null]
  return preferences.find((language) => language !== null && available.has(language)) ?? best?.language ?? null
}

/** Returns the language whose pages contain the most words of the question; null if it is a tie. */
function languageOfWords(pages: readonly HitPage[]): string | null {
  const wordCounts = new Map<string | null, number>()
  for (const { language, hits } of pages) {
    const words = new Set(hits.flatMap(({ terms }) => terms.map(stem)))
    wordCounts.set(language, Math.max(wordCounts.get(language) ?? 0, words.size))
  }
  const [first, second] = [...wordCounts].sort((a, b) => b[1] - a[1])
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : null
}

function toSimilar({ url, sourceId, tag, language }: HitPage, shown: HitPage, origins: HitSources): SimilarPage {
  const source = origins.sourceOf(sourceId)
  const label = source === undefined ? sourceId : labelOf(source)
  const isTranslation = language !== null && language !== shown.language
  return {
    ...{ url, source: label, version: source === undefined ? null : versionOf(source), language: tag },
    ...(isTranslation ? { isTranslation } : {}),
  }
}

function describeSimilar(count: number, { byText, byLanguage }: RelationOptions): string[] {
  if (count === 0) return []
  const what = `${countOf(count, 'page')} ${count === 1 ? 'is' : 'are'} grouped with a page that has the same content in another`
  if (byText && byLanguage) return [`${what} place, version or language; duplicates=show and language=any show all`]
  return [`${what} ${byText ? 'place or version; duplicates=show' : 'language; language=any'} shows all`]
}

function describeForeign(pages: readonly HitPage[]): string[] {
  if (pages.length === 0) return []
  const languages = [...new Set(pages.map(({ tag }) => tag ?? ''))].sort(compareUtf8)
  return [
    `${countOf(pages.length, 'page')} in other languages than the question (${writeList(languages)}) left out; language=any shows all`,
  ]
}

function describeUnknown(count: number): string[] {
  if (count === 0) return []
  const what = `${countOf(count, 'page')} indexed by an older Pharos ${count === 1 ? 'is' : 'are'} not compared yet`
  return [`${what}: results may repeat until pharos serve or pharos duplicates has compared them`]
}
