import type { FoundHub, Hub } from './slot.ts'

/** Limit of links read per page. */
const MAX_LINKS = 400

/**
 * Detects pages with the same links at different addresses: a soft 404, which a site returns with status 200 for pages it does not have.
 * Links with the place's name are ignored, because such a page repeats the requested name.
 */
export class Soft404Detector {
  readonly #first = new Map<string, FoundHub | 'home'>()

  /** Records the home page, which some sites return for every unknown address. */
  noteHome(links: readonly string[]): void {
    const sign = fingerprintLinks(links, [])
    if (sign !== undefined) this.#first.set(sign, 'home')
  }

  /** Records the page of a hub. Returns the first hub with the same links if it is another place, or the home page. */
  note(one: FoundHub, links: readonly string[]): FoundHub | 'home' | undefined {
    const sign = fingerprintLinks(links, namesOf(one.hub))
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

/** An order-independent fingerprint of links; undefined when no link remains. */
function fingerprintLinks(links: readonly string[], names: readonly string[]): string | undefined {
  let count = 0
  let sum = 0
  for (const link of links.slice(0, MAX_LINKS)) {
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
