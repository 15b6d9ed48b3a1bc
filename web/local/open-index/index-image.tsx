import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { extensionOf } from '../../../src/core/text/path.ts'
import { ask } from '../page-state.ts'

/** The media type depends only on the extension, so that a file can only be rendered as an image, never as a document. */
const TYPES: Readonly<Partial<Record<string, string>>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
}

/** An image of the open index. */
export function IndexImage({ path }: { readonly path: string }): JSX.Element {
  const address = useSignal<string | null>(null)
  const problem = useSignal('')
  useEffect(() => {
    let isUnmounted = false
    const show = async () => {
      const { blob } = await ask('image', { path })
      const type = TYPES[extensionOf(path)]
      if (isUnmounted) return
      if (blob === null || type === undefined) problem.value = 'The index has only the name of this image.'
      else address.value = URL.createObjectURL(blob.slice(0, blob.size, type))
    }
    show().catch(() => {
      problem.value = UNSUPPORTED_MESSAGE
    })
    return () => {
      isUnmounted = true
      if (address.peek() !== null) URL.revokeObjectURL(address.peek() ?? '')
      address.value = null
      problem.value = ''
    }
  }, [path])
  if (problem.value !== '') return <p class="quiet">{problem.value}</p>
  if (address.value === null) return <p class="quiet small">Loading…</p>
  return (
    <img
      class="panel shown-image"
      src={address.value}
      alt={path}
      onError={() => {
        problem.value = UNSUPPORTED_MESSAGE
      }}
    />
  )
}

const UNSUPPORTED_MESSAGE = 'The browser cannot show this image.'
