import { embeddedText } from '../embedding/embedded-text.ts'
import { MODEL_LANGUAGE } from '../embedding/model.ts'
import type { Chunk, Kind } from '../model.ts'
import { resolvePageLanguage } from '../text/language.ts'
import { primaryLanguageOf } from '../text/language-code.ts'
import type { Pack } from './pack.ts'
import { findTitles } from './pack-index.ts'
import type { PackVectors } from './pack-vectors.ts'

/** Kinds that are written in a natural language. */
const PROSE: ReadonlySet<Kind> = new Set(['markdown', 'html', 'text'])

/** Characters of a file that are enough to detect its language. */
const LANGUAGE_CHARS = 10_000

/** The texts of a pack in the form that the model receives. */
export interface PackTexts {
  /** The text to embed for a chunk; null for a chunk in a language that the model does not know. */
  at(position: number): string | null
  /** Positions of chunks that are to be embedded and have no vector yet. */
  listMissing(vectors: PackVectors): number[]
}

/** Creates the texts of a pack. Each text is composed on demand. */
export function createPackTexts(pack: Pack): PackTexts {
  const titles = findTitles(pack)
  const isKnown = createLanguageCheck(pack)
  return {
    at(position) {
      const chunk = pack.chunks[position]
      if (chunk === undefined || !isKnown(chunk)) return null
      return embeddedText(titles.get(chunk.path) ?? '', chunk.headingPath, chunk.content)
    },
    listMissing(vectors) {
      return pack.chunks.flatMap((chunk, i) => (vectors.has(i) || !isKnown(chunk) ? [] : [i]))
    },
  }
}

/** Copies the vectors of unchanged texts from an earlier version of the pack. */
export function copyUnchangedVectors(
  from: { pack: Pack; vectors: PackVectors },
  pack: Pack,
  vectors: PackVectors,
): void {
  if (from.vectors.space.fingerprint !== vectors.space.fingerprint) return
  const before = createPackTexts(from.pack)
  const now = createPackTexts(pack)
  const positions = new Map(from.pack.chunks.map(({ id }, i) => [id, i]))
  for (const [i, { id }] of pack.chunks.entries()) {
    const old = positions.get(id)
    // The id of a chunk does not depend on its headings and title, but its vector does.
    if (old === undefined || !from.vectors.has(old) || before.at(old) !== now.at(i)) continue
    vectors.copy(i, from.vectors.at(old))
  }
}

/** Creates a test for whether the model knows the language of a chunk. The language of a file is detected once, at its first chunk. */
function createLanguageCheck({ chunks }: Pack): (chunk: Chunk) => boolean {
  const known = new Map<string, boolean>()
  const beginnings = new Map<string, string>()
  for (const { path, kind, content } of chunks) {
    const text = beginnings.get(path) ?? ''
    if (PROSE.has(kind) && text.length < LANGUAGE_CHARS) beginnings.set(path, `${text}${content}\n\n`)
  }
  return ({ path, kind }) => {
    if (!PROSE.has(kind)) return true
    let isKnown = known.get(path)
    if (isKnown === undefined) {
      const language = resolvePageLanguage(null, (beginnings.get(path) ?? '').slice(0, LANGUAGE_CHARS))
      isKnown = language === null || primaryLanguageOf(language) === MODEL_LANGUAGE
      known.set(path, isKnown)
    }
    return isKnown
  }
}
