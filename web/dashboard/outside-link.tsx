import type { JSX } from 'preact'

/** A link to a page outside the dashboard. */
interface OutsideInput {
  readonly url: string
  /** The text of the link. Defaults to the address. */
  readonly words?: string
  readonly class?: string
}

/** Links to an external page. Only http and https addresses become links, because a site controls the addresses of its pages. */
export function OutsideLink({ url, words = '', class: look = '' }: OutsideInput): JSX.Element {
  const shown = words === '' ? url : words
  if (!IS_WEB.test(url)) return <span title={url}>{shown}</span>
  return (
    <a class={look} href={url} target="_blank" rel="noopener noreferrer" title={url}>
      {shown}
    </a>
  )
}

/** Links to a page or, if its address is not on the web, to its entry in the ledger. */
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
