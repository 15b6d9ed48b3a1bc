import { type Signal, useSignalEffect } from '@preact/signals'
import { connection } from './live.ts'
import type { Refusal } from './request.ts'

/** Forgets that the server could not be reached when it is back. */
export function useReturn(refusal: Signal<Refusal | null>): void {
  useSignalEffect(() => {
    if (connection.value === 'open' && refusal.peek()?.code === 'UNREACHABLE') refusal.value = null
  })
}
