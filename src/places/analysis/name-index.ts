import { PREFIX_SLOT_COUNT } from './match-hash.ts'

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

/** Number of 32-bit words before the head. */
export const HEADER_WORDS = 8

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

/** Packs two letters into sixteen bits; 0 for no country. */
export function packCountry(code: string | null | undefined): number {
  return code === null || code === undefined || code.length !== 2 ? 0 : (code.charCodeAt(0) << 8) | code.charCodeAt(1)
}

/** Size of an index whose columns start at an offset. */
export function sizeOf(from: number, counts: IndexCounts): number {
  const { places, nameBytes, keys, postings } = counts
  const sizes = [places * 4, places * 4, (places + 1) * 4, places * 2, places * 2, places, places, nameBytes]
  sizes.push(keys * 4, keys * 4, (keys + 1) * 4, postings * 4, postings, postings)
  sizes.push((2 ** DIRECTORY_BITS + 1) * 4, PREFIX_SLOT_COUNT)
  return sizes.reduce((at, bytes) => align(at + bytes), align(from))
}

function align(at: number): number {
  return (at + 7) & ~7
}
