import type { JSX } from 'preact'

/** The options of a select field, each as its value and its label. */
export function Options({ of }: { readonly of: readonly (readonly [value: string, label: string])[] }): JSX.Element {
  return (
    <>
      {of.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  )
}
