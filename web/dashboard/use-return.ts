import { type Signal, useSignalEffect } from '@preact/signals'
import { libraryTrouble } from './library-trouble.ts'
import { connection } from './live.ts'
import { isLibraryTrouble, type Refusal } from './request.ts'

/** Forgets that the server, or the library, could not be reached when it is back. */
export function useReturn(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    const isBack = connection.value === 'open' && libraryTrouble.value === null
    const code = refusal.peek()?.code ?? ''
    if (isBack && (code === 'UNREACHABLE' || isLibraryTrouble(code))) refusal.value = null
  })
}
