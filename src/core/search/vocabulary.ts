/**
 * Numbers distinct terms from 0 in the order of first occurrence. An open-addressing hash table over one array of UTF-16 units takes about
 * 30 bytes per term and looks a term up by its position in a text without creating a string.
 */
export class Vocabulary {
  /** Pairs by hash, so that both numbers are in one cache line: the hash, and the term's number plus one, or 0 for a free slot. */
  #table = new Uint32Array(2048)
  /** Term `id` occupies `#units` from `#starts[id]` to `#starts[id + 1]`. */
  #starts = new Uint32Array(512)
  #units = new Uint16Array(4096)
  #size = 0
  readonly #seed: number

  /**
   * Takes the seed of the hash. A random one prevents that an attacker prepares a text whose words all collide. Term numbers follow the order
   * of first occurrence and do not depend on it.
   */
  constructor(seed: number = Math.floor(Math.random() * 2 ** 32)) {
    this.#seed = seed
  }

  get size(): number {
    return this.#size
  }

  /** The number of the term `source.slice(start, end)`, which is added if it is new. */
  intern(source: string, start: number, end: number): number {
    const hash = hashUnits(this.#seed, source, start, end)
    const slot = this.#probe(hash, source, start, end)
    const known = this.#table[slot + 1] ?? 0
    return known > 0 ? known - 1 : this.#append(slot, hash, source, start, end)
  }

  /** The number of a term, or -1. */
  find(term: string): number {
    const hash = hashUnits(this.#seed, term, 0, term.length)
    return (this.#table[this.#probe(hash, term, 0, term.length) + 1] ?? 0) - 1
  }

  /** The numbers of all terms that are longer than `beginning` and begin with it. */
  findByPrefix(beginning: string): number[] {
    const found: number[] = []
    for (let id = 0; id < this.#size; id++) if (this.#isExtensionOf(id, beginning)) found.push(id)
    return found
  }

  term(id: number): string {
    // Spreading a typed array goes through its iterator, which is several times slower.
    return Reflect.apply(String.fromCharCode, null, this.#units.subarray(this.#starts[id], this.#starts[id + 1]))
  }

  /** The slot in the table where the term is, or where it belongs. */
  #probe(hash: number, source: string, start: number, end: number): number {
    const table = this.#table
    const mask = table.length - 1
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const entry = table[slot + 1] ?? 0
      if (entry === 0 || (table[slot] === hash && this.#equals(entry - 1, source, start, end))) return slot
    }
  }

  #equals(id: number, source: string, start: number, end: number): boolean {
    const units = this.#units
    const from = this.#starts[id] ?? 0
    const to = this.#starts[id + 1] ?? 0
    if (to - from !== end - start) return false
    for (let i = from, j = start; i < to; i++, j++) if (units[i] !== source.charCodeAt(j)) return false
    return true
  }

  #isExtensionOf(id: number, beginning: string): boolean {
    const from = this.#starts[id] ?? 0
    if ((this.#starts[id + 1] ?? 0) - from <= beginning.length) return false
    for (let i = 0; i < beginning.length; i++) if (this.#units[from + i] !== beginning.charCodeAt(i)) return false
    return true
  }

  #append(slot: number, hash: number, source: string, start: number, end: number): number {
    const id = this.#size++
    const from = this.#starts[id] ?? 0
    const to = from + end - start
    if (to > this.#units.length)
      this.#units = growTo(this.#units, new Uint16Array(Math.max(to, this.#units.length * 2)))
    for (let i = from, j = start; i < to; i++, j++) this.#units[i] = source.charCodeAt(j)
    if (id + 1 === this.#starts.length) this.#starts = growTo(this.#starts, new Uint32Array(id * 2))
    this.#starts[id + 1] = to
    this.#table[slot] = hash
    this.#table[slot + 1] = id + 1
    if (this.#size * 4 > this.#table.length) this.#rehash()
    return id
  }

  /** Doubles the table, which is never more than half full. */
  #rehash(): void {
    const old = this.#table
    const table = new Uint32Array(old.length * 2)
    const mask = table.length - 1
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue
      let slot = ((old[i] ?? 0) << 1) & mask
      while (table[slot + 1] !== 0) slot = (slot + 2) & mask
      table[slot] = old[i] ?? 0
      table[slot + 1] = old[i + 1] ?? 0
    }
    this.#table = table
  }
}

function growTo<T extends Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** Mixes the units, and once more at the end, because low bits alone spread badly. */
function hashUnits(seed: number, source: string, start: number, end: number): number {
  let hash = seed
  for (let i = start; i < end; i++) hash = mixUnit(hash, source.charCodeAt(i))
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/**
 * A step of FNV-1a, and a shift that brings high bits down. Without the shift, words that collide for one seed also collide for every seed
 * with the same low byte, so a text could be prepared for all seeds.
 */
export function mixUnit(hash: number, unit: number): number {
  const product = Math.imul(hash ^ unit, 0x01000193)
  return product ^ (product >>> 15)
}
