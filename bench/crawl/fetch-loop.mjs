// The minimum cost of a crawl: our client fetches known addresses, 16 at once, and ignores the pages.
import { readFileSync } from 'node:fs'
import { parseAllowance } from '../../dist/fetch/addresses.js'
import { openHttpFetcher } from '../../dist/fetch/http.js'

const [list] = process.argv.slice(2)
const urls = readFileSync(list, 'utf8').split('\n')
const { allowance } = parseAllowance(['*'])
const fetcher = openHttpFetcher({ userAgent: 'Pharos/bench', allowance })
await Promise.all(Array.from({ length: 16 }, work))
await fetcher.close()

async function work() {
  for (let url = urls.pop(); url !== undefined; url = urls.pop()) {
    const { type } = await fetcher.fetch({ url })
    if (type !== 'fetched') throw new Error(`${url}: ${type}`)
  }
}
