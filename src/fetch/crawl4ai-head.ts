import { readMetadata } from '../core/extract/metadata.ts'
import { surveyDocument } from '../core/extract/survey.ts'
import { parseHtml } from '../core/html/parse-html.ts'
import type { CrawledPage } from './crawl4ai-client.ts'

/** Length of a document's start that is searched for its head. */
const MOST_HEAD = 200_000

/**
 * Writes the metadata of a page's head as response headers, where the reader of Markdown looks for them: robots rules, canonical URL,
 * language.
 */
export function describeHead({ html, headers, url }: CrawledPage): Record<string, string> {
  const head = surveyDocument(parseHtml(html.slice(0, MOST_HEAD)))
  const { robots, canonical, language } = readMetadata(head, url, headers)
  const asked = [...(robots.index ? [] : ['noindex']), ...(robots.follow ? [] : ['nofollow'])]
  return {
    'content-type': 'text/markdown; charset=utf-8',
    ...(asked.length === 0 ? {} : { 'x-robots-tag': asked.join(', ') }),
    ...(canonical === null ? {} : { link: `<${canonical}>; rel="canonical"` }),
    ...(language === null ? {} : { 'content-language': language }),
  }
}
