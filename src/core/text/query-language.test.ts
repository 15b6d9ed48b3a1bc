import { expect, test } from 'vitest'
import { describeForeignQuestion, languagesOfQuery } from './query-language.ts'

test.each([
  ['how do I set the timeout', ['en']],
  ['wie kann ich die Datei öffnen', ['de']],
  ['où est le fichier de configuration', ['fr']],
  ['¿cómo puede cambiar el tiempo?', ['es']],
  ['ファイルを開く方法', ['ja']],
  ['파일 열기', ['ko']],
  ['打开文件', ['zh', 'ja']],
  ['якщо файл не знайдено', ['uk']],
  // Names, and words that several languages share.
  ['requestTimeout', []],
  ['timeout client', []],
  ['for with from import', []],
  ['und the', []],
  ['', []],
])('the likely languages of %j are %j', (query, languages) => {
  expect(languagesOfQuery(query)).toEqual({ languages, isSure: languages.length > 0 })
})

test.each([
  'jest mock timers',
  'MIT license',
  'css em rem units',
  'DOS attack protection',
  'az login service principal',
  'EST timezone offset',
  'aux file latex',
  'DIN A4 page size',
  'care of special characters',
  'wat2wasm wat format',
  'emacs el file',
  'IL code emit',
  'von neumann, DEM raster file',
])('names, units and commands indicate no language: %j', (query) => {
  expect(languagesOfQuery(query)).toEqual({ languages: [], isSure: false })
})

test('neither a single word nor words in another script make the language of a question certain', () => {
  expect(languagesOfQuery('the timeout')).toEqual({ languages: ['en'], isSure: false })
  expect(languagesOfQuery('les options pour des fichiers')).toEqual({ languages: ['fr'], isSure: true })
  expect(languagesOfQuery('what does Москва mean').isSure).toBe(false)
})

test('a script that several languages use gives these languages', () => {
  expect(languagesOfQuery('открыть файл').languages[0]).toBe('ru')
  expect(languagesOfQuery('открыть файл').languages).toContain('bg')
})

test('a question is foreign to a model only if its language is certain', () => {
  expect(describeForeignQuestion('les options pour des fichiers', 'en')).toBe(
    'the model is made for another language (en)',
  )
  expect(describeForeignQuestion('les options pour des fichiers', 'fr')).toBeUndefined()
  expect(describeForeignQuestion('les options pour des fichiers', undefined)).toBeUndefined()
  expect(describeForeignQuestion('timeout', 'en')).toBeUndefined()
})
