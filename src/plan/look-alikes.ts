import type { FoundHub, Hub } from './slot.ts'

/** Links of one page that are looked at. */
const MOST_LINKS = 400

/**
 * Tells when pages lead to the same, whatever they are called: what a site answers where it has nothing, although it says that it has
 * something. Links that have the name of the place in them, as such a page repeats what it was asked for, say nothing.
 */
export class LookAlikes {
  readonly #first = new Map<string, FoundHub | 'home'>()

  /** Takes note of the home page, which some sites answer with whatever they are asked for. */
  noteHome(links: readonly string[]): void {
    const sign = signOf(links, [])
    if (sign !== undefined) this.#first.set(sign, 'home')
  }

  /** Takes note of the page of a hub. Answers who had the same before, if it was another place or the home page. */
  note(one: FoundHub, links: readonly string[]): FoundHub | 'home' | undefined {
    const sign = signOf(links, namesOf(one.hub))
    if (sign === undefined) return undefined
    const first = this.#first.get(sign)
    if (first === undefined) this.#first.set(sign, one)
    const isSamePlace = first !== 'home' && first?.hub.place.id === one.hub.place.id
    return isSamePlace ? undefined : first
  }
}

function namesOf({ text }: Hub): readonly string[] {
  return [text, encodeURIComponent(text)]
}

/** Something that is the same for the same links in any order, and for hardly any others; undefined where no link says anything. */
function signOf(links: readonly string[], names: readonly string[]): string | undefined {
  let count = 0
  let sum = 0
  for (const link of links.slice(0, MOST_LINKS)) {
    if (names.some((name) => link.includes(name))) continue
    count++
    sum += hash(link)
  }
  return count === 0 ? undefined : `${count} ${sum}`
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}
