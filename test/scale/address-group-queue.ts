import type { Candidate } from '../../src/store/common/slots.ts'
import { byWeight } from '../../src/store/common/slots.ts'
import type { AddressGroup } from './world.ts'

interface Entry {
  readonly lot: AddressGroup
  readonly first: Candidate
}

/** A heap of address groups whose hosts are free, ordered by their first address. It replaces the index of the ledger in a store. */
export class AddressGroupQueue {
  /** Heap entries, including those of removed groups, which are skipped later. */
  readonly #entries: Entry[] = []
  readonly #current = new Map<AddressGroup, Entry>()

  get size(): number {
    return this.#current.size
  }

  has(lot: AddressGroup): boolean {
    return this.#current.has(lot)
  }

  add(lot: AddressGroup, first: Candidate): void {
    const entries = this.#entries
    const entry = { lot, first }
    this.#current.set(lot, entry)
    let place = entries.push(entry) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isBefore(place, above)) return
      this.#swap(place, above)
      place = above
    }
  }

  remove(lot: AddressGroup): void {
    this.#current.delete(lot)
  }

  /** Removes and returns the first group. */
  take(): AddressGroup | undefined {
    for (;;) {
      const entry = this.#takeEntry()
      if (entry === undefined) return undefined
      if (this.#current.get(entry.lot) !== entry) continue
      this.#current.delete(entry.lot)
      return entry.lot
    }
  }

  #takeEntry(): Entry | undefined {
    const entries = this.#entries
    if (entries.length > 1) this.#swap(0, entries.length - 1)
    const taken = entries.pop()
    let place = 0
    for (;;) {
      let first = place
      for (const below of [2 * place + 1, 2 * place + 2]) if (this.#isBefore(below, first)) first = below
      if (first === place) return taken
      this.#swap(place, first)
      place = first
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#entries[a], this.#entries[b]]
    return one !== undefined && other !== undefined && byWeight(one.first, other.first) < 0
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#entries[a], this.#entries[b]]
    if (one === undefined || other === undefined) return
    this.#entries[a] = other
    this.#entries[b] = one
  }
}
