import { PLACE_KINDS, type PlaceKind } from '../../library/ports/findings.ts'
import { simplifyHan } from './match-han.ts'
import {
  beginHash,
  extendHash,
  finishHigh,
  finishLow,
  type NameHash,
  PREFIX_SLOT_COUNT,
  prefixSlot,
  RUN_SALT,
  WORD_SALT,
} from './match-hash.ts'
import { inflectedStems } from './match-stems.ts'
import { SCRIPT_UNSPACED, tokenize } from './match-tokens.ts'
import { NAME_KINDS, type NameKind, normalizeName } from './place.ts'

/** A place with its names, as input of an index. */
export interface IndexedPlace {
  readonly id: number
  readonly kind: PlaceKind
  readonly name: string
  readonly countryCode: string | null
  readonly adm1Code: string | null
  readonly population: number | null
  /** Whether it is the capital of its country, which is meant more often than its population suggests. */
  readonly isCapital?: boolean
  readonly names: readonly {
    readonly name: string
    readonly lang: string | null
    readonly kind: NameKind
    readonly isPreferred: boolean
  }[]
}

/** First four bytes of every index: `PNAM`. */
export const INDEX_MAGIC = 0x4d414e50

/** Increases whenever the format changes; an index of another version is rebuilt. */
export const INDEX_VERSION = 1

/** Number of leading hash bits that index the table of keys. */
export const DIRECTORY_BITS = 16

/** Bits of a name's properties; the lower three are its kind. */
export const NAME_KIND_MASK = 7
/** The name is the display name of its place, or a preferred name. */
export const NAME_MAIN = 8
/** The name was derived from another name: without its article, its ending or the word for the kind of place. */
export const NAME_DERIVED = 16

/** The JSON head of an index. */
export interface IndexHead {
  readonly revision: string
  readonly langs: readonly string[]
  /** Codes of divisions; the first is empty. */
  readonly divisions: readonly string[]
  readonly countries: readonly { readonly place: number; readonly slugs: readonly string[] }[]
}

/** Lengths of the columns of an index, which determine their offsets. */
export interface IndexCounts {
  readonly places: number
  readonly nameBytes: number
  readonly keys: number
  readonly postings: number
}

/** The columns of an index, as views of its bytes. */
export interface IndexColumns {
  readonly ids: Uint32Array
  readonly populations: Uint32Array
  readonly nameStarts: Uint32Array
  readonly countries: Uint16Array
  readonly divisions: Uint16Array
  readonly kinds: Uint8Array
  /** 1 for the capital of a country. */
  readonly capitals: Uint8Array
  readonly names: Uint8Array
  /** Both halves of the hashes, ascending. */
  readonly keyHighs: Uint32Array
  readonly keyLows: Uint32Array
  /** Index of the first posting of each key. */
  readonly keyStarts: Uint32Array
  readonly postingPlaces: Uint32Array
  readonly postingNames: Uint8Array
  readonly postingLangs: Uint8Array
  readonly directory: Uint32Array
  /** Length of the longest name that starts with a word (in words) or with two characters (in units). */
  readonly maxLengthByPrefix: Uint8Array
}

const HEADER_WORDS = 8

/** Creates views of all columns after the head, and returns where they end. Each column starts at a multiple of eight bytes. */
export function columnsOf(
  buffer: ArrayBuffer,
  from: number,
  counts: IndexCounts,
): { columns: IndexColumns; end: number } {
  let at = align(from)
  const reserve = (bytes: number): number => {
    const start = at
    at = align(at + bytes)
    return start
  }
  const { places, nameBytes, keys, postings } = counts
  const columns: IndexColumns = {
    ids: new Uint32Array(buffer, reserve(places * 4), places),
    populations: new Uint32Array(buffer, reserve(places * 4), places),
    nameStarts: new Uint32Array(buffer, reserve((places + 1) * 4), places + 1),
    countries: new Uint16Array(buffer, reserve(places * 2), places),
    divisions: new Uint16Array(buffer, reserve(places * 2), places),
    kinds: new Uint8Array(buffer, reserve(places), places),
    capitals: new Uint8Array(buffer, reserve(places), places),
    names: new Uint8Array(buffer, reserve(nameBytes), nameBytes),
    keyHighs: new Uint32Array(buffer, reserve(keys * 4), keys),
    keyLows: new Uint32Array(buffer, reserve(keys * 4), keys),
    keyStarts: new Uint32Array(buffer, reserve((keys + 1) * 4), keys + 1),
    postingPlaces: new Uint32Array(buffer, reserve(postings * 4), postings),
    postingNames: new Uint8Array(buffer, reserve(postings), postings),
    postingLangs: new Uint8Array(buffer, reserve(postings), postings),
    directory: new Uint32Array(buffer, reserve((2 ** DIRECTORY_BITS + 1) * 4), 2 ** DIRECTORY_BITS + 1),
    maxLengthByPrefix: new Uint8Array(buffer, reserve(PREFIX_SLOT_COUNT), PREFIX_SLOT_COUNT),
  }
  return { columns, end: at }
}

/**
 * Writes the names of places in the form that `openPlaceMatcher` reads: columns of numbers and one UTF-8 block, so that a million names are
 * a few large arrays instead of a million objects.
 */
export function writeNameIndex(places: Iterable<IndexedPlace>, revision: string): Uint8Array {
  const builder = new IndexBuilder()
  for (const place of places) builder.add(place)
  return builder.write(revision)
}

/** A growing array of numbers. */
class GrowingUint32Array {
  #values = new Uint32Array(1 << 16)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Uint32Array(this.length * 2)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.length++] = value
  }

  values(): Uint32Array {
    return this.#values.subarray(0, this.length)
  }
}

class IndexBuilder {
  readonly #ids = new GrowingUint32Array()
  readonly #populations: number[] = []
  readonly #countries = new GrowingUint32Array()
  readonly #divisions = new GrowingUint32Array()
  readonly #kinds = new GrowingUint32Array()
  readonly #capitals = new GrowingUint32Array()
  readonly #displayNames: string[] = []
  readonly #highs = new GrowingUint32Array()
  readonly #lows = new GrowingUint32Array()
  readonly #places = new GrowingUint32Array()
  readonly #names = new GrowingUint32Array()
  readonly #maxLengths = new Uint8Array(PREFIX_SLOT_COUNT)
  readonly #langs = new Map<string, number>([['', 0]])
  readonly #divisionCodes = new Map<string, number>([['', 0]])
  readonly #countrySlugs: { place: number; slugs: readonly string[]; code: string }[] = []
  readonly #hash: NameHash = { high: 0, low: 0 }

  add(place: IndexedPlace): void {
    const placeIndex = this.#ids.length
    this.#ids.push(place.id)
    this.#populations.push(place.population ?? 0)
    this.#countries.push(packCountry(place.countryCode))
    this.#divisions.push(place.kind === 'country' ? 0 : internText(this.#divisionCodes, place.adm1Code ?? '', 65_535))
    this.#kinds.push(PLACE_KINDS.indexOf(place.kind))
    this.#capitals.push(place.isCapital === true ? 1 : 0)
    this.#displayNames.push(place.name)
    const displayForm = parseName(place.name)
    this.#addForm(placeIndex, displayForm, this.#flags('common', true), 0)
    for (const name of place.names) {
      if (isNoise(place, name.name, name.kind, name.isPreferred)) continue
      const form = name.name === place.name ? displayForm : parseName(name.name)
      const isMain = (name.isPreferred && name.kind !== 'demonym') || form.normalized === displayForm.normalized
      const lang = internText(this.#langs, name.lang ?? '', 255)
      this.#addForm(placeIndex, form, this.#flags(name.kind, isMain), lang)
      if (name.kind === 'demonym' || name.kind === 'abbrev') continue
      for (const derived of derivedNames(place.kind, name.name)) {
        this.#addForm(placeIndex, parseName(derived), this.#flags(name.kind, isMain) | NAME_DERIVED, lang)
      }
      // Stems are not stored for cities below 50,000 inhabitants, because these are too many.
      if (place.kind !== 'city' || (place.population ?? 0) >= 50_000) {
        for (const stem of inflectedStems(form.normalized)) {
          this.#addKey(placeIndex, stem, this.#flags(name.kind, false) | NAME_DERIVED, lang)
        }
      }
    }
    for (const derived of derivedNames(place.kind, place.name)) {
      this.#addForm(placeIndex, parseName(derived), this.#flags('common', true) | NAME_DERIVED, 0)
    }
    if (place.kind === 'country' && place.countryCode !== null) {
      this.#addKey(placeIndex, place.countryCode.toLowerCase(), this.#flags('abbrev', false), 0)
      this.#countrySlugs.push({ place: placeIndex, slugs: slugsOf(place), code: place.countryCode })
    }
  }

  #flags(kind: NameKind, isMain: boolean): number {
    return NAME_KINDS.indexOf(kind) | (isMain ? NAME_MAIN : 0)
  }

  #addForm(place: number, { normalized, first, isUnspaced, wordCount }: NameForm, flags: number, lang: number): void {
    if (wordCount === 0) return
    if (isUnspaced) {
      const run = simplifyHan(normalized.replaceAll(' ', ''))
      if (run.length < 2) return
      this.#noteLength(prefixSlot(run, 0, 2, RUN_SALT), run.length)
      this.#addKey(place, run, flags, lang)
      return
    }
    this.#noteLength(prefixSlot(first, 0, first.length, WORD_SALT), wordCount)
    this.#addKey(place, normalized, flags, lang)
  }

  #noteLength(slot: number, length: number): void {
    if ((this.#maxLengths[slot] ?? 0) < length) this.#maxLengths[slot] = Math.min(255, length)
  }

  #addKey(place: number, key: string, flags: number, lang: number): void {
    const hash = this.#hash
    beginHash(hash)
    extendHash(hash, key, 0, key.length)
    this.#highs.push(finishHigh(hash))
    this.#lows.push(finishLow(hash))
    this.#places.push(place)
    this.#names.push(flags | (lang << 8))
  }

  write(revision: string): Uint8Array {
    this.#sumPopulations()
    const order = sortedOrder(this.#highs.values(), this.#lows.values())
    const grouped = this.#groupPostings(order)
    const encoder = new TextEncoder()
    const names = encoder.encode(this.#displayNames.join(''))
    this.#countrySlugs.sort((a, b) => (a.code < b.code ? -1 : 1))
    const head: IndexHead = {
      revision,
      langs: [...this.#langs.keys()],
      divisions: [...this.#divisionCodes.keys()],
      countries: this.#countrySlugs.map(({ place, slugs }) => ({ place, slugs })),
    }
    const headBytes = encoder.encode(JSON.stringify(head))
    const counts: IndexCounts = {
      places: this.#ids.length,
      nameBytes: names.length,
      keys: grouped.highs.length,
      postings: grouped.places.length,
    }
    const from = HEADER_WORDS * 4 + headBytes.length
    const size = sizeOf(from, counts)
    const bytes = new Uint8Array(size)
    new Uint32Array(bytes.buffer, 0, HEADER_WORDS).set([
      INDEX_MAGIC,
      INDEX_VERSION,
      headBytes.length,
      counts.places,
      counts.nameBytes,
      counts.keys,
      counts.postings,
      size,
    ])
    bytes.set(headBytes, HEADER_WORDS * 4)
    const { columns } = columnsOf(bytes.buffer, from, counts)
    columns.ids.set(this.#ids.values())
    columns.populations.set(this.#populations.map((population) => Math.min(population, 0xffffffff)))
    columns.nameStarts.set(this.#displayNameStarts(encoder))
    columns.countries.set(this.#countries.values())
    columns.divisions.set(this.#divisions.values())
    columns.kinds.set(this.#kinds.values())
    columns.capitals.set(this.#capitals.values())
    columns.names.set(names)
    columns.keyHighs.set(grouped.highs.values())
    columns.keyLows.set(grouped.lows.values())
    columns.keyStarts.set(grouped.starts.values())
    columns.postingPlaces.set(grouped.places.values())
    const packed = grouped.names.values()
    for (let i = 0; i < packed.length; i++) {
      const name = packed[i] ?? 0
      columns.postingNames[i] = name & 255
      columns.postingLangs[i] = name >>> 8
    }
    writeDirectory(columns.directory, columns.keyHighs)
    columns.maxLengthByPrefix.set(this.#maxLengths)
    return bytes
  }

  #displayNameStarts(encoder: TextEncoder): Uint32Array {
    const starts = new Uint32Array(this.#displayNames.length + 1)
    const buffer = new Uint8Array(4096)
    let at = 0
    for (const [i, name] of this.#displayNames.entries()) {
      starts[i] = at
      at += name.length < 1000 ? encoder.encodeInto(name, buffer).written : encoder.encode(name).length
    }
    starts[this.#displayNames.length] = at
    return starts
  }

  /** Gives regions and countries without a population the sum of their cities. */
  #sumPopulations(): void {
    const countries = this.#countries.values()
    const divisions = this.#divisions.values()
    const kinds = this.#kinds.values()
    const sums = new Map<number, number>()
    const keyOf = (place: number, division: number): number => (countries[place] ?? 0) * 65_536 + division
    for (let place = 0; place < kinds.length; place++) {
      if (PLACE_KINDS[kinds[place] ?? 0] !== 'city') continue
      const population = this.#populations[place] ?? 0
      const division = divisions[place] ?? 0
      for (const key of division === 0 ? [keyOf(place, 0)] : [keyOf(place, 0), keyOf(place, division)]) {
        sums.set(key, (sums.get(key) ?? 0) + population)
      }
    }
    for (let place = 0; place < kinds.length; place++) {
      const kind = PLACE_KINDS[kinds[place] ?? 0]
      if ((kind !== 'country' && kind !== 'region') || this.#populations[place] !== 0) continue
      this.#populations[place] = sums.get(keyOf(place, kind === 'country' ? 0 : (divisions[place] ?? 0))) ?? 0
    }
  }

  /** Groups entries into one key per hash and one posting per place, with the best of its names. */
  #groupPostings(order: Uint32Array): {
    highs: GrowingUint32Array
    lows: GrowingUint32Array
    starts: GrowingUint32Array
    places: GrowingUint32Array
    names: GrowingUint32Array
  } {
    const grouped = {
      highs: new GrowingUint32Array(),
      lows: new GrowingUint32Array(),
      starts: new GrowingUint32Array(),
      places: new GrowingUint32Array(),
      names: new GrowingUint32Array(),
    }
    const highs = this.#highs.values()
    const lows = this.#lows.values()
    const places = this.#places.values()
    const names = this.#names.values()
    for (let from = 0; from < order.length; ) {
      const first = order[from] ?? 0
      let to = from + 1
      while (to < order.length && highs[order[to] ?? 0] === highs[first] && lows[order[to] ?? 0] === lows[first]) to++
      grouped.highs.push(highs[first] ?? 0)
      grouped.lows.push(lows[first] ?? 0)
      grouped.starts.push(grouped.places.length)
      const best = new Map<number, number>()
      for (let i = from; i < to; i++) {
        const entry = order[i] ?? 0
        const place = places[entry] ?? 0
        const name = names[entry] ?? 0
        const known = best.get(place)
        if (known === undefined || rankOf(name) > rankOf(known)) best.set(place, name)
      }
      for (const [place, name] of best) {
        grouped.places.push(place)
        grouped.names.push(name)
      }
      from = to
    }
    grouped.starts.push(grouped.places.length)
    return grouped
  }
}

/** The data of a name that an index needs. */
interface NameForm {
  readonly normalized: string
  /** Its first word, as tokenized in texts. */
  readonly first: string
  /** Whether its script has no spaces. */
  readonly isUnspaced: boolean
  /** Number of its words in a text. */
  readonly wordCount: number
}

function parseName(name: string): NameForm {
  const normalized = normalizeName(name)
  // Half of all names are plain Latin words, which need no tokenizer.
  if (PLAIN_WORDS.test(name)) {
    const words = normalized.split(' ')
    return { normalized, first: words[0] ?? '', isUnspaced: false, wordCount: words.length }
  }
  const tokens = tokenize(name)
  const first = tokens[0]
  return {
    normalized,
    first: first?.word ?? '',
    isUnspaced: first?.script === SCRIPT_UNSPACED,
    wordCount: tokens.length,
  }
}

/** Plain Latin words. Their length limit is below that of the tokenizer, so that the tokenizer would give the same words. */
const PLAIN_WORDS = /^[A-Za-z0-9]{1,40}(?: [A-Za-z0-9]{1,40})*$/

/** Rank of a name among names of the same place with the same normal form; the highest is kept. */
function rankOf(name: number): number {
  const kind = NAME_KINDS[name & NAME_KIND_MASK]
  const kindRank = kind === 'demonym' ? 0 : kind === 'abbrev' ? 1 : 2
  return (name & NAME_MAIN) * 4 + ((name & NAME_DERIVED) === 0 ? 8 : 0) + kindRank + (name >>> 8 === 0 ? 0.5 : 0)
}

function internText(numbers: Map<string, number>, text: string, maxSize: number): number {
  const known = numbers.get(text)
  if (known !== undefined) return known
  if (numbers.size > maxSize) return 0
  numbers.set(text, numbers.size)
  return numbers.size - 1
}

/** Packs two letters into sixteen bits; 0 for no country. */
export function packCountry(code: string | null | undefined): number {
  return code === null || code === undefined || code.length !== 2 ? 0 : (code.charCodeAt(0) << 8) | code.charCodeAt(1)
}

/**
 * The alternate names of cities include airport codes and machine transliterations. Texts do not use them, and many are words of other
 * languages.
 */
function isNoise(place: IndexedPlace, name: string, kind: NameKind, isPreferred: boolean): boolean {
  if (place.kind !== 'city' || isPreferred || kind !== 'alias') return false
  return /^[A-Z]{1,4}$/.test(name) || /^[a-z]/.test(name) || name.length < 2 || LANGUAGE_NAMES.has(name)
}

/** Names of languages in their own language, which the data wrongly lists as names of places. */
const LANGUAGE_NAMES = new Set(
  '日本語 中文 한국어 हिन्दी العربية עברית فارسی Русский Українська Български Српски Ελληνικά ไทย தமிழ் বাংলা ქართული Հայերեն Deutsch English Français Español Português Italiano Nederlands Polski Svenska Türkçe Čeština Magyar Suomi Dansk Norsk Română'.split(
    ' ',
  ),
)

const DIVISION_WORD =
  'oblast|krai|kray|republic|province|region|governorate|prefecture|state|district|voivodeship|county|department|canton|emirate|municipality|parish'
const DIVISION_AFTER = new RegExp(`^(.{3,}?) (?:${DIVISION_WORD})'?$`, 'iu')
const DIVISION_BEFORE = new RegExp(
  `^(?:${DIVISION_WORD}|free state|free and hanseatic city) of (?:the )?(.{3,})$`,
  'iu',
)

/**
 * Variants of a name: without its article, without an addition in brackets or after a comma, without the word for the kind of place, and
 * with `St` for `Saint`.
 */
function derivedNames(kind: PlaceKind, name: string): readonly string[] {
  const derived: string[] = []
  const withoutArticle = /^the (.{4,})$/iu.exec(name)?.[1]
  if (withoutArticle !== undefined) derived.push(withoutArticle)
  const saint = /^(?:saint|st\.?)[ -](.+)$/iu.exec(name)?.[1]
  if (saint !== undefined) derived.push(`Saint ${saint}`, `St ${saint}`)
  // `Άγκυρα (Ankyra)`
  const withoutBrackets = /^(.{2,}?)\s*\([^)]*\)$/u.exec(name)?.[1]
  if (withoutBrackets !== undefined) derived.push(withoutBrackets)
  // `Cocos (Keeling) Islands`
  else if (name.includes('(')) derived.push(name.replace(/[()]/g, ''))
  // `Washington, D.C.`
  const beforeComma = /^(.{3,}?), .+$/u.exec(name)?.[1]
  if (beforeComma !== undefined) derived.push(beforeComma)
  if (kind === 'region') {
    const bare = DIVISION_AFTER.exec(name)?.[1] ?? DIVISION_BEFORE.exec(name)?.[1]
    if (bare !== undefined) derived.push(bare)
  }
  return derived
}

/** Words that addresses may use for a country, likeliest first. */
function slugsOf(place: IndexedPlace): readonly string[] {
  const slugs = new Set<string>()
  const addSlug = (name: string): void => {
    const slug = slugFormOf(name)
    if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) && slug.length > 1) slugs.add(slug)
  }
  const english = place.names.filter(({ lang }) => lang === null || lang === 'en' || lang.startsWith('en-'))
  addSlug(place.name)
  if (/^the /i.test(place.name)) addSlug(place.name.slice(4))
  for (const kind of ['common', 'alias', 'exonym', 'endonym', 'abbrev', 'official'] as const) {
    const names = english.filter((name) => name.kind === kind).map(({ name }) => name)
    if (kind === 'abbrev') {
      addSlug(place.countryCode ?? '')
      names.sort((a, b) => slugFormOf(a).length - slugFormOf(b).length)
    }
    for (const name of names) addSlug(name)
  }
  if (place.name.includes(' and ')) addSlug(place.name.replaceAll(' and ', ' '))
  for (const { name, kind } of place.names) if (kind === 'endonym') addSlug(name)
  return [...slugs]
}

function slugFormOf(name: string): string {
  return normalizeName(name).replace(/[()&]/g, ' ').trim().replace(/ +/g, '-')
}

/** Order of entries by both halves of their hashes, by radix sort, because comparing a million pairs is slow. */
function sortedOrder(highs: Uint32Array, lows: Uint32Array): Uint32Array {
  let from = new Uint32Array(highs.length)
  let to = new Uint32Array(highs.length)
  for (let i = 0; i < from.length; i++) from[i] = i
  for (const [column, shift] of [
    [lows, 0],
    [lows, 16],
    [highs, 0],
    [highs, 16],
  ] as const) {
    const counts = new Uint32Array(65_537)
    for (const value of column)
      counts[((value >>> shift) & 65_535) + 1] = (counts[((value >>> shift) & 65_535) + 1] ?? 0) + 1
    for (let i = 1; i < counts.length; i++) counts[i] = (counts[i] ?? 0) + (counts[i - 1] ?? 0)
    for (const entry of from) {
      const digit = ((column[entry] ?? 0) >>> shift) & 65_535
      const at = counts[digit] ?? 0
      to[at] = entry
      counts[digit] = at + 1
    }
    ;[from, to] = [to, from]
  }
  return from
}

function writeDirectory(directory: Uint32Array, highs: Uint32Array): void {
  let key = 0
  for (let slot = 0; slot < directory.length - 1; slot++) {
    while (key < highs.length && (highs[key] ?? 0) >>> (32 - DIRECTORY_BITS) < slot) key++
    directory[slot] = key
  }
  directory[directory.length - 1] = highs.length
}

function sizeOf(from: number, counts: IndexCounts): number {
  const { places, nameBytes, keys, postings } = counts
  const sizes = [places * 4, places * 4, (places + 1) * 4, places * 2, places * 2, places, places, nameBytes]
  sizes.push(keys * 4, keys * 4, (keys + 1) * 4, postings * 4, postings, postings)
  sizes.push((2 ** DIRECTORY_BITS + 1) * 4, PREFIX_SLOT_COUNT)
  return sizes.reduce((at, bytes) => align(at + bytes), align(from))
}

function align(at: number): number {
  return (at + 7) & ~7
}
