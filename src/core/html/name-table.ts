const SLOTS = 256

/**
 * Keeps one value for each name in a source. A page repeats a few dozen names, so a name is first compared with the last one in the same
 * slot, without creating a string.
 */
export class NameTable<T> {
  readonly #make: (written: string) => T
  readonly #known = new Map<string, T>()
  readonly #lastNames: string[] = new Array<string>(SLOTS).fill('')
  readonly #lastValues: (T | undefined)[] = new Array<T | undefined>(SLOTS).fill(undefined)

  /** `make` is called once for each name. */
  constructor(make: (written: string) => T) {
    this.#make = make
  }

  /** The value for the name in the source from `start` to `end`. */
  at(source: string, start: number, end: number): T {
    const length = end - start
    const slot = (source.charCodeAt(start) + 7 * source.charCodeAt(end - 1) + 31 * length) % SLOTS
    const last = this.#lastValues[slot]
    if (last !== undefined && isAt(this.#lastNames[slot] ?? '', source, start, length)) return last
    const written = source.slice(start, end)
    const value = this.get(written)
    this.#lastNames[slot] = written
    this.#lastValues[slot] = value
    return value
  }

  get(written: string): T {
    const known = this.#known.get(written)
    if (known !== undefined) return known
    const value = this.#make(written)
    this.#known.set(written, value)
    return value
  }
}

function isAt(name: string, source: string, start: number, length: number): boolean {
  if (name.length !== length) return false
  for (let i = 0; i < length; i++) if (name.charCodeAt(i) !== source.charCodeAt(start + i)) return false
  return true
}
