import { writeSlug } from './country-names.ts'
import type { NamedPlace, PlaceNames } from './place-names.ts'

/** A place and the word that a site uses for it. */
export interface WrittenPlace {
  /** As written in the address, decoded. */
  readonly text: string
  readonly place: NamedPlace
}

/** How a site writes places: which of their names, and how words are joined. */
export interface SiteSpelling {
  readonly name: string
  /** The word for a place, not yet encoded. */
  readonly write: (place: NamedPlace) => string
}

/** Learns from known places how a site writes them; uses the likeliest spelling when none is known. */
export function learnSpelling(names: PlaceNames, known: readonly WrittenPlace[]): SiteSpelling {
  const [first] = names.spellings
  let best = first
  let bestCount = 0
  const words = known.map(({ text, place }) => ({ word: removeSeparators(text), place }))
  for (const spelling of names.spellings) {
    const count = words.filter(({ word, place }) => word === removeSeparators(spelling.write(place) ?? '')).length
    if (count > bestCount) {
      best = spelling
      bestCount = count
    }
  }
  const join = learnJoin(known.map(({ text }) => text))
  const write = (place: NamedPlace) =>
    join(best?.write(place) ?? place.slugs.find((slug) => slug.length > 2) ?? writeSlug(place.name))
  return { name: best?.name ?? '', write }
}

/** Removes the separators between words for comparison, but keeps accents. */
function removeSeparators(text: string): string {
  return text.toLowerCase().replace(/[-_+\s]+/g, '')
}

/** Learns from examples which separator joins words, and whether words are capitalized. */
function learnJoin(texts: readonly string[]): (slug: string) => string {
  const count = (form: RegExp) => texts.filter((text) => form.test(text)).length
  const separators: readonly (readonly [string, number])[] = [
    ['-', count(/.-./u)],
    ['_', count(/._./u)],
    ['+', count(/.\+./u)],
    [' ', count(/. ./u)],
  ]
  const [separator] = separators.toSorted((a, b) => b[1] - a[1])[0] ?? ['-']
  const isUpper = texts.length > 0 && count(/^\p{Lu}\p{Lu}+$/u) * 2 > texts.length
  const isTitle = !isUpper && count(/^\p{Lu}/u) * 2 > texts.length
  return (slug) => {
    const parts = slug.split('-').map((part) => (isTitle ? part.charAt(0).toUpperCase() + part.slice(1) : part))
    const joined = parts.join(separator)
    return isUpper ? joined.toUpperCase() : joined
  }
}
