import type { JSX } from 'preact'

/** Characters at the end of a text that are always shown. */
const TAIL_CHARS = 20

/** A text in one line, cut in its middle where it is too long: long addresses differ at their ends. */
export function CutMiddle({ text }: { readonly text: string }): JSX.Element {
  const cutAt = Math.max(0, text.length - TAIL_CHARS)
  return (
    <span class="cut-middle">
      <span class="cut">{text.slice(0, cutAt)}</span>
      <span>{text.slice(cutAt)}</span>
    </span>
  )
}
