import { PLACE_KINDS } from '../../library/ports/findings.ts'
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
import { derivedNames, type IndexedPlace, isNoise, type NameForm, parseName, slugsOf } from './name-forms.ts'

import {
  columnsOf,
  DIRECTORY_BITS,
  HEADER_WORDS,
  INDEX_MAGIC,
  INDEX_VERSION,
  type IndexCounts,
  type IndexHead,
  NAME_DERIVED,
  NAME_KIND_MASK,
  NAME_MAIN,
  packCountry,
  sizeOf,
} from './name-index.ts'
import { NAME_KINDS, type NameKind } from './place.ts'

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
