import type { ComponentChildren, JSX, Key } from 'preact'
import { useRef } from 'preact/hooks'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'

/** A page of a list that may be far longer than anybody reads. */
export interface LongListInput<T> {
  readonly page: {
    readonly items: readonly T[]
    /** How many come before them. */
    readonly from: number
    /** How many there are in all. */
    readonly total: number
  }
  /** What one of them is called. */
  readonly noun: string
  readonly keyOf: (item: T) => Key
  /** Somebody wants to see those after so many. */
  readonly onMove: (from: number) => void
  readonly children: (item: T) => ComponentChildren
}

/** So many at a time: as many as are drawn without anybody waiting for it, however far down the list. */
export const STEP = 100

/** What is there of it, and the ways to the rest. */
export function LongList<T>({ page, noun, keyOf, onMove, children }: LongListInput<T>): JSX.Element {
  const list = useRef<HTMLUListElement>(null)
  const top = useRef<HTMLParagraphElement>(null)
  const { items, from, total } = page
  const rows = (
    <ul class="rows panel" ref={list} tabIndex={-1} aria-label={`${countOf(total, noun)}, from number ${from + 1}`}>
      {items.map((item) => (
        <li key={keyOf(item)}>{children(item)}</li>
      ))}
    </ul>
  )
  if (total <= STEP) return rows
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
            // Whoever reads on does so from the top.
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
  const button = (label: string, to: number, isThere: boolean) => (
    <button
      type="button"
      class={isThere ? '' : 'quiet'}
      aria-label={`${label} ${noun}s`}
      // Not `disabled`, which would take the focus from whoever pressed it.
      aria-disabled={!isThere}
      onClick={() => {
        if (isThere) onMove(to)
      }}
    >
      {label}
    </button>
  )
  return (
    <>
      {button('Previous', Math.max(0, from - STEP), from > 0)} {button('Next', from + STEP, from + STEP < total)}
    </>
  )
}
