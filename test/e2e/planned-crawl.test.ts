import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellWord } from '../../src/cli/terminal.ts'
import { copyCountries } from '../gazetteer/world.ts'
import { locateLibrary } from '../library-location.ts'
import { openSite, page, type Site } from '../sites/site.ts'
import { ProgramSandbox } from './program.ts'

/** Countries with a hub on the site: enough to learn the pattern of their addresses. */
const HUB_COUNTRIES = ['france', 'japan', 'brazil', 'kenya', 'peru', 'norway']
/** Countries that the site links to, but whose hubs are missing. */
const MISSING_COUNTRIES = 'chad mali niger togo benin ghana gabon sudan egypt libya qatar oman'.split(' ')
const STORIES = ['/story-one', '/story-two', '/story-three', '/story-four', '/story-five']

const sandbox = new ProgramSandbox()
let libraryWithoutPlaces: string
let libraryWithPlaces: string
let site: Site
let host = ''

beforeAll(async () => {
  libraryWithoutPlaces = await locateLibrary(sandbox.path('bare.db'))
  libraryWithPlaces = await locateLibrary(sandbox.path('world.db'))
  const hubs = HUB_COUNTRIES.map((slug) => `/world/${slug}`)
  const missing = MISSING_COUNTRIES.map((slug) => `/world/${slug}`)
  site = await openSite({
    '/': page('Front', ['/world', ...hubs, '/old']),
    '/world': page('World', [...hubs, ...missing]),
    '/old': { status: 301, headers: { location: '/world' } },
    ...Object.fromEntries(hubs.map((path) => [path, page(`News from ${path}`, [...hubs, ...STORIES])])),
    // The stories link to /world/china, which the plan has tried before it reads the stories.
    ...Object.fromEntries(STORIES.map((path) => [path, page(path, ['/world/china'])])),
  })
  host = new URL(site.origin).host
  await copyCountries(libraryWithPlaces)
})

afterAll(async () => {
  await site.close()
  sandbox.remove()
})

function pharos(library: string, ...args: readonly string[]) {
  return sandbox.runInProcess([...args, '--library', library])
}

const add = (library: string, ...args: readonly string[]) =>
  pharos(library, 'add', `${site.origin}/`, '--allow-private', ...args)

test('a refused history crawl adds no new site, and lists the missing milestones of a crawled site', async () => {
  const refused = await add(libraryWithoutPlaces, '--crawl-type', 'history')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('crawl it with --crawl-type intelligent first')
  expect((await pharos(libraryWithoutPlaces, 'list', '--json')).stdout).toContain('"sources":[]')

  const planned = await add(libraryWithoutPlaces, '--crawl-type', 'intelligent')
  expect(planned.code, planned.stderr).toBe(0)
  // Without places the program says how to import them, because the plan needs them.
  expect(planned.stderr).toContain(
    `there are no places yet; import them: pharos gazetteer import --library ${shellWord(libraryWithoutPlaces)}\n`,
  )
  expect(planned.stderr).toContain('no-hubs-seeded: ')
  expect(planned.stderr).not.toContain('[plan]')

  const again = await pharos(libraryWithoutPlaces, 'recrawl', host, '--allow-private', '--crawl-type', 'history')
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('milestones not reached: full-understanding, depth2-coverage, articles-identified-1k'),
  ])
})

test('--force applies the history type to one run only; the source is stored with crawl type intelligent', async () => {
  const library = await locateLibrary(sandbox.path('forced.db'))
  const forced = await add(library, '--crawl-type', 'history', '--force', '--json')
  expect(forced.code, forced.stderr).toBe(0)
  const { stdout } = await pharos(library, 'list', '--json')
  expect(JSON.parse(stdout).sources).toMatchObject([{ settings: { crawlType: 'intelligent' } }])
})

test('an option that does not apply to the crawl type, or is out of range, is refused', async () => {
  for (const [args, problem] of [
    [['--hub-max-pages', '3'], '--hub-max-pages is for --crawl-type intelligent or history, and this crawl is docs'],
    [['--crawl-type', 'basic', '--planner-verbosity', '0'], '--planner-verbosity is for --crawl-type intelligent'],
    [['--crawl-type', 'intelligent', '--force'], '--force is for --crawl-type history'],
    [['--crawl-type', 'intelligent', '--planner-verbosity', '4'], 'expected a whole number from 0 to 3, got "4"'],
  ] as const) {
    const { code, stderr } = await add(sandbox.path('none.db'), ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  }
})

test('--planner-verbosity 2 reports the steps of the plan, and status reports what was understood', async () => {
  const args = ['--crawl-type', 'intelligent', '--planner-verbosity', '2']
  const { code, stdout, stderr } = await add(libraryWithPlaces, ...args)
  expect(code, stderr).toBe(0)
  expect(stderr).not.toContain('there are no places')
  expect(stderr).toContain('[plan] /world/{country}')
  // The milestone is printed once, not a second time as a step of the plan.
  expect(stderr.match(/patterns of addresses are known/g)).toHaveLength(1)
  // Only some of the problems are listed.
  expect(stderr.match(/^missing-hub: the site links to /gm)).toHaveLength(10)
  expect(stderr).toContain(
    `\nand 3 more problems: pharos serve --allow-private --library ${shellWord(libraryWithPlaces)} shows all of them, at /problems/ssr\n`,
  )
  // The table and the run report the same numbers for one crawl.
  expect(stdout).toContain('\n  failed      13  13 not-found\n')
  expect(stdout).toContain(' 13 failed, ')

  const status = await pharos(libraryWithPlaces, 'status', host)
  expect(status.stdout).toMatch(
    /\nUnderstood: 6 of 250 countries have a hub and 244 have none, 13 expected hubs are missing, \d+ patterns of addresses\n/,
  )
  const forced = await pharos(libraryWithPlaces, 'recrawl', host, '--allow-private', '--force')
  expect([forced.code, forced.stderr]).toEqual([2, expect.stringContaining('and this crawl is intelligent')])

  expect(await sandbox.run(['analyze', '--library', libraryWithPlaces])).toMatchObject({ code: 0 })
  const hub = (await pharos(libraryWithPlaces, 'explain', host, '/world/france')).stdout
  expect(hub).toMatch(/\nPage: navigation, mainly links to other pages, \d+ % sure\nPlaces: France/)
  const redirect = (await pharos(libraryWithPlaces, 'explain', host, '/old')).stdout
  expect(redirect).toContain(`Alias: ${site.origin}/world (redirect, 301; exists)`)
})
