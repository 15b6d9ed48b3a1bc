import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { FieldProblems, OrderFields } from './crawl-order.ts'

/** What the fields of the form are given. */
export interface SharedFields {
  readonly fields: Signal<OrderFields>
  readonly problems: Signal<FieldProblems>
}

/** What every kind of field needs. */
interface FieldProps {
  readonly id: string
  readonly name: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void
}

/** How much room it takes of its row. */
type FieldSize = 'wide' | 'middle'

/** A field with its label, and what is wrong with it. */
interface FieldInput extends SharedFields {
  readonly name: keyof OrderFields
  readonly label: string
  readonly note?: string
  readonly size?: FieldSize
  readonly children: (props: FieldProps) => ComponentChildren
}

/** Shows one. */
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

/** A field to type into. */
interface TextInput extends SharedFields {
  readonly name: 'startUrl' | (keyof OrderFields & string)
  readonly label: string
  readonly note?: string
  readonly placeholder?: string
  readonly inputMode?: 'url' | 'numeric'
  readonly size?: FieldSize
}

/** Shows one. */
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

/** A box to be checked. */
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

function without(problems: FieldProblems, name: keyof OrderFields): FieldProblems {
  const { [name]: _, ...others } = problems
  return others
}
