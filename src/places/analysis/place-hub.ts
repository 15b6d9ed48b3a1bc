import { declaresArticle } from '../../core/classify/classify-signs.ts'
import type { Classification, Page } from '../../core/model.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import { decodePart } from '../../core/url/decode-part.ts'
import { classifyUrl, foldPagination } from '../../core/url/page-url.ts'
import type { PlaceHub } from '../../library/ports/findings.ts'
import { isOrdinaryName, NON_PLACE_SEGMENTS, SURNAMES } from './match-words.ts'
import type { KnownPlace, MatchContext, PlaceMatch, PlaceMatcher } from './matcher.ts'
import { normalizeName, slugOf } from './place.ts'

/**
 * Returns the place hub that a page is, with the address of its first page. Returns null if the page is not a hub, or if the gazetteer does
 * not have the place.
 */
export function detectPlaceHub(
  page: Page,
  classification: Classification,
  places: PlaceMatcher,
  baseContext: MatchContext = {},
): PlaceHub | null {
  if (!isHubLike(page, classification)) return null
  const url = foldPagination(page.url)
  const { segments } = classifyUrl(url)
  const context = { ...baseContext, url }
  const matches = places.inUrl(url, context)
  const title = url === page.url ? page.title : withoutPageNumber(page.title)
  const headings = [title, page.sections[0]?.title ?? '']
  const found = findPlace({ page, segments, places, context, matches, headings })
  if (found === undefined) return null
  const { place, slug, at } = found
  const topic = topicOf(segments, at, page.section ?? null)
  const { navLinks, articleLinks, wordCount } = classification.content
  return {
    url,
    host: classification.url.host,
    placeId: place.id,
    placeSlug: slug,
    placeKind: place.kind,
    topicSlug: topic?.slug ?? null,
    topicLabel: topic?.label ?? null,
    topicKind: topic?.kind ?? null,
    title: title === '' ? null : title,
    navLinks,
    articleLinks,
    evidence: {
      reason: 'nav-or-hub',
      slug,
      placeKind: place.kind,
      placeLabel: place.name,
      placeSource: 'url',
      urlMatches: matches.map((match) => match.place.name),
      nav_links_count: navLinks,
      article_links_count: articleLinks,
      word_count: wordCount,
      topic,
    },
  }
}

/** `France - Page 2 of 9`: pagination belongs to the hub itself, whose title has no page number. */
function withoutPageNumber(title: string): string {
  const bare = title.replace(PAGE_NUMBER, '').trim()
  return bare === '' ? title : bare
}

const PAGE_NUMBER =
  /(?<!\s)\s*(?:[-–—|:•·,]\s*)?[([]?\b(?:page|seite|p[aá]gina|pagina|strona|sivu|sida|страница)\s*\d+(?:\s*(?:of|\/|von|de|sur|di|из|z|av)\s*\d+)?[)\]]?/iu

/** Minimum number of links within the site that makes a page a hub, unless it is an article. */
const MIN_HUB_LINKS = 10
/** Confidence from which an article is not a hub. */
const ARTICLE_CONFIDENCE = 0.65
/** Minimum link density. Every page has a menu; a hub has links in its text, or links to articles. */
const MIN_LINK_DENSITY = 0.25

function isHubLike(page: Page, { kind, confidence, content }: Classification): boolean {
  if (kind === 'nav') return true
  if ((kind === 'article' && confidence >= ARTICLE_CONFIDENCE) || declaresArticle(page)) return false
  const { navLinks, articleLinks, linkDensity } = content
  return navLinks + articleLinks >= MIN_HUB_LINKS && (articleLinks >= MIN_HUB_LINKS || linkDensity >= MIN_LINK_DENSITY)
}

/** A place that an address names. */
interface PathPlace {
  readonly place: KnownPlace
  readonly slug: string
  /** Index of the segment that names it. */
  readonly at: number
}

/** A page with everything that is used to find its place. */
interface Evidence {
  readonly page: Page
  readonly segments: readonly string[]
  readonly places: PlaceMatcher
  readonly context: MatchContext
  /** Places that the address names, in order. */
  readonly matches: readonly PlaceMatch[]
  /** Title and first heading. */
  readonly headings: readonly string[]
}

/** Limit of segments after the place: `/world/france/politics` is about France, `/uk/shop/shoes/red` is not about the United Kingdom. */
const MAX_SEGMENTS_AFTER = 1

/** The last segment that is a place. */
function findPlace(evidence: Evidence): PathPlace | undefined {
  const { segments } = evidence
  for (let at = segments.length - 1; at >= 0 && at >= segments.length - 1 - MAX_SEGMENTS_AFTER; at--) {
    for (const slug of slugsIn((segments[at] ?? '').replace(FILE_EXTENSION, ''))) {
      if (NON_PLACE_WORDS.has(slug)) continue
      const place = placeOf(evidence, at, slug)
      if (place !== undefined && isActualPlace(evidence, place, slug, at)) return { place, slug, at }
    }
  }
  return undefined
}

/**
 * The place that the address names at this segment, judged by the segments before it; otherwise one of the same name that the page
 * mentions.
 */
function placeOf(evidence: Evidence, at: number, slug: string): KnownPlace | undefined {
  const match = evidence.matches.findLast(({ text }) => slugOf(decodePart(text)) === slug)
  if (match !== undefined) return match.place
  const { places, headings, segments, matches } = evidence
  if (!headings.some((heading) => hasName(heading, slug)) && slug.length > 2) return undefined
  const before = segments.slice(0, at).map((segment) => slugOf(segment.replace(FILE_EXTENSION, '')))
  const outer = matches.findLast(({ text, place }) => isArea(place) && before.includes(slugOf(decodePart(text))))?.place
  return places.bySlug(slug).find((place) => {
    if (place.kind === 'country') return isNamedInHeadings(evidence, place)
    if (outer === undefined || outer.countryCode === null) return slug.length > 2
    const isInRegion = outer.kind === 'country' || outer.adm1Code === place.adm1Code
    return outer.countryCode === place.countryCode && isInRegion
  })
}

function isArea({ kind }: KnownPlace): boolean {
  return kind !== 'city' && kind !== 'poi'
}

function hasName(text: string, slug: string): boolean {
  return ` ${normalizeName(text)} `.includes(` ${slug.replaceAll('-', ' ')} `)
}

/** Whether title or heading name the place, and not a dish or person of the same name. */
function isNamedInHeadings({ places, headings, context }: Evidence, { id }: KnownPlace): boolean {
  return headings.some((heading) => places.inText(heading, context).some(({ place }) => place.id === id))
}

/** Length of the page's start that is searched for other places of the country. */
const SAMPLE_CHARS = 4000

/** Whether a page mentions a country beyond the word in its address: its people, its cities. */
function mentionsCountry({ page, places, context }: Evidence, country: string | null, slug: string): boolean {
  const text = page.markdown.slice(0, SAMPLE_CHARS)
  return places
    .inText(text, context)
    .some(({ place, text: name }) => place.countryCode === country && slugOf(name) !== slug)
}

const FILE_EXTENSION = /\.[a-z]{3,5}$/

/** The slug of a segment, and the slug without words that sites add to places. */
function slugsIn(segment: string): string[] {
  const slug = slugOf(segment)
  const bare = slug.replace(/^(?:news|latest)-(?:from-|in-)?|-(?:news|latest|headlines|stories|articles)$/g, '')
  return bare === slug || bare === '' ? [slug] : [slug, bare]
}

/** Whether the place is meant, and not a language, word or person. */
function isActualPlace(evidence: Evidence, place: KnownPlace, slug: string, at: number): boolean {
  const { page, segments, headings } = evidence
  const parent = segments[at - 1]
  if (slug.length <= 2) {
    // `/fr/` is more often a language than a country, and never a city.
    const isLanguage = segments.length === 1 && (page.language === null || primaryLanguageOf(page.language) === slug)
    return place.kind === 'country' && at === segments.length - 1 && !isLanguage
  }
  const isAmongPlaces = parent !== undefined && leadsToPlaces(evidence, parent)
  if (place.kind === 'country' || place.kind === 'supranational') {
    const isAmongThings = parent !== undefined && NON_PLACE_SEGMENTS.has(parent)
    if (!isAmongThings && !isOrdinaryName(slug)) return true
    if (!isAmongThings && (parent === undefined || isAmongPlaces) && isNamedInHeadings(evidence, place)) return true
    return isNamedInHeadings(evidence, place) && mentionsCountry(evidence, place.countryCode, slug)
  }
  // Nearly every word is the name of some town, so the title or the first heading must name this one.
  if (!headings.some((heading) => hasName(heading, slug))) return false
  if (parent !== undefined && NON_PLACE_SEGMENTS.has(parent)) return false
  // The name of a region below a topic means the region, even if it is a surname too: `/sport/kent`.
  const isOfRegion = place.kind === 'region' && parent !== undefined && SURNAMES.has(slug)
  if (isOrdinaryName(slug) && !isAmongPlaces && !isOfRegion && !isNamedInHeadings(evidence, place)) return false
  return place.kind !== 'city' || place.population >= MIN_TOWN_POPULATION || isAmongPlaces
}

/** Whether a segment is a place, or contains a word for places. */
function leadsToPlaces({ matches }: Evidence, segment: string): boolean {
  if (segment.split(/[-_]/).some((word) => PLACE_WORDS.has(word))) return true
  const slug = slugOf(segment.replace(FILE_EXTENSION, ''))
  return matches.some(({ place, text }) => isArea(place) && slugOf(decodePart(text)) === slug)
}

/** Minimum population of a town, unless the path segment before it is a place or contains a word for places. */
const MIN_TOWN_POPULATION = 50_000

/** Path segments below which places follow. */
const PLACE_WORDS: ReadonlySet<string> = new Set(
  `world global international region regions regional city cities town towns place places local location locations country
  countries nation nations state states geo area areas destination destinations travel news politics economy topic topics tag tags
  section category weather`.split(/\s+/),
)

/** Path segments that are also place names, but hardly ever mean the place. */
const NON_PLACE_WORDS: ReadonlySet<string> = new Set(
  `about action arts auto bath best books business central college commerce contact culture data economy education energy
  enterprise environment faith fashion features film food football games gaming garden green health history home independence index
  industry international jobs justice law letters life live local man market media mobile money most music nature news nice normal
  of olympics opinion orange page park police politics post progress radio reading review sandwich science search sport sports
  start story style summer tech technology today top topics tours town travel union university video weather well why winter women
  work world`.split(/\s+/),
)

/** The topic of a hub besides its place. */
interface Topic {
  readonly slug: string
  readonly label: string
  readonly kind: 'section' | 'path-segment'
  readonly source: 'url' | 'section'
}

/** Finds the topic: the segment before the place, otherwise the one after it, otherwise the page's section. */
function topicOf(segments: readonly string[], at: number, section: string | null): Topic | null {
  const slug = [segments[at - 1], segments[at + 1]].find((segment) => segment !== undefined && isTopic(segment))
  if (slug === undefined) {
    return section === null ? null : { slug: slugOf(section), label: section, kind: 'section', source: 'section' }
  }
  const isSection = section !== null && slugOf(section) === slugOf(slug)
  return {
    slug: slug.replace(FILE_EXTENSION, ''),
    label: isSection ? section : labelOf(slug.replace(FILE_EXTENSION, '')),
    kind: isSection ? 'section' : 'path-segment',
    source: 'url',
  }
}

/** Language codes, numbers and single letters are not topics. */
function isTopic(segment: string): boolean {
  return segment.length > 2 && /\p{L}/u.test(segment)
}

function labelOf(slug: string): string {
  const words = slug.replace(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
