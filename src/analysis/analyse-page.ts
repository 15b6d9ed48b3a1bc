import type { Page } from '../core/model.ts'
import { readLanguage } from '../core/text/language.ts'
import { readableText } from './article-text.ts'
import { classifyPage } from './classify-page.ts'
import { findKeyPhrases } from './key-phrases.ts'
import type { MatchContext, PlaceMatch, PlaceMatcher } from './matcher.ts'
import {
  ANALYSIS_VERSION,
  type AnalysePage,
  type FoundPlace,
  type PageAnalysis,
  type PageContext,
} from './page-analysis.ts'
import { detectPlaceHub } from './place-hub.ts'
import { readSentiment } from './sentiment.ts'

/** With less a page that leads nowhere has nothing to be analysed. Words cannot be counted in every language. */
const MINIMAL_WORDS = 20
const MINIMAL_CHARS = 200
/** Places of one page that are kept; more are a list. */
const MAX_PLACES = 500
/** Longer texts are analysed up to here: what a page is about is said by then. */
const MAX_CHARS = 500_000

/** Finds out everything about a page that is kept of it. */
export const analysePage: AnalysePage = (page, places, given = {}) => {
  const classification = classifyPage(page)
  const text = readableText(page.markdown.slice(0, MAX_CHARS))
  const { language, source } = readLanguage(page.language, text)
  const section = page.section ?? classification.url.section
  const context = contextOf(page, section, language, given)
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

/** Changes when key phrases or sentiment would be others. */
const DEEP_VERSION = 1

function analyseText(page: Page, text: string, language: string | null): DeepAnalysis {
  const keyPhrases = findKeyPhrases(text, { title: page.title, language })
  const notes: string[] = ['best effort']
  if (language !== 'en') notes.push('no sentiment: there is a list of words for English only')
  if (language !== null && UNSPACED.has(language)) notes.push('no key phrases: the language is written without spaces')
  return {
    findings: { keyPhrases, sentiment: language === 'en' ? readSentiment(text) : null },
    notes,
    meta: { version: DEEP_VERSION, length: text.length, url: page.url },
  }
}

/** Languages in which words are not told apart here. */
const UNSPACED: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my'])

function contextOf(page: Page, section: string | null, language: string | null, given: PageContext): MatchContext {
  return {
    ...given,
    url: page.url,
    title: page.title,
    ...(section === null ? {} : { section }),
    ...(language === null ? {} : { language }),
  }
}

/** Places in title, address and text, each mention once, in this order: those of the text are the ones that may be too many. */
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
