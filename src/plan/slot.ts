import { decodePart } from '../core/url/query.ts'
import type { Address, Segment } from './address.ts'
import type { NamedPlace, PlaceNames } from './places.ts'
import type { HubVerdict } from './plan-memory.ts'

/** Marks the word of a path that names a place. */
export const MARK = '\u0000'

/** An address where a hub of a place is, or is supposed to be. */
export interface Hub {
  readonly url: string
  /** The place as it stands in the address, decoded. */
  readonly text: string
  readonly place: NamedPlace
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
  /** What was found out before anybody knew that its slot is one of places. */
  draft?: HubVerdict | undefined
}

/** Addresses that differ in one word only, and what stands in its place. */
export interface Slot {
  /** Path with the place of that word marked. */
  readonly template: string
  readonly origin: string
  /** What kind of places its hubs are of. */
  readonly kind: 'country' | 'region'
  /** All places that could stand in it: the countries of the world, or the regions of one. */
  readonly names: PlaceNames
  /** Hubs of these places by the words that stand there, as they are written: to a site, another case may be another address. */
  readonly hubs: Map<string, Hub>
  readonly places: Set<number>
  /** Places that cannot be supposed in it, because their words mean others. */
  readonly passed: Set<number>
  /** Some of the words that are none of these places. */
  readonly words: Set<string>
  readonly counts: SlotCounts
  /** How many hubs were supposed at a time, the last time. */
  lastWave: number
}

/** A hub with the slot that it stands in. */
export interface FoundHub {
  readonly slot: Slot
  readonly hub: Hub
}

/** What was counted of the addresses of a slot. */
export interface SlotCounts {
  seen: number
  /** Addresses that have another word there than a place. */
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
export const MOST_WORDS = 48

/** Languages that sites are commonly written in: a segment of these is a language before it is a country. */
const LANGUAGE_CODES: ReadonlySet<string> = new Set(
  'ar bg bn ca cs da de el en es et eu fa fi fr ga he hi hr hu hy id is it ja ka kk km ko lt lv mk ml mn mr ms my nb ne nl nn no pl ps pt ro ru sk sl so sq sr sv sw ta te th tl tr uk ur uz vi zh zu'.split(
    ' ',
  ),
)

/** Opens a slot in which nothing has stood yet. */
export function openSlot(of: Pick<Slot, 'template' | 'origin' | 'kind' | 'names'>): Slot {
  const counts = { seen: 0, others: 0, slashes: 0, codes: 0, ownCodes: 0, languageCodes: 0 }
  return { ...of, hubs: new Map(), places: new Set(), passed: new Set(), words: new Set(), counts, lastWave: 0 }
}

/** Counts an address of a slot, and what stands in it. */
export function countWord({ counts, words }: Slot, address: Address, segment: Segment, isPlace: boolean): void {
  counts.seen++
  if (address.hasSlash) counts.slashes++
  if (isPlace) return
  counts.others++
  if (LANGUAGE_CODES.has(segment.word)) counts.languageCodes++
  if (words.size < MOST_WORDS) words.add(segment.word)
}

/** The hub of a word in a slot, entered where it is new. */
export function enterHub({ hubs, places, counts }: Slot, { url }: Address, text: string, place: NamedPlace): Hub {
  const known = hubs.get(text)
  if (known !== undefined) return known
  if (isCode(text)) {
    counts.codes++
    if (!LANGUAGE_CODES.has(text.toLowerCase())) counts.ownCodes++
  }
  const flags = { isGuess: false, isSeeded: false, isReported: false }
  const hub: Hub = { url, text, place, origin: 'guessed', state: undefined, status: null, ...flags }
  hubs.set(text, hub)
  places.add(place.id)
  return hub
}

/** Whether a word may be the code of a country. */
export function isCode(word: string): boolean {
  return word.length === 2 && word.charCodeAt(0) < 0x80
}

/** The address of a word in a slot. */
export function writeHubUrl({ template, origin, counts }: Slot, text: string): string {
  const path = template.replace(MARK, encodeURIComponent(text).replaceAll('%2B', '+'))
  return `${origin}${path}${counts.slashes * 2 > counts.seen ? '/' : ''}`
}

/** A slot as people read it: `/world/{country}`, `/ausland/{country}/`. */
export function showSlot({ template, counts, kind }: Slot, shownKind: string = kind): string {
  const path = template.split('/').map(decodePart).join('/').replace(MARK, `{${shownKind}}`)
  return counts.slashes * 2 > counts.seen ? `${path}/` : path
}
