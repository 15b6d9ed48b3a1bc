import type { JSX } from 'preact'

/** How something is meant. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'

/** A word in its colour. */
export function Pill({ word, tone }: { readonly word: string; readonly tone: Tone }): JSX.Element {
  return <span class={`pill pill-${tone}`}>{word}</span>
}
