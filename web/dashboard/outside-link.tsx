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
  if (!IS_WEB.test(url)) return <span title={url}>{shown}</span>
  return (
    <a class={look} href={url} target="_blank" rel="noopener noreferrer" title={url}>
      {shown}
    </a>
  )
}

/** Leads to a page; to what is known of it, where it is no address of the web. */
export function PageLink({
  url,
  source,
  words = '',
  class: look = '',
}: OutsideInput & { readonly source: string }): JSX.Element {
  if (IS_WEB.test(url)) return <OutsideLink url={url} words={words} class={look} />
  const [address = url] = url.split(/#L\d/)
  const query = `explain=${encodeURIComponent(address)}`
  return (
    <a class={look} href={`#/sources/${encodeURIComponent(source)}?${query}`} title={url}>
      {words === '' ? url : words}
    </a>
  )
}

const IS_WEB = /^https?:\/\//i
