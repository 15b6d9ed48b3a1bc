import { readFile } from 'node:fs/promises'

/**
 * The words of the built-in model's vocabulary: those that stand in it whole are ordinary English, while names of products and protocols
 * are put together from pieces. Read when first asked for.
 */
export function createOrdinaryWords(): () => Promise<ReadonlySet<string>> {
  // Beside the sources the model is where it was made, beside the program where the build puts it.
  const folder = import.meta.url.endsWith('.ts') ? '../../model/' : '../web/local/model/'
  const file = new URL(`${folder}vocab.txt`, import.meta.url)
  let words: Promise<ReadonlySet<string>> | undefined
  return () => {
    words ??= readFile(file, 'utf8').then(
      (text) => new Set(text.split('\n').filter((line) => /^\p{L}+$/u.test(line))),
      () => {
        // Search goes on without them, and the next question tries again.
        words = undefined
        return new Set<string>()
      },
    )
    return words
  }
}
