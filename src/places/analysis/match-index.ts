import { getOrAdd } from '../../core/get-or-add.ts'
import { PLACE_KINDS, type PlaceKind } from '../../library/ports/findings.ts'
import { beginHash, extendHash, finishHigh, finishLow, type NameHash } from './match-hash.ts'
import type { KnownPlace } from './matcher.ts'
import {
  columnsOf,
  DIRECTORY_BITS,
  INDEX_MAGIC,
  INDEX_VERSION,
  type IndexColumns,
  type IndexHead,
} from './name-index.ts'

/** The names of a gazetteer, ready for lookups. */
export interface NameIndex {
  readonly head: IndexHead
  readonly columns: IndexColumns
  /** Index of the key with this hash; -1 when no place has such a name. */
  keyOf(hash: NameHash): number
  /** Index of the key of a normalized name; -1 when no place has this name. */
  keyOfName(name: string): number
  placeAt(place: number): KnownPlace
  kindAt(place: number): PlaceKind
}

const decoder = new TextDecoder()

/** Opens the bytes that `writeNameIndex` wrote; undefined for other bytes. Aligned bytes are not copied. */
export function openNameIndex(given: Uint8Array): NameIndex | undefined {
  if (given.length < 32) return undefined
  const bytes = given.byteOffset % 8 === 0 && given.buffer instanceof ArrayBuffer ? given : given.slice()
  const buffer = bytes.buffer as ArrayBuffer
  const header = new Uint32Array(buffer, bytes.byteOffset, 8)
  const [magic, version, headLength = 0, places = 0, nameBytes = 0, keys = 0, postings = 0, size] = header
  if (magic !== INDEX_MAGIC || version !== INDEX_VERSION || size !== bytes.length) return undefined
  const headStart = bytes.byteOffset + 32
  const head = JSON.parse(decoder.decode(new Uint8Array(buffer, headStart, headLength))) as IndexHead
  const { columns } = columnsOf(buffer, headStart + headLength, { places, nameBytes, keys, postings })
  const { keyHighs, keyLows, directory } = columns
  const hash: NameHash = { high: 0, low: 0 }

  function keyOf(of: NameHash): number {
    const high = finishHigh(of)
    const slot = high >>> (32 - DIRECTORY_BITS)
    const end = directory[slot + 1] ?? 0
    let key = directory[slot] ?? 0
    while (key < end && (keyHighs[key] ?? 0) < high) key++
    if (key === end || keyHighs[key] !== high) return -1
    const low = finishLow(of)
    for (; key < end && keyHighs[key] === high; key++) if (keyLows[key] === low) return key
    return -1
  }

  return {
    head,
    columns,
    keyOf,
    keyOfName(name) {
      beginHash(hash)
      extendHash(hash, name, 0, name.length)
      return keyOf(hash)
    },
    placeAt(place) {
      const code = columns.countries[place] ?? 0
      const division = head.divisions[columns.divisions[place] ?? 0] ?? ''
      return {
        id: columns.ids[place] ?? 0,
        kind: kindAt(place),
        name: decoder.decode(columns.names.subarray(columns.nameStarts[place], columns.nameStarts[place + 1])),
        countryCode: code === 0 ? null : unpackCountry(code),
        adm1Code: division === '' ? null : division,
        population: columns.populations[place] ?? 0,
      }
    },
    kindAt,
  }

  function kindAt(place: number): PlaceKind {
    return PLACE_KINDS[columns.kinds[place] ?? 0] ?? 'city'
  }
}

const countryCache = new WeakMap<NameIndex, ReadonlyMap<number, number>>()

/** Indexes of the countries by their packed codes. */
export function countryPlaces(index: NameIndex): ReadonlyMap<number, number> {
  return getOrAdd(
    countryCache,
    index,
    () => new Map(index.head.countries.map(({ place }) => [index.columns.countries[place] ?? 0, place])),
  )
}

const regionCache = new WeakMap<NameIndex, ReadonlyMap<string, readonly number[]>>()

/** Indexes of the regions by country code. */
export function regionPlaces(index: NameIndex): ReadonlyMap<string, readonly number[]> {
  const known = regionCache.get(index)
  if (known !== undefined) return known
  const found = new Map<string, number[]>()
  const { kinds, countries } = index.columns
  for (let place = 0; place < kinds.length; place++) {
    const code = countries[place] ?? 0
    if (code === 0 || index.kindAt(place) !== 'region') continue
    const country = unpackCountry(code)
    const regions = found.get(country)
    if (regions === undefined) found.set(country, [place])
    else regions.push(place)
  }
  regionCache.set(index, found)
  return found
}

function unpackCountry(code: number): string {
  return String.fromCharCode(code >>> 8, code & 255)
}
