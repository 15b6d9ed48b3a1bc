import type { KnownCountry } from '../analysis/matcher.ts'
import type { Address, Segment } from './address.ts'
import type { CountryNames } from './country-names.ts'
import type { NamedPlace, PlannerGazetteer } from './place-names.ts'
import { RegionNames } from './region-names.ts'
import { countWord, createSlot, type FoundHub, findOrCreateHub, isCode, PLACEHOLDER, type Slot } from './slot.ts'

/** Limit of slots; those seen only once are dropped first. */
const MAX_SLOTS = 20_000
/** Addresses with longer paths are ignored. */
const MAX_SEGMENTS = 6
/** Minimum number of different countries in a country slot. */
const MIN_COUNTRIES = 3
/** Minimum population of a city; smaller towns share their names with too many words. */
const MIN_CITY_POPULATION = 100_000
const MIN_PLACES = 4
const MIN_PLACE_SHARE = 0.6
/** Minimum number of words of a country name that explains why its segment looks like a headline. */
const LONG_NAME_WORDS = 3

/** How an address became known. */
export type AddressOrigin = 'listed' | 'guessed' | 'earlier'

/** Learns at which positions addresses have places. Memory is bounded, and each address costs a few lookups. */
export class SlotIndex {
  readonly #names: CountryNames
  readonly #regions: RegionNames
  readonly #places: PlannerGazetteer
  readonly #slots = new Map<string, Slot>()
  /** Texts seen before or after a country within a segment: `-news`, `country-`. */
  readonly #affixes = new Set<string>()
  /** Increases whenever a slot gets another place; results computed from slots before are then outdated. */
  revision = 0

  constructor(names: CountryNames, places: PlannerGazetteer) {
    this.#names = names
    this.#regions = new RegionNames(places)
    this.#places = places
  }

  /** Number of slots. */
  get size(): number {
    return this.#slots.size
  }

  /** Records an address, and counts it if it is new. Returns the hubs that it could be, with their slots. */
  note(address: Address, addressOrigin: AddressOrigin, isNew = true): readonly FoundHub[] {
    const found: FoundHub[] = []
    for (const pathWord of this.#readWords(address)) {
      const { part, segment, word, place } = pathWord
      const slot = this.#openSlot(address, pathWord)
      if (isNew) countWord(slot, address, segment, place !== undefined)
      if (place === undefined) continue
      if (part.length > 1) this.#affixes.add(part)
      if (!slot.hubs.has(word)) this.revision++
      const hub = findOrCreateHub(slot, address, word, place)
      if (addressOrigin === 'listed') hub.origin = 'listed'
      if (addressOrigin === 'guessed') hub.isGuess = true
      found.push({ slot, hub })
    }
    return found
  }

  /** The hubs that a visited address could be. An unknown address, such as one of an interrupted run, is recorded first. */
  findOrNote(address: Address, addressOrigin: AddressOrigin): readonly FoundHub[] {
    const found = this.find(address)
    if (found.length > 0) return found
    const hasPlace = [...this.#readWords(address)].some(({ place }) => place !== undefined)
    return hasPlace ? this.note(address, addressOrigin) : found
  }

  /** The hubs that an address could be, as far as known. */
  find(address: Address): readonly FoundHub[] {
    const found: FoundHub[] = []
    for (const pathWord of this.#readWords(address)) {
      const slot = pathWord.place === undefined ? undefined : this.#slots.get(keyOf(address, pathWord))
      const hub = slot?.hubs.get(pathWord.word)
      if (slot !== undefined && hub !== undefined) found.push({ slot, hub })
    }
    return found
  }

  /** All country slots, and for each position the region slot of the country that fits best. Slots with the most places come first. */
  listHubSlots(): Slot[] {
    const slots: Slot[] = []
    const regionSlots = new Map<string, Slot[]>()
    for (const [key, slot] of this.#slots) {
      if (slot.kind === 'country') {
        if (this.#isCountrySlot(slot)) slots.push(slot)
      } else if (this.#isRegionSlot(key, slot)) {
        const base = baseOf(key)
        regionSlots.set(base, [...(regionSlots.get(base) ?? []), slot])
      }
    }
    for (const [best, next] of [...regionSlots.values()].map((candidates) => candidates.sort(byPlaces))) {
      // Words that fit the regions of two countries equally well do not show which are meant.
      if (best !== undefined && best.placeIds.size > (next?.placeIds.size ?? 0)) slots.push(best)
    }
    return slots.sort((a, b) => byPlaces(a, b) || (a.template < b.template ? -1 : 1))
  }

  /** Slots of other places: regions of several countries, cities, or a mix. */
  listOtherPlaceSlots(): { readonly slot: Slot; readonly kind: 'region' | 'city' | 'place' }[] {
    const found: { slot: Slot; kind: 'region' | 'city' | 'place' }[] = []
    for (const slot of this.#slots.values()) {
      if (slot.kind !== 'country' || slot.otherWords.size < MIN_PLACES || this.#isCountrySlot(slot)) continue
      const kind = this.#kindOf(slot)
      if (kind !== undefined) found.push({ slot, kind })
    }
    return found.sort((a, b) => b.slot.otherWords.size - a.slot.otherWords.size)
  }

  /** Whether most words of a slot are places, with at least three different countries. */
  #isCountrySlot({ placeIds, otherWords, counts }: Slot): boolean {
    const { others, codes, ownCodes, languageCodes } = counts
    if (placeIds.size < MIN_COUNTRIES) return false
    const isOfCodes = codes * 2 > placeIds.size
    if (isOfCodes && (ownCodes < MIN_COUNTRIES || ownCodes <= languageCodes)) return false
    if (others <= placeIds.size) return true
    // Continents and cities count as places too.
    const share =
      otherWords.size === 0 ? 0 : [...otherWords].filter((word) => this.#isPlace(word)).length / otherWords.size
    return (placeIds.size + others * share) * 2 > placeIds.size + others
  }

  /** Whether most words of a slot are regions of its country. */
  #isRegionSlot(key: string, { placeIds, names }: Slot): boolean {
    if (placeIds.size < MIN_PLACES) return false
    const base = this.#slots.get(baseOf(key))
    if (base === undefined || this.#isCountrySlot(base)) return false
    const ids = new Set(names.all.map(({ id }) => id))
    const isRegion = (word: string) => this.#regions.bySlug(word).some(({ id }) => ids.has(id))
    return [...base.otherWords].filter(isRegion).length >= base.otherWords.size * MIN_PLACE_SHARE
  }

  *#readWords(address: Address): Generator<PathWord> {
    const { segments } = address
    if (address.hasQuery || address.isPagination || segments.length === 0 || segments.length > MAX_SEGMENTS) return
    const countries = segments.map((segment) => this.#countryOf(segment))
    // An address with a date, number or headline is about a place, but is not its hub.
    const isPlain = (segment: Segment, i: number) =>
      segment.form === 'word' || countries[i] !== undefined || this.#isLongName(segment)
    if (!segments.every(isPlain)) return
    for (const [at, segment] of segments.entries()) {
      const place = countries[at]
      const whole = { at, part: PLACEHOLDER, segment, word: segment.text }
      yield { ...whole, place }
      if (place === undefined) yield* this.#readParts(at, segment)
      for (const region of this.#regions.bySlug(segment.word)) {
        yield { ...whole, place: region, regionOf: region.countryCode ?? '' }
      }
    }
  }

  /** Finds a country within a segment: `france-news`, `news-from-france`. */
  *#readParts(at: number, segment: Segment): Generator<PathWord> {
    if (!/[-_]/.test(segment.word)) return
    for (const { word, before, after } of splitWord(segment.text)) {
      const place = word.length > 2 ? this.#names.bySlug(word.toLowerCase()) : undefined
      const part = `${before}${PLACEHOLDER}${after}`
      // A number distinguishes articles about a place, not places.
      if (/\d/.test(part)) continue
      if (place === undefined && !this.#affixes.has(part)) continue
      yield { at, part, segment: { ...segment, word: word.toLowerCase() }, word, place }
      if (place !== undefined) return
    }
  }

  /** Whether a segment is as long as a headline only because of a long country name. */
  #isLongName(segment: Segment): boolean {
    if (segment.form !== 'headline') return false
    for (const { word, place } of this.#readParts(0, segment)) {
      if (place !== undefined && word.split(/[-_]/).length >= LONG_NAME_WORDS) return true
    }
    return false
  }

  #countryOf({ word, form }: Segment): KnownCountry | undefined {
    if (form !== 'word' && form !== 'headline') return undefined
    return isCode(word) ? this.#names.byCode(word) : this.#names.bySlug(word)
  }

  #openSlot(address: Address, pathWord: PathWord): Slot {
    const key = keyOf(address, pathWord)
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    if (this.#slots.size >= MAX_SLOTS) this.#prune()
    const { origin } = address
    const template = baseOf(key).slice(origin.length)
    const slot =
      pathWord.regionOf === undefined
        ? createSlot({ template, origin, kind: 'country', names: this.#names })
        : createSlot({ template, origin, kind: 'region', names: this.#regions.ofCountry(pathWord.regionOf) })
    this.#slots.set(key, slot)
    return slot
  }

  #isPlace(word: string): boolean {
    if (word.length <= 2) return false
    const [place] = this.#places.bySlug(word)
    return place !== undefined && (place.kind !== 'city' || place.population >= MIN_CITY_POPULATION)
  }

  #kindOf({ otherWords }: Slot): 'region' | 'city' | 'place' | undefined {
    let regions = 0
    let cities = 0
    for (const word of otherWords) {
      const [place] = word.length > 2 ? this.#places.bySlug(word) : []
      if (place?.kind === 'region') regions++
      else if (place?.kind === 'city' && place.population >= MIN_CITY_POPULATION) cities++
    }
    const all = regions + cities
    if (all < MIN_PLACES || all < otherWords.size * MIN_PLACE_SHARE) return undefined
    if (regions > all * MIN_PLACE_SHARE) return 'region'
    return cities > all * MIN_PLACE_SHARE ? 'city' : 'place'
  }

  /** Frees memory: drops slots with a single address first, then slots without places, then slots with few places. */
  #prune(): void {
    for (const [key, { counts }] of this.#slots) if (counts.seen <= 1) this.#slots.delete(key)
    for (const [key, { placeIds }] of this.#slots) {
      if (this.#slots.size <= MAX_SLOTS / 2) return
      if (placeIds.size === 0) this.#slots.delete(key)
    }
    for (const [key, { placeIds }] of this.#slots) if (placeIds.size < MIN_COUNTRIES) this.#slots.delete(key)
  }
}

/** A word of an address that may be a place. */
interface PathWord {
  /** Index of its segment. */
  readonly at: number
  /** Its segment, with the position of the word marked. */
  readonly part: string
  readonly segment: Segment
  readonly word: string
  readonly place: NamedPlace | undefined
  /** Code of the country that the region lies in; undefined if the place is no region. */
  readonly regionOf?: string
}

/** Separates the key of a slot from the country of its regions; never part of an address. */
const REGION_SEPARATOR = '\u0001'

/** Origin and path of an address with one segment replaced. */
function keyOf({ origin, segments }: Address, { at, part, regionOf }: PathWord): string {
  let path = origin
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i]
    path += `/${i === at ? part + (segment?.ending ?? '') : (segment?.raw ?? '')}`
  }
  return regionOf === undefined ? path : `${path}${REGION_SEPARATOR}${regionOf}`
}

/** The key of an address's slot without the country of regions. */
function baseOf(key: string): string {
  const end = key.indexOf(REGION_SEPARATOR)
  return end === -1 ? key : key.slice(0, end)
}

function byPlaces(a: Slot, b: Slot): number {
  return b.placeIds.size - a.placeIds.size
}

/** Splits one or two words off the end or the start of a segment, in all ways. */
function splitWord(text: string): { readonly word: string; readonly before: string; readonly after: string }[] {
  const cuts: number[] = []
  for (let i = 1; i < text.length - 1; i++) if (text[i] === '-' || text[i] === '_') cuts.push(i)
  const parts: { word: string; before: string; after: string }[] = []
  for (const cut of cuts.slice(-2).reverse()) {
    parts.push({ word: text.slice(0, cut), before: '', after: text.slice(cut) })
  }
  for (const cut of cuts.slice(0, 2)) {
    parts.push({ word: text.slice(cut + 1), before: text.slice(0, cut + 1), after: '' })
  }
  return parts
}
