import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellWord } from '../../src/cli/terminal.ts'
import { copyCountries } from '../gazetteer/world.ts'
import { locateLibrary } from '../library-place.ts'
import { openSite, page, type Site } from '../sites/site.ts'
import { ProgramSandbox } from './program.ts'

/** Countries with a hub on the site: enough to learn the pattern of their addresses. */
const THERE = ['france', 'japan', 'brazil', 'kenya', 'peru', 'norway']
/** Countries that the site links to, but whose hubs are missing. */
const NAMED = 'chad mali niger togo benin ghana gabon sudan egypt libya qatar oman'.split(' ')
const STORIES = ['/story-one', '/story-two', '/story-three', '/story-four', '/story-five']

const shop = new ProgramSandbox()
let bare: string
let world: string
let site: Site
let host = ''

beforeAll(async () => {
  bare = await locateLibrary(shop.path('bare.db'))
  world = await locateLibrary(shop.path('world.db'))
  const hubs = THERE.map((slug) => `/world/${slug}`)
  const named = NAMED.map((slug) => `/world/${slug}`)
  site = await openSite({
    '/': page('Front', ['/world', ...hubs, '/old']),
    '/world': page('World', [...hubs, ...named]),
    '/old': { status: 301, headers: { location: '/world' } },
    ...Object.fromEntries(hubs.map((path) => [path, page(`News from ${path}`, [...hubs, ...STORIES])])),
    // The stories link to /world/china, which the plan has tried before it reads them.
    ...Object.fromEntries(STORIES.map((path) => [path, page(path, ['/world/china'])])),
  })
  host = new URL(site.origin).host
  await copyCountries(world)
})

afterAll(async () => {
  await site.close()
  shop.remove()
})

function pharos(library: string, ...args: readonly string[]) {
  return shop.runInProcess([...args, '--library', library])
}

const add = (library: string, ...args: readonly string[]) =>
  pharos(library, 'add', `${site.origin}/`, '--allow-private', ...args)

test('a refused history crawl leaves no source behind, so the advised crawl works, and the history type holds for one crawl', async () => {
  const refused = await add(bare, '--crawl-type', 'history')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('crawl it with --crawl-type intelligent first')
  expect((await pharos(bare, 'list', '--json')).stdout).toContain('"sources":[]')

  const advised = await add(bare, '--crawl-type', 'intelligent')
  expect(advised.code, advised.stderr).toBe(0)
  // Without places the program says how to import them, because the plan needs them.
  expect(advised.stderr).toContain(
    `there are no places yet; import them: pharos gazetteer import --library ${shellWord(bare)}\n`,
  )
  expect(advised.stderr).toContain('no-hubs-seeded: ')
  expect(advised.stderr).not.toContain('[plan]')

  const again = await pharos(bare, 'recrawl', host, '--allow-private', '--crawl-type', 'history')
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('milestones not reached: full-understanding, depth2-coverage, articles-identified-1k'),
  ])
})

test('a forced history crawl is of that type for one run, and its source is stored as intelligent', async () => {
  const library = await locateLibrary(shop.path('forced.db'))
  const forced = await add(library, '--crawl-type', 'history', '--force', '--json')
  expect(forced.code, forced.stderr).toBe(0)
  const { stdout } = await pharos(library, 'list', '--json')
  expect(JSON.parse(stdout).sources).toMatchObject([{ settings: { crawlType: 'intelligent' } }])
})

test('an option without effect is refused', async () => {
  for (const [args, problem] of [
    [['--hub-max-pages', '3'], '--hub-max-pages is for --crawl-type intelligent or history, and this crawl is docs'],
    [['--crawl-type', 'basic', '--planner-verbosity', '0'], '--planner-verbosity is for --crawl-type intelligent'],
    [['--crawl-type', 'intelligent', '--force'], '--force is for --crawl-type history'],
    [['--crawl-type', 'intelligent', '--planner-verbosity', '4'], 'expected a whole number from 0 to 3, got "4"'],
  ] as const) {
    const { code, stderr } = await add(shop.path('none.db'), ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  }
})

test('a plan reports its steps when verbosity asks for it, and the summary reports what was understood', async () => {
  const { code, stdout, stderr } = await add(world, '--crawl-type', 'intelligent', '--planner-verbosity', '2')
  expect(code, stderr).toBe(0)
  expect(stderr).not.toContain('there are no places')
  expect(stderr).toContain('[plan] /world/{country}')
  // The milestone is printed once, not a second time as a step of the plan.
  expect(stderr.match(/patterns of addresses are known/g)).toHaveLength(1)
  // Only some of the problems are listed.
  expect(stderr.match(/^missing-hub: the site names /gm)).toHaveLength(10)
  expect(stderr).toContain(
    `\nand 3 more problems: pharos serve --library ${shellWord(world)} shows all of them, at /problems/ssr\n`,
  )
  // The table and the run report the same numbers for one crawl.
  expect(stdout).toContain('\n  failed      13  13 not-found\n')
  expect(stdout).toContain(' 13 failed, ')

  const status = await pharos(world, 'status', host)
  expect(status.stdout).toMatch(
    /\nUnderstood: 6 of 250 countries have a hub, 13 hubs are missing, \d+ patterns of addresses\n/,
  )
  const stray = await pharos(world, 'recrawl', host, '--allow-private', '--force')
  expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('and this crawl is intelligent')])

  expect(await shop.run(['analyze', '--library', world])).toMatchObject({ code: 0 })
  const hub = (await pharos(world, 'explain', host, '/world/france')).stdout
  expect(hub).toMatch(/\nPage: navigation, mainly links to other pages, \d+ % sure\nPlaces: France/)
  const missed = (await pharos(world, 'explain', host, '/old')).stdout
  expect(missed).toContain(`Alias: ${site.origin}/world (redirect, 301; exists)`)
})
