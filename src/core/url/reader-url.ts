/** A stored page, or lines of it, for its address in the reader of the server. */
export interface ReaderTarget {
  readonly sourceId: string
  /** The address of the page, possibly with an anchor. */
  readonly url: string
  /** Lines to highlight, from 1, inclusive. */
  readonly lines?: { readonly start: number; readonly end: number }
  /** The number of the part of a long page, from 1. */
  readonly part?: number | undefined
  /** The line to begin at, from 1. @default the first of `lines`, or the anchor of the address */
  readonly line?: number
}

/** The address of a stored page in the reader: `/read?source=…&url=…&lines=3-9#L3` */
export function writeReaderUrl({ sourceId, url, lines, part, line = lines?.start }: ReaderTarget): string {
  const query = new URLSearchParams({ source: sourceId, url })
  if (lines !== undefined) query.set('lines', `${lines.start}-${lines.end}`)
  if (part !== undefined) query.set('part', String(part))
  const anchor = readAnchor(url)
  const fragment = line === undefined ? anchor && encodeURIComponent(anchorId(anchor)) : `L${line}`
  return `/read?${query}${fragment === '' ? '' : `#${fragment}`}`
}

/** The id of the element at an anchor of the original page. The prefix keeps it apart from the ids of the reader. */
export function anchorId(anchor: string): string {
  return `at-${anchor}`
}

/** The anchor of an address; empty if there is none. */
export function readAnchor(url: string): string {
  const hash = URL.parse(url)?.hash.slice(1) ?? ''
  try {
    return decodeURIComponent(hash)
  } catch {
    // The fragment is not valid percent-encoding.
    return hash
  }
}
