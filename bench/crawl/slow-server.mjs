// Serves a folder over HTTP and delays every response, which nginx cannot. A third argument is the Crawl-delay of its robots.txt in seconds.
// Prints its port when it listens.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [folder, delayMs, crawlDelay] = process.argv.slice(2)
const TYPES = { '.html': 'text/html', '.txt': 'text/plain', '.css': 'text/css', '.svg': 'image/svg+xml' }
const server = createServer(async ({ url }, response) => {
  const { pathname } = new URL(url, 'http://localhost')
  if (crawlDelay !== undefined && pathname === '/robots.txt') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`User-agent: *\nCrawl-delay: ${crawlDelay}\n`)
    return
  }
  const path = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname)
  const [body] = await Promise.all([readFile(join(folder, path)).catch(() => undefined), sleep(Number(delayMs))])
  const type = body === undefined ? 'text/plain' : (TYPES[extname(path)] ?? 'application/octet-stream')
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body ?? 'not found')
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
