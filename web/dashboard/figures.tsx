import type { JSX } from 'preact'

/** Figures with their labels, each with the class of its tone. */
export function Figures(props: {
  readonly of: readonly (readonly [label: string, value: string, tone?: string])[]
}): JSX.Element {
  return (
    <dl class="figures">
      {props.of.map(([label, value, tone = '']) => (
        <div key={label} class={tone}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
