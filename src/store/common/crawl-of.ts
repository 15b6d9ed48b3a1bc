/** A crawl by its id and by its number. */
export interface CrawlOf {
  readonly id: string
  readonly number: number
}
