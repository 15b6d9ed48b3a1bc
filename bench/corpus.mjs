// Generated text for the benchmarks: a fixed seed and Zipf's law, so that no word list and no text is stored.

export { createRandom } from '../test/seeded.ts'

/** An identifier in snake or camel case. */
export function createIdentifier(words, random) {
  const [first, second] = [pickContent(words, random), pickContent(words, random)]
  return random() < 0.5 ? `${first}_${second}` : `${first}${second[0].toUpperCase()}${second.slice(1)}`
}

/** Zipf's law: a rank of `n^u` for uniform `u` has a density that falls with the rank. */
export function pick(words, random) {
  return words[Math.floor(words.length ** random()) - 1]
}

/** A word that is not among the hundred most frequent. */
export function pickContent(words, random) {
  return words[100 + Math.floor((words.length - 100) ** random()) - 1]
}

/** Distinct pronounceable words; the frequent ones are short, the first are English function words. */
export function createWords(count, random) {
  const words = new Set('the of and to in a is that for it as with be by on or this are from at'.split(' '))
  const onsets = ['b', 'c', 'd', 'f', 'g', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'st', 'tr', 'pl', 'ch', 'gr']
  const vowels = ['a', 'e', 'i', 'o', 'u', 'ea', 'io']
  const endings = ['', 'n', 'r', 's', 't', 'l', 'ing', 'ed', 'er', 'tion', 'ment', 's']
  const any = (list) => list[Math.floor(random() * list.length)]
  while (words.size < count) {
    const syllables = 1 + Math.floor(random() * (words.size < 2000 ? 2 : 3))
    let word = ''
    for (let i = 0; i < syllables; i++) word += any(onsets) + any(vowels)
    words.add(word + any(endings))
  }
  return [...words]
}

/** A chunk of a manual: prose with function words, an identifier now and then, a heading, a symbol and a path. */
export function createChunk(i, words, random) {
  const length = 80 + Math.floor(random() * 240)
  const body = Array.from({ length }, () => (random() < 0.04 ? createIdentifier(words, random) : pick(words, random)))
  for (let at = 12; at < body.length; at += 8 + Math.floor(random() * 12)) body[at] += '.'
  const title = [0, 1, 2].map(() => pickContent(words, random)).join(' ')
  const symbol = i % 3 === 0 ? createIdentifier(words, random) : ''
  const path = `docs/${pickContent(words, random)}/${pickContent(words, random)}-${i % 100}.md`
  return {
    id: `c${i.toString(36).padStart(5, '0')}`,
    title,
    heading: `${title} ${pick(words, random)}`,
    symbol,
    path,
    body: body.join(' '),
  }
}
