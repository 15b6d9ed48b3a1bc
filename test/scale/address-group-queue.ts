import type { Candidate } from '../../src/store/common/ledger/slots.ts'
import { byWeight } from '../../src/store/common/ledger/slots.ts'
import type { AddressGroup } from './world.ts'

interface Entry {
  readonly group: AddressGroup
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

  has(group: AddressGroup): boolean {
    return this.#current.has(group)
  }

  add(group: AddressGroup, first: Candidate): void {
    const entries = this.#entries
    const entry = { group, first }
    this.#current.set(group, entry)
    let index = entries.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(index, parent)) return
      this.#swap(index, parent)
      index = parent
    }
  }

  remove(group: AddressGroup): void {
    this.#current.delete(group)
  }

  /** Removes and returns the first group. */
  take(): AddressGroup | undefined {
    for (;;) {
      const entry = this.#takeEntry()
      if (entry === undefined) return undefined
      if (this.#current.get(entry.group) !== entry) continue
      this.#current.delete(entry.group)
      return entry.group
    }
  }

  #takeEntry(): Entry | undefined {
    const entries = this.#entries
    if (entries.length > 1) this.#swap(0, entries.length - 1)
    const taken = entries.pop()
    let index = 0
    for (;;) {
      let first = index
      for (const child of [2 * index + 1, 2 * index + 2]) if (this.#isBefore(child, first)) first = child
      if (first === index) return taken
      this.#swap(index, first)
      index = first
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
