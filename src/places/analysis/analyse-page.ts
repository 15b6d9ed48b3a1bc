import { classifyPage } from '../../core/classify/classify-page.ts'
import type { Page } from '../../core/model.ts'
import { readLanguage } from '../../core/text/language.ts'
import type { FoundPlace, PageAnalysis } from '../../library/ports/findings.ts'
import { findKeyPhrases } from './key-phrases.ts'
import { maskNonProse } from './mask-non-prose.ts'
import type { MatchContext, PlaceMatch, PlaceMatcher } from './matcher.ts'
import { ANALYSIS_VERSION, type AnalysePage, type PageContext } from './page-analysis.ts'
import { detectPlaceHub } from './place-hub.ts'
import { readSentiment } from './sentiment.ts'

/** A page below both limits is minimal, unless it is navigation. Characters count too, because some languages have no countable words. */
const MINIMAL_WORDS = 20
const MINIMAL_CHARS = 200
/** Limit of stored places per page; a page with more is a list. */
const MAX_PLACES = 500
/** Length limit of the analysed text; the topic of a page is clear by that point. */
const MAX_CHARS = 500_000

/** Analyses a page: facts, language, places, key phrases, sentiment and place hub. */
export const analysePage: AnalysePage = (page, places, pageContext = {}) => {
  const classification = classifyPage(page)
  const text = maskNonProse(page.markdown.slice(0, MAX_CHARS))
  const { language, source } = readLanguage(page.language, text)
  const section = page.section ?? classification.url.section
  const context = contextOf(page, section, language, pageContext)
  const isShort = page.wordCount < MINIMAL_WORDS && page.markdown.length < MINIMAL_CHARS
  const isMinimal = isShort && classification.kind !== 'nav'
  return {
    classification,
    analysis: {
      analysis_version: ANALYSIS_VERSION,
      kind: isMinimal ? 'minimal' : classification.kind,
      title: page.title,
      author: page.author,
      published_at: page.publishedAt,
      modified_at: page.modifiedAt,
      section,
      language,
      language_source: source,
      findings: { places: findPlaces(page, text, places, context) },
      notes: text.length < page.markdown.length ? [`only the first ${MAX_CHARS} characters were analysed`] : [],
      meta: {
        wordCount: page.wordCount,
        method: isMinimal ? 'minimal@v1' : 'signs+gazetteer@v1',
        deepAnalysis: analyseText(page, text, language),
      },
    },
    hub: detectPlaceHub(page, classification, places, context),
  }
}

type DeepAnalysis = PageAnalysis['meta']['deepAnalysis']

/** Increases when key phrases or sentiment would change. */
const DEEP_VERSION = 1

function analyseText(page: Page, text: string, language: string | null): DeepAnalysis {
  const keyPhrases = findKeyPhrases(text, { title: page.title, language })
  const notes: string[] = ['best effort']
  if (language !== 'en') notes.push('no sentiment: there is a list of words for English only')
  if (language !== null && UNSPACED_LANGUAGES.has(language))
    notes.push('no key phrases: the language is written without spaces')
  return {
    findings: { keyPhrases, sentiment: language === 'en' ? readSentiment(text) : null },
    notes,
    meta: { version: DEEP_VERSION, length: text.length, url: page.url },
  }
}

/** Languages without spaces between words, for which there are no key phrases. */
const UNSPACED_LANGUAGES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my'])

function contextOf(
  page: Page,
  section: string | null,
  language: string | null,
  pageContext: PageContext,
): MatchContext {
  return {
    ...pageContext,
    url: page.url,
    title: page.title,
    ...(section === null ? {} : { section }),
    ...(language === null ? {} : { language }),
  }
}

/** Finds the places in title, address and text, in this order, so that the limit drops places of the text first. */
function findPlaces(page: Page, text: string, places: PlaceMatcher, context: MatchContext): FoundPlace[] {
  const found: FoundPlace[] = []
  const add = (matches: readonly PlaceMatch[], source: FoundPlace['source']) => {
    for (const { place, start, end, confidence } of matches) {
      if (found.length >= MAX_PLACES) return
      found.push({
        place: place.name,
        place_kind: place.kind,
        method: 'gazetteer',
        source,
        offset_start: start,
        offset_end: end,
        country_code: place.countryCode,
        place_id: place.id,
        confidence: Math.round(confidence * 1000) / 1000,
      })
    }
  }
  add(places.inText(page.title, context), 'title')
  add(places.inUrl(page.url, context), 'url')
  add(places.inText(text, context), 'text')
  return found
}
