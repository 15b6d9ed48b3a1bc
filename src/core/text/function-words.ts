/*
 * Function words by language: words that occur in nearly every sentence. Words that are common in code are left out (`for`, `with`, `from`)
 * or ambiguous (`if`, `this`), since questions contain code.
 */
const WORDS: Readonly<Record<string, string>> = {
  en: 'the how what which why does you your should are that these there have its must will be to and of or an this by if can',
  de: 'der das und ist nicht ein eine einen einem wie kann wird für mit auf von zu dem sich auch werden oder wenn ich sie',
  fr: 'les des une est dans pour qui sur avec pas vous sont cette être aux où quel quelle peut ou nous ces comme mais ainsi aussi leur même cela doit votre du et',
  es: 'el los las qué cómo puede pueden cuando hay según también cuál dónde muy pero porque y más hasta esto otros debe sólo siguiente',
  pt: 'não uma em são você pode podem ao dos também isso pelo pela às nós qual é até será seu sua',
  it: 'il gli che della delle dei nel nella sono può essere più questo questa alla anche cosa perché è viene ogni dal dalla degli alle non',
  nl: 'het een niet van wordt zijn voor worden deze hoe aan bij naar ook wat je waar',
  sv: 'och att är inte för på ett hur vad också från när till även detta denna används varje',
  pl: 'nie jest się czy jak oraz dla który można jako przez tym tego są lub przy które być tylko gdy jeśli',
  cs: 'jsou který která není nebo pokud při také může aby že pouze lze podle tento pro',
  tr: 'bir için ile değil nasıl olarak daha gibi veya',
  ro: 'și este pentru care sau din în sunt',
  fi: 'että ei tai kun mutta ovat voidaan miten',
  hu: 'az és nem hogy egy vagy ez hogyan',
  id: 'yang untuk dengan dari tidak adalah atau bagaimana',
  vi: 'của và là không các được cho trong',
  ru: 'что это если чтобы является при также может только быть будет который которые этот этого или как',
  uk: 'що це або якщо щоб є при також може та який які бути буде лише цей',
  bg: 'това че трябва може също',
}

/*
 * Function words that may also be something else: a name, a unit, a file extension or a word of another language. Examples are `jest` the
 * program, `em` the unit and `az` the command. One of these words alone proves nothing.
 */
const AMBIGUOUS_WORDS: ReadonlySet<string> = new Set(
  `which are that its will be to and of or an this by if can
  der das ist ein wie mit auf von zu dem sie
  les des est qui sur pas pour aux ou nous ces mais du et
  el los las hay y
  uma em ao dos qual
  il che dei nel alla cosa non dal
  van voor hoe aan bij wat je
  att ett hur vad till på
  nie jest jak dla tym jako
  aby pro
  bir ile daha
  este care sau din
  ei tai kun
  az és nem ez
  yang dari
  là cho
  или как`.split(/\s+/),
)

/** The language of each function word. A word in two lists indicates no language. */
const LANGUAGES: ReadonlyMap<string, string> = createLanguages()

function createLanguages(): Map<string, string> {
  const languages = new Map<string, string>()
  const shared = new Set<string>()
  for (const [language, words] of Object.entries(WORDS)) {
    for (const word of words.split(' ')) {
      if (languages.has(word)) shared.add(word)
      languages.set(word, language)
    }
  }
  for (const word of shared) languages.delete(word)
  return languages
}

/** Whether a list of function words exists for a language. */
export function hasFunctionWords(language: string): boolean {
  return language in WORDS
}

/** Counts of the function words of one language in a text. */
export interface FunctionWordCounts {
  /** Number of occurrences of all these words. */
  readonly count: number
  /** How strongly the words indicate the language: each different word counts once, an ambiguous one half as much. */
  readonly weight: number
  /** Number of different words that indicate the language unambiguously. */
  readonly unambiguousCount: number
}

/** Counts the function words of a text by language, and all its words. */
export function countFunctionWords(text: string): {
  readonly found: ReadonlyMap<string, FunctionWordCounts>
  readonly words: number
} {
  const counts = new Map<string, number>()
  let words = 0
  // A word joined to a digit is a size or a name: `2em`, `wat2wasm`.
  for (const token of text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []) {
    if (!isAsciiLetter(token.charCodeAt(0)) && /^\p{N}+$/u.test(token)) continue
    words++
    const word = token.toLowerCase()
    // A word in capitals is a name: `DOS`, `EST`.
    if (LANGUAGES.has(word) && (word.length === 1 || token !== token.toUpperCase())) {
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  const found = new Map<string, FunctionWordCounts>()
  for (const [word, occurrences] of counts) {
    const language = LANGUAGES.get(word) ?? ''
    const { count, weight, unambiguousCount } = found.get(language) ?? { count: 0, weight: 0, unambiguousCount: 0 }
    const isSure = !AMBIGUOUS_WORDS.has(word)
    found.set(language, {
      count: count + occurrences,
      weight: weight + (isSure ? 1 : 0.5),
      unambiguousCount: unambiguousCount + (isSure ? 1 : 0),
    })
  }
  return { found, words }
}

/** Whether a UTF-16 unit is one of the letters A to Z, in either case. */
export function isAsciiLetter(unit: number): boolean {
  return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a
}
