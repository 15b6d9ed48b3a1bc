import { effect, type Signal, signal } from '@preact/signals'
import { endedCount } from './live.ts'
import { request } from './request.ts'

/** The local page cannot ask the server, so it reads the last answer from here. */
const KEY = 'pharos-findings'

/** Whether the library has places, hubs or analysis runs, so that the navigation has an entry for them. */
export const hasFindings: Signal<boolean> = signal(readStored())

effect(() => {
  endedCount.value
  void request<{ readonly hasFindings: boolean }>('/api/status').then((answer) => {
    if (!('value' in answer)) return
    hasFindings.value = answer.value.hasFindings
    try {
      localStorage.setItem(KEY, hasFindings.value ? '1' : '')
    } catch {
      // Storage can be disabled.
    }
  })
})

function readStored(): boolean {
  try {
    return localStorage.getItem(KEY) === '1'
  } catch {
    return false
  }
}
