import type { JSX } from 'preact'

/** An address out there. */
interface OutsideInput {
  readonly url: string
  /** What it is called; the address itself where nothing is given. */
  readonly words?: string
  readonly class?: string
}

/** Leads out of the dashboard. Only addresses of the web are links: a site can name its pages as it likes. */
export function OutsideLink({ url, words = '', class: look = '' }: OutsideInput): JSX.Element {
  const shown = words === '' ? url : words
  if (!/^https?:\/\//i.test(url)) return <span title={url}>{shown}</span>
  return (
    <a class={look} href={url} target="_blank" rel="noopener noreferrer" title={url}>
      {shown}
    </a>
  )
}
