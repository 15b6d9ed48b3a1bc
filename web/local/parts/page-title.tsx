import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The heading of a view that replaces all others. It takes the focus, because the focused element is gone. */
export function PageTitle(props: { readonly id?: string; readonly children: ComponentChildren }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <h1 ref={heading} id={props.id} tabIndex={-1}>
      {props.children}
    </h1>
  )
}
