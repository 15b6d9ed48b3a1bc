import type { JSX } from 'preact'
import type { Tone } from './tone.ts'

/** A coloured label. */
export function Pill({ word, tone }: { readonly word: string; readonly tone: Tone }): JSX.Element {
  return <span class={`pill pill-${tone}`}>{word}</span>
}
