// Generates load for a server, in its own process, so that it is not measured with the server.
//
//   node load.mjs streams <origin> <readers> <stuck>      runs until its input closes, then prints the delay of events
//   node load.mjs search <origin> <connections> <rounds>  reads queries from its input, one per line
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { Agent, request } from 'undici'
import { quantile } from '../measure.mjs'

const [mode, origin, ...numbers] = process.argv.slice(2)
const [first, second] = numbers.map(Number)
/** Number of searches before the measurement. */
const WARM_UP = 50
const dispatcher = new Agent({ connections: 4000, pipelining: 1, bodyTimeout: 0, headersTimeout: 60_000 })
if (mode === 'streams') await watch(first, second)
else await search(first, second)

async function watch(readers, stuck) {
  const delays = []
  const received = { bytes: 0 }
  const aborting = new AbortController()
  for (let i = 0; i < stuck; i++) await openStuck()
  for (let i = 0; i < readers; i += 50) {
    await Promise.all(Array.from({ length: Math.min(50, readers - i) }, () => read(delays, received, aborting.signal)))
  }
  console.log('ready')
  // A byte from the parent resets the measurements made while the clients connected.
  process.stdin.on('data', () => {
    delays.length = 0
    received.bytes = 0
  })
  await new Promise((resolve) => process.stdin.on('end', resolve))
  const summary = {
    parts: delays.length,
    megabytes: received.bytes / 1e6,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    max: quantile(delays, 1),
  }
  console.log(JSON.stringify(summary))
  process.exit()
}

/** Subscribes to events and reads none. */
function openStuck() {
  const { port, hostname } = new URL(origin)
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname }, () => {
      socket.write(`GET /events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`, resolve)
    })
    socket.on('error', reject)
    socket.pause()
  })
}

/** Reads events, and records the delay of the first event of each part. */
async function read(delays, received, signal) {
  const { body } = await request(`${origin}/events`, { dispatcher, signal })
  body.on('error', () => undefined)
  body.on('data', (data) => {
    received.bytes += data.length
    const at = data.indexOf('"ts":"')
    if (at < 0) return
    delays.push(Date.now() - Date.parse(data.toString('latin1', at + 6, at + 30)))
  })
}

async function search(connections, rounds) {
  const queries = (await text(process.stdin)).split('\n').filter((query) => query !== '')
  const sequence = Array.from({ length: rounds }, () => queries).flat()
  const ask = async (query) => {
    const began = performance.now()
    const { statusCode, body } = await request(`${origin}/api/search?q=${encodeURIComponent(query)}`, { dispatcher })
    const answer = await body.json()
    if (statusCode !== 200) throw new Error(`${statusCode}: ${JSON.stringify(answer)}`)
    return { ms: performance.now() - began, passages: answer.passages.length }
  }
  // Warms up, so that the server has loaded its modules.
  for (const query of queries.slice(0, WARM_UP)) await ask(query)
  const times = []
  let found = 0
  let next = 0
  const began = performance.now()
  const worker = async () => {
    while (next < sequence.length) {
      const { ms, passages } = await ask(sequence[next++])
      times.push(ms)
      found += passages > 0 ? 1 : 0
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - began) / 1000
  const share = found / times.length
  console.log(
    JSON.stringify({
      perSecond: times.length / seconds,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      share,
      requestCount: times.length + Math.min(queries.length, WARM_UP),
    }),
  )
  process.exit()
}
