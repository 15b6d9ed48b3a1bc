import { describe, expect, test } from 'vitest'
import { readLanguage, shortCode } from './language.ts'

describe('the language of a page', () => {
  test('is the one it tells', () => {
    expect(
      readLanguage('en-GB', 'Die Regierung hat am Montag beschlossen, dass die neuen Regeln gelten sollen.'),
    ).toEqual({
      language: 'en',
      source: 'page',
    })
  })

  test.each([
    ['de', 'Die Regierung hat am Montag beschlossen, dass die neuen Regeln ab dem kommenden Jahr gelten sollen.'],
    ['fr', 'Le gouvernement a décidé lundi que les nouvelles règles entreront en vigueur dès l’année prochaine.'],
    ['ru', 'Правительство решило в понедельник, что новые правила вступят в силу со следующего года.'],
    ['ja', '政府は月曜日に、新しい規則を来年から適用することを決めた。市民は反対している。'.repeat(2)],
    ['zh', '政府星期一决定新规定从明年开始实施。许多市民对此表示反对，并要求重新讨论。'.repeat(2)],
    ['ar', 'قررت الحكومة يوم الاثنين أن القواعد الجديدة يجب أن تطبق اعتبارا من العام المقبل في جميع أنحاء البلاد'],
  ])('is told by its words where it does not say: %s', (language, text) => {
    expect(readLanguage(null, text)).toEqual({ language, source: 'text' })
  })

  test('is not guessed from a few words', () => {
    expect(readLanguage(null, 'Home. News. Sport.')).toEqual({ language: null, source: null })
  })

  test('is looked for in the text when what is told names none', () => {
    expect(readLanguage('und', 'Home.')).toEqual({ language: null, source: null })
  })

  test.each([
    ['en_US', 'en'],
    ['PT-br', 'pt'],
    ['deu', 'de'],
    ['zh-Hant-TW', 'zh'],
    ['gsw', 'gsw'],
    ['x-default', null],
    ['', null],
    ['english', null],
  ])('%s is %s', (tag, code) => {
    expect(shortCode(tag)).toBe(code)
  })
})
