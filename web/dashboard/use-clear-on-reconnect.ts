import { type Signal, useSignalEffect } from '@preact/signals'
import { libraryOutage } from './library-outage.ts'
import { connection } from './live.ts'
import { isLibraryOutage, type Refusal } from './request.ts'

/** Clears the error of an unreachable server or library when it is back. */
export function useClearOnReconnect(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    const isBack = connection.value === 'open' && libraryOutage.value === null
    const code = refusal.peek()?.code ?? ''
    if (isBack && (code === 'UNREACHABLE' || isLibraryOutage(code))) refusal.value = null
  })
}
