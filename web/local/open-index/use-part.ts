import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { STEP } from '../parts/long-list.tsx'
import { type Told, tell } from '../trouble.ts'
import type { Part, Total } from '../work/operations.ts'

/** A part of a long list, and what was asked for. */
export interface PartOf<T> {
  readonly match: Signal<string>
  readonly answer: T | null
  readonly trouble: Told | null
  readonly onMore: () => void
}

/** Reads the beginning of a list, more of it when asked, and only what has the letters that are typed. */
export function usePart<T extends Total>(read: (part: Part) => Promise<T>): PartOf<T> {
  const match = useSignal('')
  const most = useSignal(STEP)
  const answer = useSignal<T | null>(null)
  const trouble = useSignal<Told | null>(null)
  /** Only the answer to the last question counts. */
  const asked = useRef(0)
  useEffect(() => {
    const number = ++asked.current
    read({ match: match.value, most: most.value }).then(
      (value) => {
        if (number !== asked.current) return
        answer.value = value
        trouble.value = null
      },
      (error: unknown) => {
        if (number === asked.current) trouble.value = tell(error)
      },
    )
  }, [match.value, most.value])
  return {
    match,
    answer: answer.value,
    trouble: trouble.value,
    onMore: () => {
      most.value += STEP
    },
  }
}
