import type { JSX } from 'preact'
import { writeReaderUrl } from '../../src/core/url/reader-url.ts'
import { isWebPageUrl } from '../../src/core/url/tree-url.ts'
import { CutMiddle } from '../shared/cut-middle.tsx'

/** A link to a page, with its text and style. */
interface ExternalLinkInput {
  readonly url: string
  /** The text of the link. Defaults to the address. */
  readonly words?: string
  readonly class?: string
}

/**
 * Links to an external page. Only http and https addresses become links, because a crawled site could choose a dangerous scheme. Files
 * inside an archive have no address that a browser can open.
 */
export function ExternalLink({ url, words = '', class: className = '' }: ExternalLinkInput): JSX.Element {
  const label = words === '' ? url : words
  if (!isWebPageUrl(url)) return <span title={url}>{label}</span>
  return (
    <a class={className} href={url} target="_blank" rel="noopener noreferrer" title={url}>
      {label}
    </a>
  )
}

/** Links to a stored page in the reader; without words by its address, in one line. */
export function PageLink({
  url,
  source,
  words = '',
  class: className = '',
}: ExternalLinkInput & { readonly source: string }): JSX.Element {
  return (
    <a class={className} href={writeReaderUrl({ sourceId: source, url })} title={url}>
      {words === '' ? <CutMiddle text={url} /> : words}
    </a>
  )
}
