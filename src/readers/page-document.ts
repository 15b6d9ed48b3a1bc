import type { Page } from '../core/model.ts'
import { countLinks } from '../core/url/count-links.ts'
import { documentId, type ReaderDocument } from './document.ts'

/** Facts about how a page was read. */
export interface PageFacts {
  /** The requested URL; the page may have another. */
  readonly url: string
  /** 0 when unknown. */
  readonly status: number
  /** When it was read, in milliseconds since 1970. */
  readonly readAt: number
}

/** Turns a page into a document. */
export function createPageDocument(page: Page, { url, status, readAt }: PageFacts): ReaderDocument {
  const links = countLinks(page)
  return {
    id: documentId(url),
    text: page.markdown,
    metadata: {
      source: url,
      source_url: url,
      title: page.title,
      description: page.description ?? '',
      status_code: status,
      crawl_timestamp: new Date(readAt).toISOString(),
      internal_links_count: links.internal,
      external_links_count: links.external,
      source_type: 'web_crawl',
    },
  }
}
