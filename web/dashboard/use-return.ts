import { type Signal, useSignalEffect } from '@preact/signals'
import { libraryTrouble } from './library-trouble.ts'
import { connection } from './live.ts'
import { isLibraryTrouble, type Refusal } from './request.ts'

/** Clears the error of an unreachable server or library when it is back. */
export function useReturn(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    const isBack = connection.value === 'open' && libraryTrouble.value === null
    const code = refusal.peek()?.code ?? ''
    if (isBack && (code === 'UNREACHABLE' || isLibraryTrouble(code))) refusal.value = null
  })
}
