import { readFile } from 'node:fs/promises'

/**
 * Returns a function that loads, on first use, the whole words of the built-in model's vocabulary. They are ordinary English, while the
 * vocabulary has names of products and protocols only in several pieces.
 */
export function createOrdinaryWords(): () => Promise<ReadonlySet<string>> {
  // The source tree has the model in `model/`; the built program has it in the build's output.
  const folder = import.meta.url.endsWith('.ts') ? '../../model/' : '../web/local/model/'
  const file = new URL(`${folder}vocab.txt`, import.meta.url)
  let words: Promise<ReadonlySet<string>> | undefined
  return () => {
    words ??= readFile(file, 'utf8').then(
      (text) => new Set(text.split('\n').filter((line) => /^\p{L}+$/u.test(line))),
      () => {
        // Search works without the words, and the next question loads them again.
        words = undefined
        return new Set<string>()
      },
    )
    return words
  }
}
