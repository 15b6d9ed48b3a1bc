import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { route } from '../route.ts'
import type { AddSource } from './add-source.tsx'

/** The dialog that adds a source, loaded when it is first opened. */
export function LazyAddSource(props: Parameters<typeof AddSource>[0]): JSX.Element | null {
  const loaded = useSignal<{ readonly Dialog: typeof AddSource } | null>(null)
  useSignalEffect(() => {
    if (route.value.query.get('add') !== '1' || loaded.peek() !== null) return
    void import('./add-source.tsx').then(({ AddSource: Dialog }) => {
      loaded.value = { Dialog }
    })
  })
  return loaded.value === null ? null : <loaded.value.Dialog {...props} />
}
