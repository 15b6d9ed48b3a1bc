import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { CrawlFields, FieldProblems } from './crawl-form.ts'

/** The signals that all fields of the form share. */
export interface SharedFields {
  readonly fields: Signal<CrawlFields>
  readonly problems: Signal<FieldProblems>
}

/** The attributes that every kind of input element needs. */
interface FieldProps {
  readonly id: string
  readonly name: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void
}

/** The width of a field in its row. */
type FieldSize = 'wide' | 'middle' | 'short'

/** A field with its label and its error message. */
interface FieldInput extends SharedFields {
  readonly name: keyof CrawlFields
  readonly label: string
  readonly note?: string
  readonly size?: FieldSize
  readonly children: (props: FieldProps) => ComponentChildren
}

/** Renders a label, an input element and the error message below it. */
export function Field({ fields, problems, name, label, note, size, children }: FieldInput): JSX.Element {
  const id = useId()
  const problem = problems.value[name]
  return (
    <div class={`field ${size ?? ''}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        'aria-invalid': problem !== undefined,
        'aria-describedby': `${id}-note`,
        onInput: (event) => {
          fields.value = { ...fields.value, [name]: event.currentTarget.value }
          problems.value = without(problems.value, name)
        },
      })}
      <p id={`${id}-note`} class={problem === undefined ? 'field-note' : 'field-problem'}>
        {problem ?? note ?? ''}
      </p>
    </div>
  )
}

/** A text field. */
interface TextInput extends SharedFields {
  readonly name: 'startUrl' | (keyof CrawlFields & string)
  readonly label: string
  readonly note?: string
  readonly placeholder?: string
  readonly inputMode?: 'url' | 'numeric'
  readonly size?: FieldSize
}

/** Renders a text field. */
export function TextField({ placeholder, inputMode, ...field }: TextInput): JSX.Element {
  return (
    <Field {...field}>
      {(props) => (
        <input
          {...props}
          type="text"
          autocomplete="off"
          spellcheck={false}
          inputMode={inputMode ?? 'text'}
          placeholder={placeholder ?? ''}
          value={String(field.fields.value[field.name])}
        />
      )}
    </Field>
  )
}

type Flag = 'useSitemap' | 'sitemapOnly' | 'allowQueryUrls' | 'isComplete' | 'slow' | 'force'

/** Renders a check box. */
export function CheckField(
  props: SharedFields & {
    readonly name: Flag
    readonly label: string
    readonly note?: string
    readonly onChange?: () => void
  },
): JSX.Element {
  const { fields, problems, name, label, note, onChange } = props
  const id = useId()
  const problem = problems.value[name]
  return (
    <div class="check-field">
      <label class="check">
        <input
          type="checkbox"
          name={name}
          checked={fields.value[name]}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-note`}
          onInput={(event) => {
            fields.value = { ...fields.value, [name]: event.currentTarget.checked }
            problems.value = without(problems.value, name)
            onChange?.()
          }}
        />
        {label}
      </label>
      <p id={`${id}-note`} class={problem === undefined ? 'field-note' : 'field-problem'}>
        {problem ?? note ?? ''}
      </p>
    </div>
  )
}

function without(problems: FieldProblems, name: keyof CrawlFields): FieldProblems {
  const { [name]: _, ...others } = problems
  return others
}
