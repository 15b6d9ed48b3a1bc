// Serves several hosts on this machine with generated pages, each after a delay; prints their addresses when it listens.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createChunk, createRandom, createWords } from '../corpus.mjs'

const [hosts, pages, links, delayMs, crawlDelay] = process.argv.slice(2).map(Number)
/** Number of text chunks per page. */
const PARTS = 5

const origins = []
for (let host = 1; host <= hosts; host++) origins.push(await openSite(host))
console.log(JSON.stringify(origins))

async function openSite(host) {
  const responses = writePages(host)
  const server = createServer(({ url }, response) => {
    const body = responses.get(url)
    const type = url === '/robots.txt' ? 'text/plain' : 'text/html; charset=utf-8'
    const send = () => response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body ?? 'no')
    if (url === '/robots.txt' || delayMs === 0) send()
    else setTimeout(send, delayMs)
  })
  server.listen(0, `127.0.0.${host}`)
  await once(server, 'listening')
  return `http://127.0.0.${host}:${server.address().port}`
}

function writePages(host) {
  const random = createRandom(host)
  const words = createWords(5000, random)
  const responses = new Map([['/robots.txt', `User-agent: *\n${crawlDelay > 0 ? `Crawl-delay: ${crawlDelay}\n` : ''}`]])
  const paths = Array.from({ length: pages }, (_, at) => (at === 0 ? '/' : `/${at}`))
  for (const [at, path] of paths.entries()) {
    const parts = Array.from({ length: PARTS }, (_, part) => createChunk(at * PARTS + part, words, random))
    const linked = Array.from({ length: links }, (_, link) => paths[(at * links + link + 1) % pages])
    const text = parts.map(({ heading, body }) => `<h2>${heading}</h2><p>${body}</p>`).join('\n')
    const list = linked.map((link) => `<li><a href="${link}">${link}</a></li>`).join('')
    const title = `Page ${at} of host ${host}`
    responses.set(path, `<!doctype html><title>${title}</title><main><h1>${title}</h1>${text}<ul>${list}</ul></main>`)
  }
  return responses
}
