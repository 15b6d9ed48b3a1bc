import { once } from 'node:events'
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LocalSite, writePage } from './local-site.ts'
import { NO_BROWSER, PROGRAM, ProgramSandbox } from './program.ts'

// Runs the blocks that the documentation marks with ```sh run, as a reader would: in a folder with ./pharos and ./docs, one page after the
// other. A local site stands for the documented one, which does not exist.

const repository = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENTED_SITE = 'https://docs.example.com'
const ADD = './pharos add https://docs.example.com/guide/ --name guide'

/** The pages of the documentation that have runnable blocks, with these blocks. */
const pages = ['README.md', ...fs.readdirSync(join(repository, 'docs')).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, blocks: readBlocks(fs.readFileSync(join(repository, path), 'utf8')) }))
  .filter(({ blocks }) => blocks.length > 0)

let site: LocalSite
let sandbox: ProgramSandbox

beforeAll(async () => {
  const guides = join(repository, 'demo/site/guide')
  const names = fs.readdirSync(guides)
  const startPage = writePage(
    'Guide',
    names.map((name) => `/guide/${basename(name, '.html')}`),
  )
  const texts = names.map((name) => [
    `/guide/${basename(name, '.html')}`,
    fs.readFileSync(join(guides, name), 'utf8').replace('<head>', '<head><base href="/guide/">'),
  ])
  site = await LocalSite.open({ '/guide/': startPage, ...Object.fromEntries(texts) })
})

afterAll(() => site.close())

beforeEach(() => {
  sandbox = new ProgramSandbox()
  fs.writeFileSync(sandbox.path('pharos'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
    mode: 0o755,
  })
  fs.mkdirSync(sandbox.path('docs'))
  for (const name of ['packs.md', 'INGESTION_SPEC.md']) {
    fs.copyFileSync(join(repository, 'docs', name), sandbox.path(`docs/${name}`))
  }
})

afterEach(() => sandbox.remove())

/** Runs shell lines with the address of the local site in place of the documented one. */
function start(lines: string) {
  const environment = { ...NO_BROWSER, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  return sandbox.start('bash', ['-ec', lines.replaceAll(DOCUMENTED_SITE, site.origin)], environment)
}

describe('the documented commands', () => {
  test('are marked as runnable in the README and in several guides', () => {
    expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/crawling.md']))
    expect(pages.length).toBeGreaterThanOrEqual(5)
  })

  test.each(pages)('the commands of $path end without an error and print something', async ({ blocks }) => {
    if (!blocks.some((block) => block.includes(ADD))) expect(await start(ADD).ended).toMatchObject({ code: 0 })
    for (const block of blocks) {
      if (block === './pharos serve') await checkServer(block)
      else {
        const outcome = await start(block).ended
        expect(outcome, block).toMatchObject({ code: 0, signal: null })
        expect(outcome.stdout, block).not.toBe('')
      }
    }
  })
})

/** Starts a server, opens the dashboard at the address that it prints, and stops it with Ctrl-C. */
async function checkServer(line: string): Promise<void> {
  const { child, ended } = start(`exec ${line}`)
  let printed = ''
  try {
    while (!/http:\S+/.test(printed)) {
      const data = await Promise.race([once(child.stdout, 'data'), ended])
      if (!Array.isArray(data)) throw new Error(`the server ended: ${JSON.stringify(data)}`)
      printed += String(data)
    }
    const [address = ''] = /http:\S+/.exec(printed) ?? []
    expect(await (await fetch(address)).text()).toContain('<title>')
  } finally {
    child.kill('SIGINT')
  }
  expect(await ended).toMatchObject({ code: 0 })
}

function readBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh run\n([\s\S]*?)\n```$/gm)].map(([, block = '']) => block)
}
