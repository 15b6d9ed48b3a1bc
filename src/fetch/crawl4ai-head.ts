import { readMetadata } from '../core/extract/metadata.ts'
import { surveyDocument } from '../core/extract/survey.ts'
import { parseHtml } from '../core/html/parse-html.ts'
import type { CrawledPage } from './crawl4ai-client.ts'

/** Characters of a document in which its head is looked for. */
const MOST_HEAD = 200_000

/**
 * Writes what the head of a page says as the fields of an answer, which is where it is looked for in Markdown: whether the page may
 * be indexed and its links followed, what its proper address is, its language.
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
