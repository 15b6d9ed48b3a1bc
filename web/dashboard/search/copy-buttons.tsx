import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** How long a button says that it has copied. */
const CONFIRMATION_MS = 1500

/** Buttons that copy something in several forms, by their names. */
export function CopyButtons({ forms }: { readonly forms: Readonly<Record<string, string>> }): JSX.Element {
  const copied = useSignal<string | null>(null)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (name: string, text: string) => {
    copied.value = (await copyText(text)) ? name : null
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      copied.value = null
    }, CONFIRMATION_MS)
  }
  return (
    <span class="copies">
      <span aria-hidden="true">Copy as</span>
      {Object.entries(forms).map(([name, text]) => (
        <button
          key={name}
          type="button"
          class="link"
          aria-label={`Copy as ${name}`}
          onClick={() => void copy(name, text)}
        >
          {copied.value === name ? '✓ copied' : name}
        </button>
      ))}
      <span class="unseen" role="status">
        {copied.value === null ? '' : `Copied as ${copied.value}`}
      </span>
    </span>
  )
}

/** Copies a text. On a page without TLS that is not of this machine, browsers have only the old way. */
async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}
