/** Prefix of the keys of stems; no name starts with it. */
export const STEM_MARK = '~'

/** How the names of one script are inflected: endings that a name drops, and endings of words in texts. */
interface Inflection {
  /** Endings of names in their base form. */
  readonly nameEndings: RegExp
  /** Endings of inflected words in texts. */
  readonly wordEndings: readonly string[]
}

function splitEndings(text: string): readonly string[] {
  return text.split(' ')
}

const CYRILLIC: Inflection = {
  nameEndings: /(?:ыи|ии|ои|ая|яя|ое|ее|ые|ие|а|я|о|е|ь|и|ы|і)$/u,
  wordEndings: splitEndings(
    'ого его ому ему ыми ими ами ями ом ем єм ои еи єи ою ею єю ах ях ам ям ым им их ых ую юю ов ев ів ові еві а я ы и е є у ю о ь і',
  ),
}

const GREEK: Inflection = {
  nameEndings: /(?:οσ|ασ|ησ|εσ|οι|α|η|ο|ι)$/u,
  wordEndings: splitEndings('ουσ ου ασ ησ εσ οσ ων οι ον αν ην α η ο ι υ'),
}

const LATIN: Inflection = {
  nameEndings: /(?:a|o|e|y|i)$/u,
  wordEndings: splitEndings('iem owi ach ami em ie iu ze om u a e y i o'),
}

const GEORGIAN: Inflection = {
  nameEndings: /(?:ი|ა|ე|ო)$/u,
  wordEndings: splitEndings('იდან ისთვის ამდე თან დან ისა ში ზე ით ის ას ოს მა ს ი ა ე ო'),
}

const ARMENIAN: Inflection = {
  nameEndings: /(?:ն|ը)$/u,
  wordEndings: splitEndings('ում ից ով ին ի ն ը յան'),
}

/** Languages in Latin script that inflect place names. */
const INFLECTING_LANGUAGES = new Set(['pl', 'cs', 'sk', 'hr', 'sl', 'bs', 'sr', 'lt', 'lv'])

/** Keys under which the inflected forms of a normalized name are found; none for a name that is not inflected. */
export function inflectedStems(normalized: string): readonly string[] {
  const words = normalized.split(' ')
  const inflection = inflectionOf(words[0] ?? '', undefined)
  if (words.length > 3) return []
  if (inflection === undefined) return words.length === 1 ? latinStems(words[0] ?? '') : []
  const stems = words.map((word) => nameStem(word, inflection))
  if ((stems[0] ?? '').length < 3) return []
  const keys = [STEM_MARK + stems.join(' ')]
  // Ukrainian changes the last syllable of Київ and Львів before an ending.
  const root = /^(.+)ів$/u.exec(stems.at(-1) ?? '')?.[1]
  if (root !== undefined && stems.length === 1)
    keys.push(`${STEM_MARK}${root}ов`, `${STEM_MARK}${root}ев`, `${STEM_MARK}${root}єв`)
  return keys
}

function latinStems(word: string): readonly string[] {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return []
  const stem = nameStem(word, LATIN)
  return stem.length < 4 ? [] : [STEM_MARK + stem]
}

/** Stems that a word of a text may come from. */
export function stemsOf(word: string, language: string | undefined): readonly string[] {
  const inflection = inflectionOf(word, language)
  if (inflection === undefined) return []
  const stems: string[] = []
  for (const ending of inflection.wordEndings) {
    if (word.length - ending.length >= 3 && word.endsWith(ending))
      stems.push(word.slice(0, word.length - ending.length))
  }
  if (inflection === LATIN) {
    const softened = /^(.{3,})(ce|dze|ze|czech)$/u.exec(word)
    if (softened !== null)
      stems.push(
        (softened[1] ?? '') +
          (softened[2] === 'ce' ? 'k' : softened[2] === 'dze' ? 'g' : softened[2] === 'ze' ? 'h' : 'c'),
      )
  }
  stems.push(word)
  return stems
}

function nameStem(word: string, inflection: Inflection): string {
  const stem = word.replace(inflection.nameEndings, '')
  return stem.length >= 3 ? stem : word
}

function inflectionOf(word: string, language: string | undefined): Inflection | undefined {
  const code = word.charCodeAt(0)
  if (code >= 0x400 && code < 0x530) return CYRILLIC
  if (code >= 0x370 && code < 0x400) return GREEK
  if (code >= 0x10d0 && code < 0x1100) return GEORGIAN
  if (code >= 0x530 && code < 0x590) return ARMENIAN
  return language !== undefined && INFLECTING_LANGUAGES.has(language.slice(0, 2)) ? LATIN : undefined
}
