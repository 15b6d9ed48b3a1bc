import type { JSX, RefObject } from 'preact'
import type { TypedQuestion } from './typed-question.ts'

/** The box of a search, and its attributes. */
interface SearchFormInput {
  readonly question: TypedQuestion
  readonly box: RefObject<HTMLInputElement | null>
  readonly label: string
  readonly placeholder: string
}

/** The box of a search, which answers while the user types. */
export function SearchForm({ question: { typed, type, ask }, box, label, placeholder }: SearchFormInput): JSX.Element {
  return (
    <form
      class="search-form"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <input
        ref={box}
        id="search-box"
        name="q"
        type="search"
        class="search-box"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </form>
  )
}
