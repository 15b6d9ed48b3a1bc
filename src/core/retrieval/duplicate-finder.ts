import { distanceOf, type FingerprintBits } from './fingerprint.ts'
import { type ComparablePage, findRelation, MAX_COPY_DISTANCE } from './page-relation.ts'
import { FIRST_SEED, hashText, SECOND_SEED } from './text-hash.ts'

/**
 * Finds related pages among all pages of a library. Each page takes some forty bytes, regardless of its size: hashes for its place, and 64
 * bits for its text.
 */
export interface DuplicateFinder {
  /** Adds a page; pages are numbered from 0 in the order of addition. */
  add(page: ComparablePage): void
  /** Whether the page with this number has the place and the source of `page`: a library may change between two reads. */
  isSamePage(number: number, page: ComparablePage): boolean
  /** For each page the number of the first page of its group. */
  findGroups(): Uint32Array
}

/** Number of neighbors that are compared with a page. Longer runs are thousands of copies, each of them similar to its neighbors. */
const MAX_COMPARED = 100

/** What is stored for each page: its fingerprint, two hashes each of its place and its family, and numbers for names. */
const COLUMNS = [
  'high',
  'low',
  'fingerprintKind',
  'placeHash1',
  'placeHash2',
  'familyHash1',
  'familyHash2',
  'language',
  'source',
  'name',
] as const
type Column = (typeof COLUMNS)[number]

/** Values of `fingerprintKind`; 0 means no fingerprint. */
const LONG = 1
const SHORT = 2

export function createDuplicateFinder(): DuplicateFinder {
  const columns = new Map<Column, Int32Array>(COLUMNS.map((name) => [name, new Int32Array(1024)]))
  const names = createNumbering()
  let count = 0
  const read = (name: Column, at: number): number => columns.get(name)?.[at] ?? 0
  const write = (name: Column, value: number): void => {
    const column = columns.get(name) ?? new Int32Array(0)
    if (count < column.length) column[count] = value
    else columns.set(name, growColumn(column, count, value))
  }
  const pageAt = (at: number): ComparablePage => ({
    bits: read('fingerprintKind', at) === 0 ? null : bitsOf(read, at),
    language: read('language', at) === 0 ? null : String(read('language', at)),
    family: read('familyHash1', at) === 0 ? null : `${read('familyHash1', at)} ${read('familyHash2', at)}`,
    sourceId: String(read('source', at)),
    name: String(read('name', at)),
    place: `${read('placeHash1', at)} ${read('placeHash2', at)}`,
  })
  const createUnion = (): { unite(a: number, b: number): void; rootOf(at: number): number } => {
    const roots = Uint32Array.from({ length: count }, (_, i) => i)
    const rootOf = (at: number): number => {
      let root = at
      while ((roots[root] ?? root) !== root) {
        roots[root] = roots[roots[root] ?? root] ?? root
        root = roots[root] ?? root
      }
      return root
    }
    return {
      rootOf,
      unite: (a, b) => {
        const [first, second] = [rootOf(a), rootOf(b)]
        roots[Math.max(first, second)] = Math.min(first, second)
      },
    }
  }

  return {
    add: (page) => {
      write('fingerprintKind', page.bits === null ? 0 : page.bits.isShort ? SHORT : LONG)
      write('high', page.bits?.high ?? 0)
      write('low', page.bits?.low ?? 0)
      write('placeHash1', hashText(page.place, FIRST_SEED))
      write('placeHash2', hashText(page.place, SECOND_SEED))
      // 0 means no family, so the first hash is made odd.
      write('familyHash1', page.family === null ? 0 : hashText(page.family, FIRST_SEED) | 1)
      write('familyHash2', page.family === null ? 0 : hashText(page.family, SECOND_SEED))
      write('language', page.language === null ? 0 : names.numberOf(`language ${page.language}`))
      write('source', names.numberOf(`source ${page.sourceId}`))
      write('name', names.numberOf(`name ${page.name}`))
      count++
    },
    isSamePage: (number, { place, sourceId }) =>
      number < count &&
      read('placeHash1', number) === hashText(place, FIRST_SEED) &&
      read('placeHash2', number) === hashText(place, SECOND_SEED) &&
      read('source', number) === names.numberOf(`source ${sourceId}`),
    findGroups: () => {
      const union = createUnion()
      const compare = (a: number, b: number): void => {
        if (union.rootOf(a) === union.rootOf(b)) return
        if (findRelation(pageAt(a), pageAt(b), { byText: true, byLanguage: true }) !== undefined) union.unite(a, b)
      }
      for (const order of CANDIDATE_ORDERS) {
        const sorted = Uint32Array.from({ length: count }, (_, i) => i).filter((at) => order.includes(read, at))
        sorted.sort((a, b) => order.compare(read, a, b) || a - b)
        for (let i = 1; i < sorted.length; i++) {
          const at = sorted[i] ?? 0
          for (let before = i - 1; before >= Math.max(0, i - MAX_COMPARED); before--) {
            const other = sorted[before] ?? 0
            if (!order.isSame(read, at, other)) break
            if (order.isNear(read, at, other)) compare(at, other)
          }
        }
      }
      return Uint32Array.from({ length: count }, (_, i) => union.rootOf(i))
    },
  }
}

type ReadColumn = (name: Column, at: number) => number

/** A sort order that puts possibly related pages next to each other. */
interface CandidateOrder {
  /** Whether a page takes part in this order. */
  includes(read: ReadColumn, at: number): boolean
  compare(read: ReadColumn, a: number, b: number): number
  /** Whether two pages have the same value in the columns or bits that this order is for. */
  isSame(read: ReadColumn, a: number, b: number): boolean
  /** Whether two such pages may be related: most pages that share a quarter differ in too many other bits. */
  isNear(read: ReadColumn, a: number, b: number): boolean
}

/**
 * Ways to find candidates: by place, by family, and by each quarter of the fingerprint, because two fingerprints that differ in three bits
 * share at least one of four quarters.
 */
const CANDIDATE_ORDERS: readonly CandidateOrder[] = [
  orderByColumns(['placeHash1', 'placeHash2']),
  orderByColumns(['familyHash1', 'familyHash2'], (read, at) => read('familyHash1', at) !== 0),
  ...[16, 0].flatMap((shift) => [orderByQuarter('high', shift), orderByQuarter('low', shift)]),
]

function orderByColumns(names: readonly Column[], includes: CandidateOrder['includes'] = () => true): CandidateOrder {
  const compare = (read: ReadColumn, a: number, b: number): number => {
    for (const name of names) if (read(name, a) !== read(name, b)) return read(name, a) - read(name, b)
    return 0
  }
  return { includes, compare, isSame: (read, a, b) => compare(read, a, b) === 0, isNear: () => true }
}

/** Sorts by a quarter of the fingerprint, then by the whole, so that equal fingerprints are neighbors. */
function orderByQuarter(half: 'high' | 'low', shift: number): CandidateOrder {
  const quarter = (read: ReadColumn, at: number) => (read(half, at) >>> shift) & 0xffff
  const rest = orderByColumns(['high', 'low'])
  return {
    includes: (read, at) => read('fingerprintKind', at) === LONG,
    compare: (read, a, b) => quarter(read, a) - quarter(read, b) || rest.compare(read, a, b),
    isSame: (read, a, b) => quarter(read, a) === quarter(read, b),
    isNear: (read, a, b) => distanceOf(bitsOf(read, a), bitsOf(read, b)) <= MAX_COPY_DISTANCE,
  }
}

function bitsOf(read: ReadColumn, at: number): FingerprintBits {
  return { high: read('high', at), low: read('low', at), isShort: read('fingerprintKind', at) === SHORT }
}

function growColumn(column: Int32Array, at: number, value: number): Int32Array {
  const larger = new Int32Array(Math.max(1, column.length) * 2)
  larger.set(column)
  larger[at] = value
  return larger
}

/** Numbers for names, from 1 on. */
function createNumbering(): { numberOf(name: string): number } {
  const numbers = new Map<string, number>()
  return {
    numberOf: (name) => {
      const known = numbers.get(name) ?? numbers.size + 1
      numbers.set(name, known)
      return known
    },
  }
}
