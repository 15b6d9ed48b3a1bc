import { useSignal } from '@preact/signals'
import type { ComponentType, JSX } from 'preact'
import { useEffect } from 'preact/hooks'

interface AskBoxProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Opens the box that answers for any address or words, as Ctrl-K does on every page. The box is loaded when it is first opened. */
export function AskButton(): JSX.Element {
  const isOpen = useSignal(false)
  const loaded = useSignal<{ readonly AskBox: ComponentType<AskBoxProps> } | null>(null)
  const open = () => {
    isOpen.value = true
    if (loaded.value !== null) return
    void import('./ask-box.tsx').then(({ AskBox }) => {
      loaded.value = { AskBox }
    })
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const close = () => {
    isOpen.value = false
  }
  return (
    <>
      <button
        type="button"
        class="ask-button"
        aria-label="Search or explain a URL Ctrl K"
        aria-keyshortcuts="Control+K"
        onClick={open}
      >
        <span>Search or explain a URL</span> <kbd>Ctrl K</kbd>
      </button>
      {loaded.value === null ? null : <loaded.value.AskBox isOpen={isOpen.value} onClose={close} />}
    </>
  )
}
