import { type Signal, useSignalEffect } from '@preact/signals'
import { libraryTrouble } from './library-trouble.ts'
import { connection } from './live.ts'
import type { Refusal } from './request.ts'

/** Forgets that the server, or the library, could not be reached when it is back. */
export function useReturn(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    const isBack = { UNREACHABLE: connection.value === 'open', STORE_UNAVAILABLE: libraryTrouble.value === null }
    const code = refusal.peek()?.code
    if ((code === 'UNREACHABLE' || code === 'STORE_UNAVAILABLE') && isBack[code]) refusal.value = null
  })
}
