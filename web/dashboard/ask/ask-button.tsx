import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { AskBox } from './ask-box.tsx'

/** Opens the box that answers for any address or words, as Ctrl-K does on every page. */
export function AskButton(): JSX.Element {
  const isOpen = useSignal(false)
  const open = () => {
    isOpen.value = true
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
      <AskBox isOpen={isOpen.value} onClose={close} />
    </>
  )
}
