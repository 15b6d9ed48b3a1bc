import { decodePart } from '../../core/url/decode-part.ts'
import type { HubVerdict } from '../../library/ports/findings.ts'
import type { Address, Segment } from './address.ts'
import type { NamedPlace, PlaceNames } from './place-names.ts'

/** Marks the position of the place in a path. */
export const PLACEHOLDER = '\u0000'

/** An address that is, or is guessed to be, the hub of a place. */
export interface Hub {
  readonly url: string
  /** The place as written in the address, decoded. */
  readonly text: string
  readonly place: NamedPlace
  /** Becomes `listed` when the site links to the hub in this crawl. */
  origin: HubVerdict['origin']
  /** The verdict; `open` when the page could not be read, undefined before the visit. */
  state: HubVerdict['state'] | 'open' | undefined
  status: number | null
  /** Whether it was guessed from its slot, in this crawl or before. */
  isGuess: boolean
  /** Whether the planner has put it into the frontier. */
  isSeeded: boolean
  /** Whether this crawl has reported it as missing. */
  isReported: boolean
  /** A verdict from before its slot was recognized as a slot of places. */
  pendingVerdict?: HubVerdict | undefined
}

/** Addresses that differ in one word only, and the words at that position. */
export interface Slot {
  /** Path with the position of the word marked. */
  readonly template: string
  readonly origin: string
  /** The kind of places that its words name. */
  readonly kind: 'country' | 'region'
  /** All places that fit: the countries of the world, or the regions of one country. */
  readonly names: PlaceNames
  /** Hubs by their word, case-sensitive, because a site may treat another case as another address. */
  readonly hubs: Map<string, Hub>
  readonly placeIds: Set<number>
  /** Places that cannot be guessed, because their words mean other places. */
  readonly unguessableIds: Set<number>
  /** A sample of the words that are not such places. */
  readonly otherWords: Set<string>
  readonly counts: SlotCounts
  /** Size of the last wave of guesses. */
  lastWaveSize: number
}

/** A hub with its slot. */
export interface FoundHub {
  readonly slot: Slot
  readonly hub: Hub
}

/** Counts of a slot's addresses. */
export interface SlotCounts {
  seen: number
  /** Addresses whose word is not a place. */
  others: number
  /** Addresses that end in a slash. */
  slashes: number
  /** Countries written as a code. */
  codes: number
  /** Country codes that are not also language codes. */
  ownCodes: number
  /** Language codes that are not also country codes. */
  languageCodes: number
}

/** Limit of words that a slot keeps as a sample. */
export const MAX_SAMPLE_WORDS = 48

/** Codes of common languages. A word with such a code does not show that a slot contains countries. */
const LANGUAGE_CODES: ReadonlySet<string> = new Set(
  'ar bg bn ca cs da de el en es et eu fa fi fr ga he hi hr hu hy id is it ja ka kk km ko lt lv mk ml mn mr ms my nb ne nl nn no pl ps pt ro ru sk sl so sq sr sv sw ta te th tl tr uk ur uz vi zh zu'.split(
    ' ',
  ),
)

/** Creates an empty slot. */
export function createSlot(fields: Pick<Slot, 'template' | 'origin' | 'kind' | 'names'>): Slot {
  const counts = { seen: 0, others: 0, slashes: 0, codes: 0, ownCodes: 0, languageCodes: 0 }
  return {
    ...fields,
    hubs: new Map(),
    placeIds: new Set(),
    unguessableIds: new Set(),
    otherWords: new Set(),
    counts,
    lastWaveSize: 0,
  }
}

/** Counts an address of a slot and its word. */
export function countWord({ counts, otherWords }: Slot, address: Address, segment: Segment, isPlace: boolean): void {
  counts.seen++
  if (address.hasTrailingSlash) counts.slashes++
  if (isPlace) return
  counts.others++
  if (LANGUAGE_CODES.has(segment.word)) counts.languageCodes++
  if (otherWords.size < MAX_SAMPLE_WORDS) otherWords.add(segment.word)
}

/** Returns the hub of a word in a slot, and creates it if it is new. */
export function findOrCreateHub(
  { hubs, placeIds, counts }: Slot,
  { url }: Address,
  text: string,
  place: NamedPlace,
): Hub {
  const known = hubs.get(text)
  if (known !== undefined) return known
  if (isCode(text)) {
    counts.codes++
    if (!LANGUAGE_CODES.has(text.toLowerCase())) counts.ownCodes++
  }
  const flags = { isGuess: false, isSeeded: false, isReported: false }
  const hub: Hub = { url, text, place, origin: 'guessed', state: undefined, status: null, ...flags }
  hubs.set(text, hub)
  placeIds.add(place.id)
  return hub
}

/** Whether a word may be a country code. */
export function isCode(word: string): boolean {
  return word.length === 2 && word.charCodeAt(0) < 0x80
}

/** The address of a word in a slot. */
export function writeHubUrl({ template, origin, counts }: Slot, text: string): string {
  const path = template.replace(PLACEHOLDER, encodeURIComponent(text).replaceAll('%2B', '+'))
  return `${origin}${path}${counts.slashes * 2 > counts.seen ? '/' : ''}`
}

/** A slot in readable form: `/world/{country}`, `/ausland/{country}/`. */
export function writeSlotPattern({ template, counts, kind }: Slot, shownKind: string = kind): string {
  const path = template.split('/').map(decodePart).join('/').replace(PLACEHOLDER, `{${shownKind}}`)
  return counts.slashes * 2 > counts.seen ? `${path}/` : path
}
