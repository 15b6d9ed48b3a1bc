import type { FoundHub, Hub } from './slot.ts'

/** Limit of links read per page. */
const MAX_LINKS = 400

/**
 * Detects pages with the same links at different addresses: a soft 404, which a site returns with status 200 for pages it does not have.
 * Links with the place's name are ignored, because such a page repeats the requested name.
 */
export class Soft404Detector {
  readonly #firstByFingerprint = new Map<string, FoundHub | 'home'>()

  /** Records the home page, which some sites return for every unknown address. */
  noteHome(links: readonly string[]): void {
    const fingerprint = fingerprintLinks(links, [])
    if (fingerprint !== undefined) this.#firstByFingerprint.set(fingerprint, 'home')
  }

  /** Records the page of a hub. Returns the first hub with the same links if it is another place, or the home page. */
  note(foundHub: FoundHub, links: readonly string[]): FoundHub | 'home' | undefined {
    const fingerprint = fingerprintLinks(links, namesOf(foundHub.hub))
    if (fingerprint === undefined) return undefined
    const first = this.#firstByFingerprint.get(fingerprint)
    if (first === undefined) this.#firstByFingerprint.set(fingerprint, foundHub)
    const isSamePlace = first !== 'home' && first?.hub.place.id === foundHub.hub.place.id
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
