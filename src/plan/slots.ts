import type { KnownCountry } from '../analysis/matcher.ts'
import { decodePart } from '../core/url/query.ts'
import type { Address, Segment } from './address.ts'
import { type CountryNames, learnSpelling, type SiteSpelling } from './country-names.ts'
import type { PlanPlaces } from './places.ts'
import type { HubVerdict } from './plan-memory.ts'

/** Marks the word of a path that names a place. */
const MARK = '\u0000'

/** An address where a hub of a country is, or is supposed to be. */
export interface Hub {
  readonly url: string
  /** The country as it stands in the address, decoded. */
  readonly text: string
  readonly country: KnownCountry
  /** `listed` as soon as the site itself names it in this crawl. */
  origin: HubVerdict['origin']
  /** What became of it; `open` where nobody could look, undefined while nobody has. */
  state: HubVerdict['state'] | 'open' | undefined
  status: number | null
  /** Whether it was supposed because of its slot, in this crawl or before. */
  isGuess: boolean
  /** Whether the plan has put it into the frontier. */
  isSeeded: boolean
  /** Whether it was told in this crawl that it is not there. */
  isReported: boolean
  /** What was found out before anybody knew that its slot is one of countries. */
  draft?: HubVerdict | undefined
}

/** Addresses that differ in one word only, and what stands in its place. */
export interface Slot {
  /** Path with the place of that word marked. */
  readonly template: string
  readonly origin: string
  /** Hubs of countries by the words that stand there. */
  readonly hubs: Map<string, Hub>
  readonly countries: Set<number>
  /** Some of the words that are no countries. */
  readonly words: Set<string>
  readonly counts: SlotCounts
  /** How many hubs were supposed at a time, the last time. */
  lastWave: number
}

/** What was counted of the addresses of a slot. */
export interface SlotCounts {
  seen: number
  /** Addresses that have another word there than a country. */
  others: number
  /** Those that end in a slash. */
  slashes: number
  /** Countries that are written by a code. */
  codes: number
  /** Those of them whose code is no language. */
  ownCodes: number
  /** Languages that are the code of no country. */
  languageCodes: number
}

/** Words that are kept of each slot to tell what they are. */
const MOST_WORDS = 48
/** Slots that are kept; those that were seen once go first. */
const MOST_SLOTS = 20_000
/** Longer paths are looked at as a whole only. */
const MOST_SEGMENTS = 6
/** A pattern of countries needs so many different ones. */
const LEAST_COUNTRIES = 3
/** Smaller towns share their names with too many other words. */
const LEAST_POPULATION = 100_000
const LEAST_PLACES = 4
const PLACE_SHARE = 0.6
/** Words of a name that make a segment look like a headline. */
const LONG_NAME = 3

/** Languages that sites are commonly written in: a segment of these is a language before it is a country. */
const LANGUAGE_CODES: ReadonlySet<string> = new Set(
  'ar bg bn ca cs da de el en es et eu fa fi fr ga he hi hr hu hy id is it ja ka kk km ko lt lv mk ml mn mr ms my nb ne nl nn no pl ps pt ro ru sk sl so sq sr sv sw ta te th tl tr uk ur uz vi zh zu'.split(
    ' ',
  ),
)

/** How an address became known. */
export type Naming = 'listed' | 'guessed' | 'earlier'

/** Learns where addresses have places in them. What it keeps is bounded, and an address costs a few lookups. */
export class SlotBook {
  readonly #names: CountryNames
  readonly #places: PlanPlaces
  readonly #slots = new Map<string, Slot>()
  /** What has stood before or behind a country within a segment: `-news`, `country-`. */
  readonly #affixes = new Set<string>()
  /** Grows whenever a slot gets another country: what was made of slots before may be different then. */
  revision = 0

  constructor(names: CountryNames, places: PlanPlaces) {
    this.#names = names
    this.#places = places
  }

  /** How many slots are kept. */
  get size(): number {
    return this.#slots.size
  }

  /** Takes an address in. Answers the hubs that it could be, with their slots. */
  note(address: Address, naming: Naming): readonly FoundHub[] {
    const words = this.#readWords(address)
    const found: FoundHub[] = []
    for (const { at, part, segment, word, country } of words) {
      const slot = this.#openSlot(address, at, part)
      count(slot, address, segment, country)
      if (country === undefined) continue
      if (part.length > 1) this.#affixes.add(part)
      if (!slot.hubs.has(word.toLowerCase())) this.revision++
      const hub = enter(slot, address, word, country)
      if (naming === 'listed') hub.origin = 'listed'
      if (naming === 'guessed') hub.isGuess = true
      found.push({ slot, hub })
    }
    return found
  }

  /** The hubs that an address could be that was visited; one that nobody has told of, as of an interrupted run, is entered. */
  meet(address: Address, naming: Naming): readonly FoundHub[] {
    const found = this.find(address)
    if (found.length > 0) return found
    const hasCountry = [...this.#readWords(address)].some(({ country }) => country !== undefined)
    return hasCountry ? this.note(address, naming) : found
  }

  /** The hubs that an address could be, as far as they are known. */
  find(address: Address): readonly FoundHub[] {
    const found: FoundHub[] = []
    for (const { at, part, word, country } of this.#readWords(address)) {
      const slot = country === undefined ? undefined : this.#slots.get(keyOf(address, at, part))
      const hub = slot?.hubs.get(word.toLowerCase())
      if (slot !== undefined && hub !== undefined) found.push({ slot, hub })
    }
    return found
  }

  /** All slots of countries, those of most countries first. */
  listCountrySlots(): Slot[] {
    const slots: Slot[] = []
    for (const slot of this.#slots.values()) if (this.isOfCountries(slot)) slots.push(slot)
    return slots.sort((a, b) => b.countries.size - a.countries.size || (a.template < b.template ? -1 : 1))
  }

  /** Slots of other places: regions, cities, or some of each. */
  listPlaceSlots(): { readonly slot: Slot; readonly kind: 'region' | 'city' | 'place' }[] {
    const found: { slot: Slot; kind: 'region' | 'city' | 'place' }[] = []
    for (const slot of this.#slots.values()) {
      if (slot.words.size < LEAST_PLACES || this.isOfCountries(slot)) continue
      const kind = this.#kindOf(slot)
      if (kind !== undefined) found.push({ slot, kind })
    }
    return found.sort((a, b) => b.slot.words.size - a.slot.words.size)
  }

  /** Whether most of what stands in a slot are places, and at least three of them different countries. */
  isOfCountries({ countries, words, counts }: Slot): boolean {
    const { others, codes, ownCodes, languageCodes } = counts
    if (countries.size < LEAST_COUNTRIES) return false
    const isOfCodes = codes * 2 > countries.size
    if (isOfCodes && (ownCodes < LEAST_COUNTRIES || ownCodes <= languageCodes)) return false
    if (others <= countries.size) return true
    // Continents and cities among them are places too.
    const share = words.size === 0 ? 0 : [...words].filter((word) => this.#isPlace(word)).length / words.size
    return (countries.size + others * share) * 2 > countries.size + others
  }

  /** How the countries of a slot are written. */
  learnSpelling({ hubs }: Slot): SiteSpelling {
    return learnSpelling(this.#names, [...hubs.values()])
  }

  *#readWords(address: Address): Generator<ReadWord> {
    const { segments } = address
    if (address.hasQuery || address.isPagination || segments.length === 0 || segments.length > MOST_SEGMENTS) return
    const countries = segments.map((segment) => this.#countryOf(segment))
    // What has a date, a number or a headline in it is something about a place, not the place.
    const isPlain = (segment: Segment, i: number) =>
      segment.form === 'word' || countries[i] !== undefined || this.#isLongName(segment)
    if (!segments.every(isPlain)) return
    for (const [at, segment] of segments.entries()) {
      const country = countries[at]
      yield { at, part: MARK, segment, word: segment.text, country }
      if (country === undefined) yield* this.#readParts(at, segment)
    }
  }

  /** A country within a segment: `france-news`, `news-from-france`. */
  *#readParts(at: number, segment: Segment): Generator<ReadWord> {
    if (!/[-_]/.test(segment.word)) return
    for (const { word, before, behind } of splitWord(segment.text)) {
      const country = word.length > 2 ? this.#names.bySlug(word.toLowerCase()) : undefined
      const part = `${before}${MARK}${behind}`
      if (country === undefined && !this.#affixes.has(part)) continue
      yield { at, part, segment: { ...segment, word: word.toLowerCase() }, word, country }
      if (country !== undefined) return
    }
  }

  /** Whether a segment is as long as a headline because the name of a country in it is. */
  #isLongName(segment: Segment): boolean {
    if (segment.form !== 'headline') return false
    for (const { word, country } of this.#readParts(0, segment)) {
      if (country !== undefined && word.split(/[-_]/).length >= LONG_NAME) return true
    }
    return false
  }

  #countryOf({ word, form }: Segment): KnownCountry | undefined {
    if (form !== 'word' && form !== 'headline') return undefined
    return isCode(word) ? this.#names.byCode(word) : this.#names.bySlug(word)
  }

  #openSlot(address: Address, at: number, part: string): Slot {
    const key = keyOf(address, at, part)
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    if (this.#slots.size >= MOST_SLOTS) this.#prune()
    const { origin } = address
    const counts = { seen: 0, others: 0, slashes: 0, codes: 0, ownCodes: 0, languageCodes: 0 }
    const template = key.slice(origin.length)
    const slot = { template, origin, hubs: new Map(), countries: new Set<number>(), words: new Set<string>() }
    const opened: Slot = { ...slot, counts, lastWave: 0 }
    this.#slots.set(key, opened)
    return opened
  }

  #isPlace(word: string): boolean {
    if (word.length <= 2) return false
    const [place] = this.#places.bySlug(word)
    return place !== undefined && (place.kind !== 'city' || place.population >= LEAST_POPULATION)
  }

  #kindOf({ words }: Slot): 'region' | 'city' | 'place' | undefined {
    let regions = 0
    let cities = 0
    for (const word of words) {
      const [place] = word.length > 2 ? this.#places.bySlug(word) : []
      if (place?.kind === 'region') regions++
      else if (place?.kind === 'city' && place.population >= LEAST_POPULATION) cities++
    }
    const all = regions + cities
    if (all < LEAST_PLACES || all < words.size * PLACE_SHARE) return undefined
    if (regions > all * PLACE_SHARE) return 'region'
    return cities > all * PLACE_SHARE ? 'city' : 'place'
  }

  /** Makes room: a place in paths that has had one word only says nothing, and one without countries little. */
  #prune(): void {
    for (const [key, { counts }] of this.#slots) if (counts.seen <= 1) this.#slots.delete(key)
    for (const [key, { countries }] of this.#slots) {
      if (this.#slots.size <= MOST_SLOTS / 2) return
      if (countries.size === 0) this.#slots.delete(key)
    }
    for (const [key, { countries }] of this.#slots) if (countries.size < LEAST_COUNTRIES) this.#slots.delete(key)
  }
}

/** A hub with the slot that it stands in. */
export interface FoundHub {
  readonly slot: Slot
  readonly hub: Hub
}

/** A word of an address that may be a place. */
interface ReadWord {
  readonly at: number
  /** What stands in its segment, with the word marked. */
  readonly part: string
  readonly segment: Segment
  readonly word: string
  readonly country: KnownCountry | undefined
}

function isCode(word: string): boolean {
  return word.length === 2 && word.charCodeAt(0) < 0x80
}

/** Origin and path of an address with one of its segments replaced. */
function keyOf({ origin, segments }: Address, at: number, part: string): string {
  let path = origin
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i]
    path += `/${i === at ? part + (segment?.ending ?? '') : (segment?.raw ?? '')}`
  }
  return path
}

function count({ counts, words }: Slot, address: Address, segment: Segment, country: KnownCountry | undefined): void {
  counts.seen++
  if (address.hasSlash) counts.slashes++
  if (country !== undefined) return
  counts.others++
  if (LANGUAGE_CODES.has(segment.word)) counts.languageCodes++
  if (words.size < MOST_WORDS) words.add(segment.word)
}

function enter({ hubs, countries, counts }: Slot, { url }: Address, text: string, country: KnownCountry): Hub {
  const key = text.toLowerCase()
  const known = hubs.get(key)
  if (known !== undefined) return known
  if (isCode(key)) {
    counts.codes++
    if (!LANGUAGE_CODES.has(key)) counts.ownCodes++
  }
  const flags = { isGuess: false, isSeeded: false, isReported: false }
  const hub: Hub = { url, text, country, origin: 'guessed', state: undefined, status: null, ...flags }
  hubs.set(key, hub)
  countries.add(country.id)
  return hub
}

/** The parts of a word without one or two words at its end or beginning. */
function splitWord(text: string): { readonly word: string; readonly before: string; readonly behind: string }[] {
  const cuts: number[] = []
  for (let i = 1; i < text.length - 1; i++) if (text[i] === '-' || text[i] === '_') cuts.push(i)
  const parts: { word: string; before: string; behind: string }[] = []
  for (const cut of cuts.slice(-2).reverse()) {
    parts.push({ word: text.slice(0, cut), before: '', behind: text.slice(cut) })
  }
  for (const cut of cuts.slice(0, 2)) {
    parts.push({ word: text.slice(cut + 1), before: text.slice(0, cut + 1), behind: '' })
  }
  return parts
}

/** The address of a word in a slot. */
export function writeHubUrl({ template, origin, counts }: Slot, text: string): string {
  const path = template.replace(MARK, encodeURIComponent(text).replaceAll('%2B', '+'))
  return `${origin}${path}${counts.slashes * 2 > counts.seen ? '/' : ''}`
}

/** A slot as people read it: `/world/{country}`, `/ausland/{country}/`. */
export function showSlot({ template, counts }: Slot, kind: string): string {
  const path = template.split('/').map(decodePart).join('/').replace(MARK, `{${kind}}`)
  return counts.slashes * 2 > counts.seen ? `${path}/` : path
}
