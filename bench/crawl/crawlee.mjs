// Crawlee in the crawl benchmark: follows every link on the start host and converts each page to Markdown.
import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio'
import TurndownService from 'turndown'

const [start] = process.argv.slice(2)
const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
log.setLevel(log.LEVELS.ERROR)
const crawler = new CheerioCrawler(
  {
    minConcurrency: 16,
    maxConcurrency: 16,
    respectRobotsTxtFile: true,
    async requestHandler({ $, enqueueLinks }) {
      turndown.turndown($('body').html() ?? '')
      await enqueueLinks({ strategy: 'same-hostname' })
    },
  },
  new Configuration({ persistStorage: false }),
)
await crawler.run([start])
