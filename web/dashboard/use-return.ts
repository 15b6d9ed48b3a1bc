import { type Signal, useSignalEffect } from '@preact/signals'
import { libraryTrouble } from './library-trouble.ts'
import { connection } from './live.ts'
import type { Refusal } from './request.ts'

const AWAY = /^(?:UNREACHABLE|STORE_UNAVAILABLE)$/

/** Forgets that the server, or the library, could not be reached when it is back. */
export function useReturn(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    const isBack = connection.value === 'open' && libraryTrouble.value === null
    if (isBack && AWAY.test(refusal.peek()?.code ?? '')) refusal.value = null
  })
}
