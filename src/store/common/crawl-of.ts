/** A crawl by its id and its row number. */
export interface CrawlOf {
  readonly id: string
  readonly number: number
}
