import { beforeEach, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { findProject } from '../../src/library/projects/plan-project.ts'
import { searchProject } from '../../src/library/projects/search-project.ts'
import { syncProject } from '../../src/library/projects/sync-project.ts'
import type { SearchAnswer, SearchInput } from '../../src/library/search.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { openTestLibrary, runCrawl } from '../sites/crawl.ts'
import { createLibraryPath } from '../sites/file-fixture.ts'
import { createTempFolder, openReader, writeFiles } from '../trees/archive-fixture.ts'

const OLD = { name: 'old', folder: '/projects/old' }
const NEW = { name: 'new', folder: '/projects/new' }

let library: OpenLibrary

beforeEach(async () => {
  library = { ...(await openTestLibrary(await createLibraryPath())), trees: openReader() }
  await install(OLD, 'lamp', '3.1.0', 'Call `ignite()` to light the lamp.')
  await install(NEW, 'lamp', '4.0.2', 'Call `kindle()` to light the lamp.')
  const folder = createTempFolder()
  writeFiles(folder, { 'oil.md': '# Oil\n\nWhale oil smells of fish.\n' })
  const source = await addSource(library, { url: `file://${folder}/`, name: 'oil', isOwnFolder: true })
  await runCrawl(library, source, { kind: 'add' }, '')
})

async function install(project: typeof OLD, name: string, version: string, text: string): Promise<void> {
  const installedAt = createTempFolder()
  writeFiles(installedAt, { 'package.json': JSON.stringify({ name, version }), 'README.md': `# ${name}\n\n${text}\n` })
  const wanted = [{ address: `pkg:npm/${name}@${version}`, installedAt }]
  for await (const _ of syncProject(library, project, wanted, new AbortController().signal, () => true));
}

function ask(folder: string | undefined, query: string, input: Partial<SearchInput> = {}): Promise<SearchAnswer> {
  return searchProject(library, { query, ...input }, folder)
}

const sourcesOf = ({ passages, more }: SearchAnswer) => [...new Set([...passages, ...more].map(({ source }) => source))]

test.each([
  ['/projects/old', 'lamp@3.1.0'],
  ['/projects/new', 'lamp@4.0.2'],
  ['/projects/new/src/deep', 'lamp@4.0.2'],
])('in %s, only %s answers', async (folder, label) => {
  const answer = await ask(folder, 'How do I light the lamp?')
  expect(sourcesOf(answer)).toEqual([label])
  expect(answer.passages[0]?.version).toBe(label.split('@')[1])
})

test('the name of a package alone means the version of the project', async () => {
  expect(sourcesOf(await ask('/projects/old', 'light', { sources: ['lamp'] }))).toEqual(['lamp@3.1.0'])
  expect(sourcesOf(await ask(undefined, 'light', { sources: ['lamp'] }))).toEqual(['lamp@4.0.2'])
})

test.each([
  'How do I light the lamp in lamp 4?',
  'light with lamp@4.0',
  'lamp v4 light',
  'lamp (v4): light it',
  'lamp 4.x light',
  'lamp-4 light',
  'lamp version 4 light',
  'Light it, in version 4 of the lamp',
])('the question %s gets the version that it names', async (question) => {
  expect(sourcesOf(await ask('/projects/old', question))).toEqual(['lamp@4.0.2'])
})

test('a question that names both versions gets both', async () => {
  const answer = await ask('/projects/new', 'How do I light it when I move from lamp 3 to lamp 4?')
  expect(sourcesOf(answer).toSorted(compareUtf8)).toEqual(['lamp@3.1.0', 'lamp@4.0.2'])
})

test('says that a version which the question names is not there', async () => {
  const answer = await ask('/projects/old', 'How do I light the lamp in lamp 2?')
  expect(sourcesOf(answer)).toEqual(['lamp@3.1.0'])
  expect(answer.notices).toContain('lamp 2 is not in the library; the project uses lamp@3.1.0')
})

test.each(['light the lamp 5 times', 'Wait with the lamp 300 ms', 'lamp - 3 wicks', 'the old-lamp 3'])(
  'the number in %s is no version',
  async (question) => {
    expect((await ask('/projects/new', question)).notices).toEqual([])
  },
)

test('other sources answer what the packages of the project do not, and other versions never do', async () => {
  expect(sourcesOf(await ask('/projects/old', 'What does whale oil smell of?'))).toEqual(['oil'])
  expect(sourcesOf(await ask('/projects/old', 'kindle'))).not.toContain('lamp@4.0.2')
})

test('a version in the input decides', async () => {
  expect(sourcesOf(await ask('/projects/old', 'light', { version: '4.x' }))).toEqual(['lamp@4.0.2'])
})

test.each([
  ['/elsewhere', undefined],
  ['/projects/older', undefined],
  ['/projects/old', OLD],
  ['/projects/old/src', OLD],
])('the folder %s belongs to the right project', async (folder, project) => {
  expect(findProject(await library.store.listSources(), folder)).toEqual(project)
})
