import type { CrawlHistory } from './crawl-history.ts'
import type { EventStreams } from './events.ts'
import type { ExternalCrawls } from './external-crawls.ts'
import type { Metrics } from './metrics.ts'
import type { HttpPorts } from './ports.ts'
import type { Sessions } from './server/session.ts'

/** Everything that route handlers need to answer a request. */
export interface HttpContext {
  readonly ports: HttpPorts
  readonly metrics: Metrics
  readonly events: EventStreams
  readonly sessions: Sessions
  readonly externalCrawls: ExternalCrawls
  readonly crawlHistory: CrawlHistory
  /** Whether the library has findings about places. */
  readonly hasFindings: () => Promise<boolean>
  /** The OpenAPI description of all routes, built once. */
  readonly openApi: () => Promise<OpenApi>
}

/** The description of all routes: as JSON and as a page. */
export interface OpenApi {
  readonly json: string
  readonly page: string
}
