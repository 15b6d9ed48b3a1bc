import type { JSX } from 'preact'

/** A link to a page, with its text and style. */
interface ExternalLinkInput {
  readonly url: string
  /** The text of the link. Defaults to the address. */
  readonly words?: string
  readonly class?: string
}

/** Links to an external page. Only http and https addresses become links, because a crawled site could choose a dangerous scheme. */
export function ExternalLink({ url, words = '', class: className = '' }: ExternalLinkInput): JSX.Element {
  const label = words === '' ? url : words
  if (!WEB_URL.test(url)) return <span title={url}>{label}</span>
  return (
    <a class={className} href={url} target="_blank" rel="noopener noreferrer" title={url}>
      {label}
    </a>
  )
}

/** Links to a page or, if its address is not http or https, to its entry in the ledger. */
export function PageLink({
  url,
  source,
  words = '',
  class: className = '',
}: ExternalLinkInput & { readonly source: string }): JSX.Element {
  if (WEB_URL.test(url)) return <ExternalLink url={url} words={words} class={className} />
  const [address = url] = url.split(/#L\d/)
  const query = `explain=${encodeURIComponent(address)}`
  return (
    <a class={className} href={`#/sources/${encodeURIComponent(source)}?${query}`} title={url}>
      {words === '' ? url : words}
    </a>
  )
}

const WEB_URL = /^https?:\/\//i
