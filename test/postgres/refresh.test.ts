import { existsSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { type ServerProcess, startServer, until } from '../e2e/server.ts'
import { createLibrary } from './databases.ts'

const EVERY_MS = 1500
const MIN_CRAWLS = 2

let sandbox: ProgramSandbox
let site: LocalSite
let servers: ServerProcess[]

beforeEach(async () => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  site = await LocalSite.open({})
  servers = []
})

afterEach(async () => {
  for (const server of servers) server.kill('SIGKILL')
  await Promise.all(servers.map(({ ended }) => ended))
  await site.close()
  sandbox.remove()
})

test('two servers on one library refresh each source once per interval, and one goes on if the other is killed', async () => {
  const address = await createLibrary()
  const environment = { PHAROS_LIBRARY: address, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  const names = ['one', 'two']
  for (const name of names) {
    site.pages.set(`/${name}/`, writePage(name, [`/${name}/more`]))
    site.pages.set(`/${name}/more`, writePage(`more of ${name}`))
    const { code } = await sandbox.runInProcess(['add', `${site.origin}/${name}/`, '--name', name], environment)
    expect(code).toBe(0)
  }
  const library = await openLibrary({ path: address, version: '0.0.0', embed: false })
  closeLater(() => library.close())
  const { store } = library
  const listCrawls = async () => {
    const sources = await store.listSources()
    const lists = await Promise.all(sources.map(({ id }) => store.listCrawls(id, 1000)))
    return lists.map((crawls) => crawls.filter(({ kind }) => kind === 'recrawl').reverse())
  }
  const start = async () => {
    const server = await startServer(sandbox, ['--library', address, '--max-crawls', '2', '--quiet'], environment)
    servers.push(server)
    return server
  }
  const [first] = await Promise.all([start(), start()])
  // Shorter than any user may ask for, so that the test need not wait.
  for (const { id } of await store.listSources()) {
    const dueAt = library.clock.now()
    await store.updateSource(id, { refresh: { everyMs: EVERY_MS, dueAt, attempts: 0, problem: null } })
  }
  await until(listCrawls, (all) => all.every((crawls) => crawls.length >= MIN_CRAWLS))
  first.kill('SIGKILL')
  await first.ended
  servers.splice(servers.indexOf(first), 1)
  const counts = (await listCrawls()).map(({ length }) => length)
  await until(listCrawls, (all) => all.every((crawls, i) => crawls.length >= (counts[i] ?? 0) + MIN_CRAWLS))
  for (const { id } of await store.listSources()) await store.updateSource(id, { refresh: null })
  for (const crawls of await listCrawls()) {
    for (const [i, { startedAt }] of crawls.slice(1).entries()) {
      const before = crawls[i]
      // A crawl that was killed with its server may be resumed, but nothing begins before the interval is over.
      if (before?.state === 'completed') expect(startedAt - (before.endedAt ?? 0)).toBeGreaterThanOrEqual(EVERY_MS)
    }
  }
})
