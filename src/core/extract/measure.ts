import { sha256 as portableSha256 } from '../hash.ts'
import type { Page, Sha256 } from '../model.ts'

const WORD = /[\p{L}\p{N}]+/gu

/** Number of words and hash of a page's Markdown. */
export function measureMarkdown(
  markdown: string,
  sha256: Sha256 = portableSha256,
): Pick<Page, 'wordCount' | 'contentHash'> {
  let wordCount = 0
  for (const _ of markdown.matchAll(WORD)) wordCount++
  return { wordCount, contentHash: sha256(markdown) }
}
