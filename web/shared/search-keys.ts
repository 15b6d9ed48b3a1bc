import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** `/` focuses the search box. Arrow keys move from the box to the hits, which are links of the class `hit`, and between them. */
export function useSearchKeys(box: RefObject<HTMLInputElement | null>, results: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
      if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
        event.preventDefault()
        box.current?.focus()
        box.current?.select()
      }
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
      if (isTyping && event.target !== box.current) return
      moveFocus(event, results.current, box.current)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Moves the focus from the box to the first hit, between hits, and back. */
function moveFocus(event: KeyboardEvent, results: HTMLElement | null, box: HTMLElement | null): void {
  const hits = [...(results?.querySelectorAll<HTMLElement>('a.hit') ?? [])]
  if (hits.length === 0) return
  const at = hits.findIndex((hit) => hit.matches(':focus'))
  const next = at + (event.key === 'ArrowDown' ? 1 : -1)
  if (at === -1 && event.key === 'ArrowUp') return
  event.preventDefault()
  const target = next < 0 ? box : hits[Math.min(next, hits.length - 1)]
  target?.focus()
  target?.closest('.passage, li')?.scrollIntoView({ block: 'nearest' })
}
