import type { Classification, Page } from '../core/model.ts'
import { classifyUrl, foldPagination } from '../core/url/page-url.ts'
import { saysArticle } from './classify-signs.ts'
import { shortCode } from './language.ts'
import type { KnownPlace, PlaceMatcher } from './matcher.ts'
import type { PlaceHub } from './page-analysis.ts'
import { normalizeName, slugOf } from './place.ts'

/** The hub that a page is, under the address of its first page; null where it is none, or the gazetteer does not know the place. */
export function detectPlaceHub(page: Page, classification: Classification, places: PlaceMatcher): PlaceHub | null {
  if (!leadsOn(page, classification)) return null
  const url = foldPagination(page.url)
  const { segments } = classifyUrl(url)
  const found = findPlace(segments, page, places)
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
    title: page.title === '' ? null : page.title,
    navLinks,
    articleLinks,
    evidence: {
      reason: 'nav-or-hub',
      slug,
      placeKind: place.kind,
      placeLabel: place.name,
      placeSource: 'url',
      urlMatches: places.inUrl(url).map((match) => match.place.name),
      nav_links_count: navLinks,
      article_links_count: articleLinks,
      word_count: wordCount,
      topic,
    },
  }
}

/** With so many links within the site a page that is no article leads on. */
const MANY_LINKS = 10
/** So sure one has to be that a page is an article for it to be no hub. */
const SURE = 0.65
/** Every page has a menu; one that leads on has its links in the text, or leads to articles. */
const LINKED = 0.25

function leadsOn(page: Page, { kind, confidence, content }: Classification): boolean {
  if (kind === 'nav') return true
  if ((kind === 'article' && confidence >= SURE) || saysArticle(page)) return false
  const { navLinks, articleLinks, linkDensity } = content
  return navLinks + articleLinks >= MANY_LINKS && (articleLinks >= MANY_LINKS || linkDensity >= LINKED)
}

/** A place that an address names. */
interface FoundPlace {
  readonly place: KnownPlace
  readonly slug: string
  /** Which segment names it. */
  readonly at: number
}

/** Most segments after the place: `/world/france/politics` is about France, `/uk/shop/shoes/red` is not about the United Kingdom. */
const MOST_AFTER = 1

/** The last segment that is a place. */
function findPlace(segments: readonly string[], page: Page, places: PlaceMatcher): FoundPlace | undefined {
  for (let at = segments.length - 1; at >= 0 && at >= segments.length - 1 - MOST_AFTER; at--) {
    const segment = (segments[at] ?? '').replace(ENDING, '')
    const parent = segments[at - 1]
    const around: Around = {
      page,
      isLast: at === segments.length - 1,
      isAlone: segments.length === 1,
      isAmongPlaces: parent !== undefined && (PLACE_WORDS.has(parent) || isDivision(places.bySlug(slugOf(parent))[0])),
    }
    for (const slug of slugsIn(segment)) {
      const place = places.bySlug(slug)[0]
      if (place !== undefined && isMeant(place, slug, around)) return { place, slug, at }
    }
  }
  return undefined
}

function isDivision(place: KnownPlace | undefined): boolean {
  return place?.kind === 'country' || place?.kind === 'region'
}

const ENDING = /\.[a-z]{3,5}$/

/** The slug of a segment, and what is left of it without the words that sites put around places. */
function slugsIn(segment: string): string[] {
  const slug = slugOf(segment)
  const bare = slug.replace(/^(?:news|latest)-(?:from-|in-)?|-(?:news|latest|headlines|stories|articles)$/g, '')
  return bare === slug || bare === '' ? [slug] : [slug, bare]
}

/** Where a slug stands. */
interface Around {
  readonly page: Page
  readonly isLast: boolean
  readonly isAlone: boolean
  /** Whether the segment before it is a place, or a word for places. */
  readonly isAmongPlaces: boolean
}

function isMeant(place: KnownPlace, slug: string, { page, isLast, isAlone, isAmongPlaces }: Around): boolean {
  if (OTHERWISE_MEANT.has(slug)) return false
  if (slug.length <= 2) {
    // `/fr/` is more often a language than a country, and never a city.
    const isLanguage = isAlone && (page.language === null || shortCode(page.language) === slug)
    return place.kind === 'country' && isLast && !isLanguage
  }
  if (place.kind === 'country' || place.kind === 'supranational') return true
  // Nearly every word is the name of some town: the page has to say that it is about this one.
  if (!` ${normalizeName(page.title)} `.includes(` ${slug.replaceAll('-', ' ')} `)) return false
  return place.kind !== 'city' || place.population >= KNOWN_TOWN || isAmongPlaces
}

/** Towns of fewer people are meant only where the address leads through a place, or a word for places, to them. */
const KNOWN_TOWN = 50_000

/** Words of addresses under which places stand. */
const PLACE_WORDS: ReadonlySet<string> = new Set(
  `world region regions city cities town towns place places local location locations country countries nation nations state states
  destination destinations travel news`.split(/\s+/),
)

/** Words of addresses that are places too, but are hardly ever meant as such. */
const OTHERWISE_MEANT: ReadonlySet<string> = new Set(
  `about action arts auto bath best books business central college commerce contact culture data economy education energy
  enterprise environment faith fashion features film food football games gaming garden green health history home independence index
  industry international jobs justice law letters life live local man market media mobile money most music nature news nice normal
  of olympics opinion orange page park police politics post progress radio reading review sandwich science search sport sports
  start story style summer tech technology today top topics tours town travel union university video weather well why winter women
  work world`.split(/\s+/),
)

/** What a hub is about besides its place. */
interface Topic {
  readonly slug: string
  readonly label: string
  readonly kind: 'section' | 'path-segment'
  readonly source: 'url' | 'section'
}

/** What the hub is about besides the place: the segment before it, else the one behind it, else the section of the page. */
function topicOf(segments: readonly string[], at: number, section: string | null): Topic | null {
  const slug = [segments[at - 1], segments[at + 1]].find((segment) => segment !== undefined && isTopic(segment))
  if (slug === undefined) {
    return section === null ? null : { slug: slugOf(section), label: section, kind: 'section', source: 'section' }
  }
  const isSection = section !== null && slugOf(section) === slugOf(slug)
  return {
    slug: slug.replace(ENDING, ''),
    label: isSection ? section : labelOf(slug.replace(ENDING, '')),
    kind: isSection ? 'section' : 'path-segment',
    source: 'url',
  }
}

/** Codes of languages, numbers and single letters are no topics. */
function isTopic(segment: string): boolean {
  return segment.length > 2 && /\p{L}/u.test(segment)
}

function labelOf(slug: string): string {
  const words = slug.replace(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
