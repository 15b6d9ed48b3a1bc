import type { JSX } from 'preact'
import { createWordMarker } from '../../src/core/retrieval/mark-words.ts'

/** Text with the given terms highlighted. The text is never interpreted as HTML. */
export function MarkedText({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  const parts = createWordMarker(terms)(text)
  return <>{parts.map((part, i) => (part.isMarked ? <mark key={i}>{part.text}</mark> : part.text))}</>
}
