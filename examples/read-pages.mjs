// Reads pages as documents with stable ids for further processing: with Pharos itself, then with a Crawl4AI service.
//
// CRAWL4AI_URL names your service. Without it, the strict test double is started on this machine.
import { strict as assert } from 'node:assert'
import { openCrawl4AIReader, openPharosReader, readConfig, readerOptionsOf } from 'pharos/node'
import { openDemoSite } from '../dist/cli/demo-site.js'
import { openCrawl4AIServer } from '../test/connectors/servers/crawl4ai.ts'

const { CRAWL4AI_URL } = process.env
const demo = await openDemoSite()
const service = CRAWL4AI_URL === undefined ? await openCrawl4AIServer() : undefined
const site = demo.origin

try {
  const reader = await openPharosReader({ allowPrivate: ['127.0.0.1'] })
  const urls = [`${site}/guide/install`, `${site}/guide/nothing`, `${site}/internal/roadmap`]
  const slots = await reader.loadAll(urls)
  for (const [i, document] of slots.entries()) console.log(urls[i], document?.metadata.title ?? 'was not read')
  for (const { error } of reader.lastFailures) console.log(`${error.message}: ${error.entry.advice}`)
  await reader.close()

  assert.deepEqual(
    slots.map((slot) => slot?.metadata.title ?? null),
    ['Install Lanternfish', null, null],
  )
  assert.match(slots[0].id, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  assert.equal(Object.keys(slots[0].metadata).length, 9)

  // Reads the settings of a service like the command line: pharos.config.json, PHAROS_CRAWL4AI_ENDPOINT and so on.
  const environment = { PHAROS_CRAWL4AI_ENDPOINT: CRAWL4AI_URL ?? service.origin, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  const { values } = readConfig({ environment, file: 'none' })
  const crawl4ai = await openCrawl4AIReader({ ...readerOptionsOf(values), failOnError: true })
  const [install] = await crawl4ai.loadData([`${site}/guide/install`])
  const refusal = await crawl4ai.loadData(['http://169.254.169.254/latest']).catch((error) => error)
  await crawl4ai.close()

  assert.equal(install.id, slots[0].id)
  assert.equal(refusal.code, 'READ_FAILED')
  console.log(`${refusal.message}: ${refusal.entry.advice}`)
} finally {
  await service?.close()
  await demo.close()
}
