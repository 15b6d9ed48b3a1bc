import { describe, expect, test } from 'vitest'
import { findKeyPhrases } from './key-phrases.ts'

const ENGLISH = `The city council of Halden has approved a plan to restore the old tidal mill at the mouth of the river. The tidal
mill was built in 1789 and ground corn until the harbour railway was opened. Engineers say that the mill pond still fills twice
a day, so that a small turbine could light the harbour railway station. The Norwegian Heritage Fund will pay for half of the
work. Critics of the plan told the city council that flood protection should come first: the mill pond lies lower than the
street, and flood protection for the quarter has been promised since the great storm. The Norwegian Heritage Fund said it would
wait for a report on flood protection before the tidal mill is restored.`

const phrasesOf = (text: string, title = '', language: string | null = 'en') =>
  findKeyPhrases(text, { title, language }).map(({ phrase }) => phrase)

describe('findKeyPhrases', () => {
  test('finds the phrases that a reader would name', () => {
    const phrases = phrasesOf(ENGLISH, 'Halden restores its tidal mill')
    expect(phrases[0]).toBe('tidal mill')
    expect(phrases).toEqual(
      expect.arrayContaining([
        'flood protection',
        'Norwegian Heritage Fund',
        'mill pond',
        'harbour railway',
        'city council',
      ]),
    )
    expect(phrases.length).toBeLessThanOrEqual(10)
  })

  test('counts how often each phrase occurs', () => {
    const found = findKeyPhrases(ENGLISH, { title: '', language: 'en' })
    expect(found.find(({ phrase }) => phrase === 'tidal mill')?.frequency).toBe(3)
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
  })

  test('phrases do not start or end with stop words, and do not cross punctuation', () => {
    for (const phrase of phrasesOf(ENGLISH)) {
      expect(phrase).not.toMatch(/^(?:the|a|of|to|and|that|for|it|would|said) | (?:the|a|of|to|and|that|for|it|said)$/i)
    }
    expect(phrasesOf(`${'I like tea, milk. Tea, milk! '.repeat(10)}`)).not.toContain('tea milk')
  })

  test('parts of a phrase are not listed beside the whole', () => {
    const phrases = phrasesOf(ENGLISH)
    expect(phrases).not.toContain('Heritage Fund')
    expect(phrases).not.toContain('Norwegian Heritage')
  })

  test('phrases keep the words that join names', () => {
    const text = `${ENGLISH} The Bank of England waits. He said the Bank of England would wait and the Bank of England did.`
    expect(phrasesOf(text)).toContain('Bank of England')
  })

  test('singular and plural count as one phrase', () => {
    const text = `${'A trade deal was signed here. Two trade deals failed there and nobody was sure why that happened at all. '.repeat(3)}`
    expect(
      findKeyPhrases(text, { title: '', language: 'en' }).filter(({ phrase }) => phrase.startsWith('trade')),
    ).toEqual([expect.objectContaining({ frequency: 6 })])
  })

  test('leaves out the stop words of other languages', () => {
    const german = `Der Stadtrat hat die Sanierung der alten Gezeitenmühle beschlossen. Die erneuerbare Energie aus der Mühle soll den
      Bahnhof versorgen. Für die erneuerbare Energie zahlt der Bund. Gegner im Stadtrat fordern, dass zuerst der Hochwasserschutz
      kommt, denn die erneuerbare Energie nützt bei Hochwasser nichts, und ohne Hochwasserschutz gibt es keine Sanierung.`
    const phrases = phrasesOf(german, '', 'de')
    expect(phrases[0]).toBe('erneuerbare Energie')
    expect(phrases.join(' ')).not.toMatch(/\b(?:der|die|das|und|für)\b/i)
  })

  test('leaves out very frequent words in a language without a stop list', () => {
    const finnish =
      'Kaupunginvaltuusto päätti että vanha vuorovesimylly korjataan ja että vuorovesimylly avataan yleisölle. '
    const phrases = phrasesOf(finnish.repeat(4), '', 'fi')
    expect(phrases.join(' ')).not.toMatch(/\b(?:että|ja)\b/)
    expect(phrases.length).toBeGreaterThan(0)
  })

  test('finds no phrases in scripts without spaces, or in a text of a few words', () => {
    expect(phrasesOf('政府星期一决定新规定从明年开始实施。'.repeat(20), '', 'zh')).toEqual([])
    expect(phrasesOf('tidal mill tidal mill tidal mill')).toEqual([])
  })

  test('finds Korean phrases without trailing particles', () => {
    const korean = `정부는 월요일 새로운 재생 에너지 정책을 발표했다. 재생 에너지 정책은 내년부터 시행된다. 서울시는 태양광 발전소를 확대하겠다고
      밝혔다. 태양광 발전소는 부산에서도 건설된다. 환경 단체는 재생 에너지 투자가 부족하다고 비판했다. 국회는 재생 에너지 법안을 심의하고 있다.`
    const phrases = phrasesOf(korean, '재생 에너지 정책 발표', 'ko')
    expect(phrases[0]).toBe('재생 에너지')
    expect(phrases).toContain('태양광 발전소')
    expect(phrases.join(' ')).not.toMatch(/밝혔다|발표했다/)
  })

  test('finds the phrases of a very long text', () => {
    expect(phrasesOf(`${ENGLISH} `.repeat(2000))).toContain('tidal mill')
  })
})
