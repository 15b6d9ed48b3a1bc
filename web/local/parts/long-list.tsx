import type { ComponentChildren, JSX, Key } from 'preact'
import { useRef } from 'preact/hooks'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'

/** One page of a list that can be very long. */
export interface LongListInput<T> {
  readonly page: {
    readonly items: readonly T[]
    /** The index of the first entry. */
    readonly from: number
    /** The total number of entries. */
    readonly total: number
  }
  /** The noun for one entry. */
  readonly noun: string
  readonly keyOf: (item: T) => Key
  /** Called to show the page that starts at an index. */
  readonly onMove: (from: number) => void
  /** An entry, and the one before it on the page. */
  readonly children: (item: T, before: T | undefined) => ComponentChildren
}

/** Page size: small enough to render without a noticeable delay. */
export const PAGE_SIZE = 100

/** Shows one page of a list, with buttons for the others. */
export function LongList<T>({ page, noun, keyOf, onMove, children }: LongListInput<T>): JSX.Element {
  const list = useRef<HTMLUListElement>(null)
  const top = useRef<HTMLParagraphElement>(null)
  const { items, from, total } = page
  const rows = (
    <ul class="rows panel" ref={list} tabIndex={-1} aria-label={`${countOf(total, noun)}, from number ${from + 1}`}>
      {items.map((item, i) => (
        <li key={keyOf(item)}>{children(item, items[i - 1])}</li>
      ))}
    </ul>
  )
  if (total <= PAGE_SIZE) return rows
  const range = `${writeNumber(from + 1)}–${writeNumber(from + items.length)} of ${countOf(total, noun)}`
  const position = { from, total, noun }
  return (
    <>
      <p class="pages" ref={top}>
        <PageButtons {...position} onMove={onMove} />{' '}
        <span class="quiet small" role="status" id="list-range">
          {range}
        </span>
      </p>
      {rows}
      <p class="pages">
        <PageButtons
          {...position}
          onMove={(to) => {
            onMove(to)
            // Moves the focus and the scroll position to the top of the new page.
            list.current?.focus({ preventScroll: true })
            top.current?.scrollIntoView({ block: 'center' })
          }}
        />{' '}
        <span class="quiet small">{range}</span>
      </p>
    </>
  )
}

interface PageButtonsInput {
  readonly from: number
  readonly total: number
  readonly noun: string
  readonly onMove: (from: number) => void
}

function PageButtons({ from, total, noun, onMove }: PageButtonsInput): JSX.Element {
  const button = (label: string, to: number, isEnabled: boolean) => (
    <button
      type="button"
      class={isEnabled ? '' : 'quiet'}
      aria-label={`${label} ${noun}s`}
      // `disabled` would remove the focus from the button.
      aria-disabled={!isEnabled}
      onClick={() => {
        if (isEnabled) onMove(to)
      }}
    >
      {label}
    </button>
  )
  return (
    <>
      {button('Previous', Math.max(0, from - PAGE_SIZE), from > 0)}{' '}
      {button('Next', from + PAGE_SIZE, from + PAGE_SIZE < total)}
    </>
  )
}
