import type { JSX } from 'preact'

/** A link to a page outside the dashboard. */
interface ExternalLinkInput {
  readonly url: string
  /** The text of the link. Defaults to the address. */
  readonly words?: string
  readonly class?: string
}

/** Links to an external page. Only http and https addresses become links, because a site controls the addresses of its pages. */
export function ExternalLink({ url, words = '', class: look = '' }: ExternalLinkInput): JSX.Element {
  const shown = words === '' ? url : words
  if (!WEB_URL.test(url)) return <span title={url}>{shown}</span>
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
}: ExternalLinkInput & { readonly source: string }): JSX.Element {
  if (WEB_URL.test(url)) return <ExternalLink url={url} words={words} class={look} />
  const [address = url] = url.split(/#L\d/)
  const query = `explain=${encodeURIComponent(address)}`
  return (
    <a class={look} href={`#/sources/${encodeURIComponent(source)}?${query}`} title={url}>
      {words === '' ? url : words}
    </a>
  )
}

const WEB_URL = /^https?:\/\//i
