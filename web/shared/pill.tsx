import type { JSX } from 'preact'
import type { Tone } from './tone.ts'

/** A status word in its colour, with an optional mark in front that tells states apart without colours. */
export function Pill(props: { readonly word: string; readonly tone: Tone; readonly mark?: string }): JSX.Element {
  const { word, tone, mark } = props
  return (
    <span class={`pill pill-${tone}`}>
      {mark === undefined ? null : <span aria-hidden="true">{mark} </span>}
      <span>{word}</span>
    </span>
  )
}
