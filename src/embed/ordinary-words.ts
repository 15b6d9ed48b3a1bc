import { readFile } from 'node:fs/promises'

/**
 * The whole words of the built-in model's vocabulary. They are ordinary English, while names of products and protocols consist of several
 * pieces. Loaded on first use.
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
