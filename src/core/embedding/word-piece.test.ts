import { describe, expect, test } from 'vitest'
import { createVocabulary, tokenizeText } from './word-piece.ts'

const PIECES = [
  '[PAD]', '[UNK]', '[CLS]', '[SEP]', 'un', '##aff', '##able', 'cafe', 'a', 'b', 'c', '##b', '日', '本', '(', ')', '.', '-', 'x', '##x', 'i', 'σ', '##ς', '«', '+',
] // biome-ignore format: a list of words

const vocabulary = createVocabulary(new Map(PIECES.map((piece, id) => [piece, id])))
const piecesOf = (text: string, limit = 256) => tokenizeText(text, vocabulary, limit).map((id) => PIECES[id])
const innerPieces = (text: string) => piecesOf(text).slice(1, -1)

test('a text is enclosed in its start and end tokens', () => {
  expect(piecesOf('')).toEqual(['[CLS]', '[SEP]'])
  expect(piecesOf('a')).toEqual(['[CLS]', 'a', '[SEP]'])
})

describe('words', () => {
  test.each<[string, string, string[]]>([
    ['are cut into the longest known pieces', 'unaffable', ['un', '##aff', '##able']],
    ['are unknown as a whole if a part is unknown', 'unaffyable', ['[UNK]']],
    ['with more than 100 characters are unknown', 'x'.repeat(101), ['[UNK]']],
    ['with 100 characters are cut into pieces', 'x'.repeat(100), ['x', ...Array.from({ length: 99 }, () => '##x')]],
    ['lose their case and their accents', 'CAFÉ Cafe\u0301', ['cafe', 'cafe']],
    ['lose invisible characters and are not split by them', 'a\u200b\u00adb \u0000\ufffdc', ['a', '##b', 'c']],
    ['end at any space', 'a\u3000b\u00a0c\ta\n', ['a', 'b', 'c', 'a']],
    ['end at punctuation marks, each of which is a word', 'a(b).-«+', ['a', '(', 'b', ')', '.', '-', '«', '+']],
    ['can be single ideographs', 'a日本b', ['a', '日', '本', 'b']],
    ['lose half a surrogate pair', '\ud800a', ['a']],
    ['get the final form of a Greek sigma at their end', 'ΣΣ', ['σ', '##ς']],
    ['that look like special tokens are ordinary words', '[SEP]', ['[UNK]', '[UNK]', '[UNK]']],
  ])('%s', (_what, text, pieces) => {
    expect(innerPieces(text)).toEqual(pieces)
  })
})

test('a long text is cut at the limit, which includes its end token', () => {
  const tokens = piecesOf('a '.repeat(1000), 16)
  expect(tokens).toHaveLength(16)
  expect(tokens.at(-1)).toBe('[SEP]')
})

test.each([
  ['short words', 'a b c '.repeat(300)],
  ['long words', `${'x'.repeat(90)} ${'unaffable '.repeat(50)}`],
  ['leading spaces and short words', `${' '.repeat(300)}${'a b '.repeat(60)}`],
  ['words without spaces', 'a.b-'.repeat(200)],
])('a long text of %s has the same first tokens with a lower limit', (_what, text) => {
  const whole = piecesOf(text, 100)
  const part = piecesOf(text, 32)
  expect(part).toHaveLength(32)
  expect(part.slice(0, -1)).toEqual(whole.slice(0, 31))
})

test('a vocabulary without a special token is refused', () => {
  expect(() =>
    createVocabulary(
      new Map([
        ['[UNK]', 0],
        ['[CLS]', 1],
      ]),
    ),
  ).toThrow('no [SEP]')
})
