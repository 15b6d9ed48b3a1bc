import { describe, expect, test } from 'vitest'
import { readLanguage, resolvePageLanguage } from './language.ts'
import { primaryLanguageOf } from './language-code.ts'

describe('the language of a page', () => {
  test('is the declared one, even if the text is in another language', () => {
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
  ])('is detected from the text if the page declares none: %s', (language, text) => {
    expect(readLanguage(null, text)).toEqual({ language, source: 'text' })
  })

  test('is not guessed from a few words', () => {
    expect(readLanguage(null, 'Home. News. Sport.')).toEqual({ language: null, source: null })
  })

  test('is unknown if the declared tag names no language and the text is short', () => {
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
  ])('is read from the tag %s as %s', (tag, code) => {
    expect(primaryLanguageOf(tag)).toBe(code)
  })
})

describe('the language that a stored page has', () => {
  const ENGLISH =
    'The timeout of a request is how long the client waits for the answer before it gives up, and you can change it.'
  const GERMAN =
    'Die Wartezeit einer Anfrage ist die Zeit, die der Client auf die Antwort wartet, und sie kann geändert werden.'
  const JAPANESE = '要求の待ち時間は、クライアントが応答を待つ時間です。設定で変えることができます。'.repeat(3)

  test('is the declared one, as written', () => {
    expect(resolvePageLanguage('en-GB', ENGLISH)).toBe('en-GB')
    expect(resolvePageLanguage('de', `${GERMAN} ${ENGLISH}`)).toBe('de')
    // A few words of another language do not change the language of a page.
    expect(resolvePageLanguage('en', `${'request timeout client server '.repeat(5)} und eine werden`)).toBe('en')
    expect(resolvePageLanguage('xx-unknown', ENGLISH)).toBe('en')
  })

  test('is the language of the text if it contradicts the declared one', () => {
    expect(resolvePageLanguage('en', JAPANESE)).toBe('ja')
    expect(resolvePageLanguage('ja', ENGLISH)).toBe('en')
    expect(resolvePageLanguage('ru', GERMAN)).toBe('de')
    // Templates often declare `en` for texts in other languages.
    expect(resolvePageLanguage('en', GERMAN)).toBe('de')
    expect(resolvePageLanguage('ja', `${ENGLISH} 設定で変えられます`)).toBe('ja')
    // The script of an unknown language is unknown too, so the declared language stays.
    expect(resolvePageLanguage('gsw', GERMAN)).toBe('gsw')
  })

  test('is detected in the prose if none is declared', () => {
    expect(resolvePageLanguage(null, ENGLISH)).toBe('en')
    const code = '```js\nfor (const the of what) how(which, why)\n```\n'.repeat(20)
    expect(resolvePageLanguage(null, `${code}\n${GERMAN}`)).toBe('de')
    expect(resolvePageLanguage(null, `${JAPANESE} requestTimeout client server`)).toBe('ja')
  })

  test.each([
    ['a style sheet', '.a { margin: 1em 2em; padding: 0 1em; font: 12 em; border: 0; color: red }\n'.repeat(9)],
    [
      'a table of sizes',
      `${'| p-1 | 0.25em |\n'.repeat(9)}Classes set padding in em. Sizes in em scale with fonts. Margin uses em.`,
    ],
    ['tests', "jest.mock('./db')\nconst spy = jest.fn()\ntest('hits', () => { jest.useFakeTimers() })\n".repeat(5)],
    [
      'commands',
      'Sign in: az login. Run az vm list, az vm show, az vm start. Names: az storage, az network, az aks, az acr, az keyvault, az webapp.',
    ],
  ])('does not follow from a name that is a word in another language: %s', (_what, text) => {
    expect(resolvePageLanguage(null, text)).toBeNull()
  })

  test('is not guessed from code, tables or too few words', () => {
    expect(resolvePageLanguage(null, 'requestTimeout: 30')).toBeNull()
    expect(resolvePageLanguage(null, '| a | b |\n|---|---|\n'.repeat(50))).toBeNull()
    expect(
      resolvePageLanguage(
        null,
        'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut',
      ),
    ).toBeNull()
    expect(resolvePageLanguage('de', 'kurz')).toBe('de')
    expect(resolvePageLanguage('und', 'kurz')).toBeNull()
  })
})
