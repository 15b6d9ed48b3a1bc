/** A crawl by its id and its row number. */
export interface CrawlRef {
  readonly id: string
  readonly number: number
}
