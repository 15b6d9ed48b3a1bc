import type { JSX } from 'preact'

/** The head of a table: the label of each column, and its class. A label of the class `unseen` is for screen readers only. */
export function TableHead(props: {
  readonly columns: readonly (readonly [label: string, look?: string])[]
}): JSX.Element {
  return (
    <thead>
      <tr>
        {props.columns.map(([label, look = '']) => (
          <th key={label} scope="col" class={look === 'unseen' ? '' : look}>
            {look === 'unseen' ? <span class="unseen">{label}</span> : label}
          </th>
        ))}
      </tr>
    </thead>
  )
}
