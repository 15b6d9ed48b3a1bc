import { type Signal, useSignal } from '@preact/signals'
import type { Answer, Refusal } from './request.ts'
import { useClearOnReconnect } from './use-clear-on-reconnect.ts'

/** Requests that change something. */
export interface Action {
  readonly isBusy: Signal<boolean>
  /** Why the last request was refused. */
  readonly refusal: Signal<Refusal | null>
  readonly run: <T>(ask: () => Promise<Answer<T>>) => Promise<Answer<T>>
}

/** Runs requests that change something, and keeps whether one runs and why the last one was refused. */
export function useAction(): Action {
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  useClearOnReconnect(refusal)
  const run: Action['run'] = async (ask) => {
    isBusy.value = true
    const answer = await ask()
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    return answer
  }
  return { isBusy, refusal, run }
}
