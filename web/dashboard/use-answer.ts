import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Answer, type Refusal, request } from './request.ts'

/** What a request was answered; both are null until then. */
export interface RequestedAnswer<T> {
  readonly value: T | null
  readonly refusal: Refusal | null
}

/** Requests a path, and again when it changes; nothing while it is null. */
export function useAnswer<T>(path: string | null): RequestedAnswer<T> {
  const answer = useSignal<Answer<T> | null>(null)
  useEffect(() => {
    answer.value = null
    if (path === null) return
    const stop = new AbortController()
    void request<T>(path, { signal: stop.signal }).then((found) => {
      if (!stop.signal.aborted) answer.value = found
    })
    return () => stop.abort()
  }, [path])
  return { value: null, refusal: null, ...answer.value }
}
