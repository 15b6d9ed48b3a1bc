import type { JSX } from 'preact'
import type { Tone } from './tone.ts'

/** A word in its colour. */
export function Pill({ word, tone }: { readonly word: string; readonly tone: Tone }): JSX.Element {
  return <span class={`pill pill-${tone}`}>{word}</span>
}
