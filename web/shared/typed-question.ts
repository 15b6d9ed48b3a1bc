import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** The question in a search box, and in the address of the page. */
export interface TypedQuestion {
  readonly typed: Signal<string>
  /** Takes the text of the box, and writes it into the address once the user pauses. */
  readonly type: (text: string) => void
  /** Writes the question into the address at once. */
  readonly ask: () => void
}

/** Where the question is in the address. */
export interface AddressPort {
  /** Reads the question, subscribing to the address. */
  readonly read: () => string
  readonly write: (question: string) => void
  /** Debounce delay for typing. */
  readonly delayMs: number
}

/** Keeps a search box and the address of its page alike: the address follows the box, and the box follows the back and forward buttons. */
export function useTypedQuestion({ read, write, delayMs }: AddressPort): TypedQuestion {
  const typed = useSignal(read())
  const timer = useRef(0)
  /** The question that was last in the address. */
  const asked = useRef(typed.peek())
  useEffect(() => () => clearTimeout(timer.current), [])
  useSignalEffect(() => {
    // This runs after the next frame: by then the user may have typed more than the question that this page wrote into the address.
    const question = read()
    if (question === asked.current) return
    asked.current = question
    typed.value = question
  })
  const ask = () => {
    clearTimeout(timer.current)
    asked.current = typed.peek().trim()
    write(asked.current)
  }
  const type = (text: string) => {
    typed.value = text
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      // Right after the back button, the address has another question than the box.
      if (read() === asked.current) ask()
    }, delayMs)
  }
  return { typed, type, ask }
}
