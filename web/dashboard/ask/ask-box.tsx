import { useComputed, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { writeAgo } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import { now } from '../clock.ts'
import { type AskAnswer, type AskOption, findAnswer, NO_ANSWER, writeDirectHref } from './find-answer.ts'

/** Debounce delay for typing. */
const DEBOUNCE_MS = 120

/** A box that takes an address or words: it shows the history of an address, and finds words in passages and addresses. */
export function AskBox({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const box = useRef<HTMLInputElement>(null)
  const typed = useSignal('')
  const answer = useSignal<AskAnswer>(NO_ANSWER)
  const active = useSignal(0)
  const options = useComputed(() => answer.value.options)

  // Before the next key is handled, so that no typed letter is lost.
  useLayoutEffect(() => {
    if (!isOpen) dialog.current?.close()
    else if (dialog.current?.open === false) {
      dialog.current.showModal()
      box.current?.select()
    }
  }, [isOpen])
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void findAnswer(typed.value.trim(), stop.signal).then((found) => {
        if (stop.signal.aborted) return
        answer.value = found
        active.value = 0
      })
    }, DEBOUNCE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [typed.value])

  const goTo = (href: string) => {
    onClose()
    location.assign(href)
  }
  const choose = (option: AskOption | undefined) => {
    if (option === undefined) return
    if ('ask' in option) {
      typed.value = option.ask
      box.current?.focus()
      return
    }
    goTo(option.href)
  }
  const onKey = (event: KeyboardEvent) => {
    const { length } = options.value
    if (event.key === 'Enter') {
      event.preventDefault()
      const text = typed.value.trim()
      // The options are still those of an earlier text until the answer to this one arrives.
      if (text === answer.value.text) choose(options.value[active.value])
      else if (text !== '') goTo(writeDirectHref(text))
    }
    if (length === 0 || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    active.value = (active.value + (event.key === 'ArrowDown' ? 1 : length - 1)) % length
    document.getElementById(`ask-${active.value}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog
      ref={dialog}
      class="ask"
      aria-label="Search or explain a URL"
      // A click beside it closes it too.
      {...{ closedby: 'any' }}
      onClose={onClose}
    >
      <input
        ref={box}
        type="text"
        role="combobox"
        aria-label="Address or words"
        aria-expanded={options.value.length > 0}
        aria-controls="ask-options"
        aria-activedescendant={options.value.length > 0 ? `ask-${active.value}` : undefined}
        placeholder="Paste an address to see why it is here or not, or type words"
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value
        }}
        onKeyDown={onKey}
      />
      <AddressHistory answer={answer.value} />
      <div id="ask-options" role="listbox" aria-label="What to open" hidden={options.value.length === 0}>
        {options.value.map((option, i) => (
          <div
            key={`${option.label}${i}`}
            id={`ask-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active.value}
            onMouseMove={() => {
              active.value = i
            }}
            onClick={() => choose(option)}
            onKeyDown={onKey}
          >
            <span class="ask-label">{option.label}</span>
            <span class="quiet small">{option.note}</span>
          </div>
        ))}
      </div>
      <p class="ask-keys quiet small">
        <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close
      </p>
    </dialog>
  )
}

/** What the library knows about the address, in front of everything else. */
function AddressHistory({ answer: { details, problem } }: { readonly answer: AskAnswer }): JSX.Element | null {
  if (problem !== null) {
    return (
      <p class="ask-history" role="status">
        {problem}
      </p>
    )
  }
  if (details === null) return null
  return (
    <section class="ask-history" aria-label="History of the address">
      {details.sources.map(({ source, row, words }) => (
        <p key={source.id} role="status">
          <Pill word={row.state} tone={row.hasPage ? 'good' : row.state === 'failed' ? 'bad' : 'quiet'} />{' '}
          <b>{source.version === null ? source.name : `${source.name}@${source.version}`}</b>:{' '}
          {words.reason ?? words.state}
          {row.pattern === null || row.pattern === '' ? null : (
            <>
              {' '}
              (rule <code>{row.pattern}</code>)
            </>
          )}
        </p>
      ))}
      <ol>
        {details.story.map(({ ts, text, url }, i) => (
          <li key={i}>
            <time dateTime={ts}>{writeAgo(Date.parse(ts), now.value)}</time> It {text}
            {url === null ? '' : `, on ${url}`}.
          </li>
        ))}
      </ol>
    </section>
  )
}
