/** Finds the token of a piece. */
export interface PieceTable {
  get(piece: string): number | undefined
}

/** The word pieces of a BERT model. */
export interface WordPieceVocabulary {
  readonly pieces: PieceTable
  readonly unknown: number
  /** Token before every text. */
  readonly start: number
  /** Token after every text. */
  readonly end: number
}

/** Looks up the special tokens in a table of pieces; throws a plain `Error` if one is missing. */
export function createVocabulary(pieces: PieceTable): WordPieceVocabulary {
  const idOf = (piece: string): number => {
    const id = pieces.get(piece)
    if (id === undefined) throw new Error(`the vocabulary has no ${piece}`)
    return id
  }
  return { pieces, unknown: idOf('[UNK]'), start: idOf('[CLS]'), end: idOf('[SEP]') }
}

/** Prefix of a piece that continues a word. */
const CONTINUATION = '##'

/** A word with more characters than this is unknown. */
const MAX_WORD_CHARS = 100

/** Characters of a text that are read for each token allowed; the rest of the text is ignored. */
export const MAX_CHARS_PER_TOKEN = 40

/** Enough for most texts: a token of English text has about five characters, with its space. */
const USUAL_CHARS_PER_TOKEN = 8

/**
 * The tokens of a text between the opening and closing special tokens, at most `limit` in all. Names of special tokens inside the text
 * count as ordinary words, because the text is untrusted data.
 */
export function tokenizeText(text: string, vocabulary: WordPieceVocabulary, limit: number): number[] {
  const whole = text.slice(0, limit * MAX_CHARS_PER_TOKEN)
  // The beginning of most long texts has enough tokens. It ends at a space, so that no word is split.
  const usualChars = limit * USUAL_CHARS_PER_TOKEN
  const beginning = whole.slice(0, whole.length > usualChars ? Math.max(0, whole.lastIndexOf(' ', usualChars)) : 0)
  const tokens = tokenizeWords(beginning, vocabulary, limit - 2)
  const sufficient = tokens.length < limit - 2 ? tokenizeWords(whole, vocabulary, limit - 2) : tokens
  return [vocabulary.start, ...sufficient.slice(0, limit - 2), vocabulary.end]
}

/** The first tokens of a text: at least `wanted`, or all that it has. */
function tokenizeWords(text: string, vocabulary: WordPieceVocabulary, wanted: number): number[] {
  const tokens: number[] = []
  for (const word of splitWords(text)) {
    if (tokens.length >= wanted) break
    tokens.push(...tokenizeWord(word, vocabulary))
  }
  return tokens
}

/**
 * NUL, the replacement character and all characters without a glyph: controls, formats, lone surrogates, unassigned and private-use ones.
 */
const NON_PRINTING = /(?![\t\n\r])[\0\ufffd\p{C}]/gu
const IDEOGRAPH =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu
const ACCENT = /\p{Mn}/gu
/** A single punctuation mark, or a run of other characters. ASCII symbols count as punctuation, other symbols do not. */
const WORD = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu

function splitWords(text: string): string[] {
  const plain = text.replace(NON_PRINTING, '').replace(IDEOGRAPH, ' $& ')
  return plain.normalize('NFD').replace(ACCENT, '').toLowerCase().match(WORD) ?? []
}

/** The longest pieces of a word from left to right. If a part of the word is not in the vocabulary, the whole word is unknown. */
function tokenizeWord(word: string, { pieces, unknown }: WordPieceVocabulary): number[] {
  const chars = [...word]
  if (chars.length > MAX_WORD_CHARS) return [unknown]
  const tokens: number[] = []
  for (let start = 0; start < chars.length; ) {
    let end = chars.length
    let token: number | undefined
    for (; end > start; end--) {
      token = pieces.get((start === 0 ? '' : CONTINUATION) + chars.slice(start, end).join(''))
      if (token !== undefined) break
    }
    if (token === undefined) return [unknown]
    tokens.push(token)
    start = end
  }
  return tokens
}
