import { indexElements } from '../core/extract/element-index.ts'
import { readMetadata } from '../core/extract/metadata.ts'
import { parseHtml } from '../core/html/parse-html.ts'
import type { CrawledPage } from './crawl4ai-client.ts'

/** Length of a document's start that is searched for its head. */
const MAX_HEAD_LENGTH = 200_000

/**
 * Writes the metadata of a page's head as response headers, because that is where the Markdown reader looks for it: robots rules, canonical
 * URL, language.
 */
export function describeHead({ html, headers, url }: CrawledPage): Record<string, string> {
  const head = indexElements(parseHtml(html.slice(0, MAX_HEAD_LENGTH)))
  const { robots, canonical, language } = readMetadata(head, url, headers)
  const directives = [...(robots.index ? [] : ['noindex']), ...(robots.follow ? [] : ['nofollow'])]
  return {
    'content-type': 'text/markdown; charset=utf-8',
    ...(directives.length === 0 ? {} : { 'x-robots-tag': directives.join(', ') }),
    ...(canonical === null ? {} : { link: `<${canonical}>; rel="canonical"` }),
    ...(language === null ? {} : { 'content-language': language }),
  }
}
