/** A seeded random number generator for numbers from 0 up to 1. */
export function createRandom(seed: string): () => number {
  let state = 2166136261
  for (const char of seed) state = Math.imul(state ^ char.charCodeAt(0), 16777619) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A random item of a list. */
export function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('the list is empty')
  return item
}

/** The items in random order. */
export function shuffle<T>(random: () => number, items: readonly T[]): T[] {
  const remaining = [...items]
  const shuffled: T[] = []
  while (remaining.length > 0) shuffled.push(...remaining.splice(Math.floor(random() * remaining.length), 1))
  return shuffled
}

/** The language of a site's pages. */
export type SiteLanguage = 'en' | 'de'

/** The words of generated texts. */
interface Vocabulary {
  readonly actors: readonly string[]
  readonly verbs: readonly string[]
  readonly matters: readonly string[]
  readonly reasons: readonly string[]
}

const WORDS: Readonly<Record<SiteLanguage, Vocabulary>> = {
  en: {
    actors: [
      'The government',
      'A coalition of farmers',
      'The central bank',
      'Opposition leaders',
      'Port workers',
      'The health ministry',
      'A group of scientists',
      'The national team',
      'Local councils',
      'Teachers in the north',
      'A court',
      'The largest union',
    ],
    verbs: [
      'has delayed',
      'welcomed',
      'rejected',
      'is preparing',
      'described',
      'questioned',
      'will publish',
      'defended',
    ],
    matters: [
      'a plan to rebuild the coastal railway',
      'the new budget for schools',
      'a report on clean water',
      'the vote on fishing rights',
      'a tender for wind farms',
      'the reform of pensions',
      'an agreement on grain prices',
      'the inquiry into last winter’s floods',
      'a programme for small theatres',
      'the change of the electoral law',
    ],
    reasons: [
      'after weeks of talks that had seemed to lead nowhere',
      'because the costs had risen faster than anybody expected',
      'although several members of the committee were absent',
      'while the markets waited for a clearer sign',
      'which observers called the most important step in years',
      'and promised to explain the details before the end of the month',
      'as prices in the capital went on rising',
      'despite the criticism of its own advisers',
    ],
  },
  de: {
    actors: [
      'Die Regierung',
      'Ein Bündnis der Bauern',
      'Die Zentralbank',
      'Die Opposition',
      'Das Gesundheitsministerium',
      'Eine Gruppe von Forschern',
      'Die Nationalmannschaft',
      'Ein Gericht',
      'Die größte Gewerkschaft',
    ],
    verbs: ['verschiebt', 'begrüßt', 'verwirft', 'bereitet', 'verteidigt', 'prüft'],
    matters: [
      'den Ausbau der Küstenbahn',
      'den neuen Haushalt für die Schulen',
      'einen Bericht über sauberes Wasser',
      'die Abstimmung über Fangrechte',
      'die Reform der Renten',
      'ein Abkommen über Getreidepreise',
    ],
    reasons: [
      'nach wochenlangen Gesprächen, die zu nichts zu führen schienen',
      'weil die Kosten schneller gestiegen sind als erwartet',
      'obwohl mehrere Mitglieder des Ausschusses fehlten',
      'während die Märkte auf ein klares Zeichen warten',
      'und will die Einzelheiten bis zum Ende des Monats erklären',
      'trotz der Kritik der eigenen Berater',
    ],
  },
}

/** A headline about a place or a section. */
export function writeHeadline(random: () => number, language: SiteLanguage, about: string): string {
  const { actors, verbs, matters } = WORDS[language]
  const actor = pick(random, actors)
  return `${about}: ${actor.charAt(0).toLowerCase()}${actor.slice(1)} ${pick(random, verbs)} ${pick(random, matters)}`
}

/** A sentence, sometimes about a place. */
export function writeSentence(random: () => number, language: SiteLanguage, about?: string): string {
  const { actors, verbs, matters, reasons } = WORDS[language]
  const where = about === undefined || random() < 0.7 ? '' : language === 'en' ? ` in ${about}` : ` (${about})`
  return `${pick(random, actors)}${where} ${pick(random, verbs)} ${pick(random, matters)}, ${pick(random, reasons)}.`
}

/** Paragraphs with about the given number of words in total. */
export function writeParagraphs(random: () => number, language: SiteLanguage, about: string, words: number): string[] {
  const paragraphs: string[] = []
  let written = 0
  while (written < words) {
    const sentences = Array.from({ length: 2 + Math.floor(random() * 3) }, () =>
      writeSentence(random, language, about),
    ).join(' ')
    written += sentences.split(' ').length
    paragraphs.push(sentences)
  }
  return paragraphs
}

/** The authors of the sites. */
export const AUTHORS: readonly string[] = [
  'Amara Lindqvist',
  'Jonas Petrov',
  'Mei Castellano',
  'Tobias Okafor',
  'Rina Haddad',
  'Lucia Brandt',
]
