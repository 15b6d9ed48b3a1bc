import type { Candidate } from '../../src/store/common/slots.ts'
import { byWeight } from '../../src/store/common/slots.ts'
import type { Lot } from './world.ts'

/** Lots that nobody has the host of, the one whose first address comes first at the top: what the index of the ledger is in a store. */
export class LotQueue {
  readonly #entries: { readonly lot: Lot; readonly first: Candidate }[] = []

  get size(): number {
    return this.#entries.length
  }

  add(lot: Lot, first: Candidate): void {
    const entries = this.#entries
    let place = entries.push({ lot, first }) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isBefore(place, above)) return
      this.#swap(place, above)
      place = above
    }
  }

  /** Takes the first out. */
  take(): Lot | undefined {
    const entries = this.#entries
    if (entries.length > 1) this.#swap(0, entries.length - 1)
    const taken = entries.pop()
    let place = 0
    for (;;) {
      let first = place
      for (const below of [2 * place + 1, 2 * place + 2]) if (this.#isBefore(below, first)) first = below
      if (first === place) return taken?.lot
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
