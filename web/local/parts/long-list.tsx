import type { ComponentChildren, JSX, Key } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'

/** The beginning of a list that may be far longer than anybody reads. */
export interface LongListInput<T> {
  readonly items: readonly T[]
  /** How many there are in all. */
  readonly total: number
  /** What one of them is called. */
  readonly noun: string
  readonly keyOf: (item: T) => Key
  readonly onMore: () => void
  readonly children: (item: T) => ComponentChildren
}

/** So many more at a time: as many as are drawn without anybody waiting for it. */
export const STEP = 100

/** What is there of it, and a way to more. */
export function LongList<T>({ items, total, noun, keyOf, onMore, children }: LongListInput<T>): JSX.Element {
  const left = total - items.length
  return (
    <>
      <ul class="rows panel">
        {items.map((item) => (
          <li key={keyOf(item)}>{children(item)}</li>
        ))}
      </ul>
      {left <= 0 ? null : (
        <p class="more">
          <button type="button" onClick={onMore}>
            Show more
          </button>{' '}
          <span class="quiet small">{countOf(left, noun)} not shown yet</span>
        </p>
      )}
    </>
  )
}
