import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { openTestLibrary, openTestSite, runCrawl } from '../../../test/sites/crawl.ts'
import type { Site } from '../../../test/sites/site.ts'
import { PharosError } from '../../core/errors.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { addSource } from '../crawl/add-source.ts'
import { searchLibrary } from '../search/search-library.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources, type SourceChoiceInput } from './choose-sources.ts'
import { findSource } from './find-source.ts'
import { findVersion, type VersionQuery } from './find-version.ts'

let site: Site
let library: OpenLibrary

beforeEach(async () => {
  site = await openTestSite({
    '/': '<title>Start</title><main><h1>Start</h1><p>Words enough to be a page. <a href="/two">Two</a></p></main>',
    '/two': '<title>Two</title><main><h1>Two</h1><p>Words enough to be another page.</p></main>',
  })
  library = await openTestLibrary()
})

/** Adds sources by label. A source whose label ends with `!` is crawled completely; the crawl of any other source is cancelled. */
async function add(...labels: string[]): Promise<Source[]> {
  const sources: Source[] = []
  for (const label of labels) {
    const [name = '', version] = label.replace('!', '').split('@')
    const source = await addSource(library, { url: `${site.origin}/`, name, version })
    const signal = label.endsWith('!') ? new AbortController().signal : AbortSignal.abort()
    const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin, signal)
    expect(summary.end).toBe(label.endsWith('!') ? 'completed' : 'cancelled')
    sources.push(source)
  }
  return sources
}

async function choose(input: SourceChoiceInput): Promise<readonly [labels: string[], notices: readonly string[]]> {
  const { sources, notices } = await chooseSources(library, input)
  return [sources.map(labelOf), notices]
}

async function find(query: VersionQuery): Promise<readonly [best: string | undefined, message: string]> {
  const { best, message } = await findVersion(library, query)
  return [best?.version, message]
}

describe('findVersion', () => {
  test('selects the newest complete version and names newer incomplete ones', async () => {
    await add('guide@5.2.0!', 'guide@5.10.0!', 'guide@6.0.0', 'guide', 'other@9.0.0!')
    const found = await findVersion(library, { name: 'guide' })
    expect(found.best?.version).toBe('5.10.0')
    expect(found.versions.map(({ version, isComplete }) => [version, isComplete])).toEqual([
      ['6.0.0', false],
      ['5.10.0', true],
      ['5.2.0', true],
    ])
    expect(found.hasUnversioned).toBe(true)
    expect(found.message).toBe(
      'guide@5.10.0 is the newest; guide@6.0.0 is newer, but not complete yet; versions, newest first: 6.0.0 (not complete), 5.10.0, 5.2.0; there is also guide without a version',
    )
  })

  test('switches to a new version once it is complete', async () => {
    const [, fresh] = await add('guide@5.0!', 'guide@6.0')
    expect((await find({ name: 'guide', target: '>=5' }))[0]).toBe('5.0')
    if (fresh === undefined) throw new Error('guide@6.0 was not added')
    await runCrawl(library, fresh, { kind: 'recrawl' }, site.origin)
    expect((await find({ name: 'guide', target: '>=5' }))[0]).toBe('6.0')
    await runCrawl(library, fresh, { kind: 'refresh' }, site.origin, AbortSignal.abort())
    expect((await find({ name: 'guide', target: '>=5' }))[0]).toBe('6.0')
  })

  test('ignores crawls that hit a page limit or had a narrower scope', async () => {
    const [, capped, narrowed] = await add('guide@5.0!', 'guide@6.0', 'guide@7.0')
    if (capped === undefined || narrowed === undefined) throw new Error('guide@6.0 or guide@7.0 was not added')
    const { summary } = await runCrawl(library, capped, { kind: 'recrawl', scope: { maxPages: 1 } }, site.origin)
    expect([summary.end, summary.cappedAt]).toEqual(['completed', 1])
    await runCrawl(library, narrowed, { kind: 'recrawl', scope: { block: ['/other/**'] } }, site.origin)
    expect((await find({ name: 'guide' }))[0]).toBe('5.0')
    await runCrawl(library, capped, { kind: 'recrawl', scope: { maxPages: 1000 } }, site.origin)
    expect((await find({ name: 'guide' }))[0]).toBe('6.0')
  })

  test('selects the newest version if none is complete, and says so', async () => {
    await add('guide@5.0', 'guide@5.1')
    expect(await find({ name: 'guide', target: '5.x' })).toEqual([
      '5.1',
      'guide@5.1 is the newest that matches 5.x; guide@5.1 is PARTIAL: interrupted: 1 address not read; versions, newest first: 5.1 (not complete), 5.0 (not complete)',
    ])
  })

  test('answers an exact request with that version or none, complete or not', async () => {
    await add('guide@5.2.0!', 'guide@6.0.0')
    expect((await find({ name: 'guide', target: '6.0.0' }))[0]).toBe('6.0.0')
    expect(await find({ name: 'guide', target: '5.2.1' })).toEqual([
      undefined,
      'there is no version 5.2.1 of guide; versions, newest first: 6.0.0 (not complete), 5.2.0',
    ])
    expect(await find({ name: 'guide', target: '5.2.1', orOlder: true })).toEqual([
      '5.2.0',
      'there is no 5.2.1: guide@5.2.0 is the newest before it; versions, newest first: 6.0.0 (not complete), 5.2.0',
    ])
  })

  test('says if only a prerelease matches, or if there are no versions', async () => {
    await add('guide@6.0.0-rc.1!', 'plain!')
    expect(await find({ name: 'guide', target: '6.x' })).toEqual([
      '6.0.0-rc.1',
      'guide@6.0.0-rc.1 is the newest that matches 6.x; guide@6.0.0-rc.1 is a prerelease: no release matches; versions, newest first: 6.0.0-rc.1',
    ])
    expect(await find({ name: 'plain' })).toEqual([undefined, 'plain has no versions: leave the version out'])
    expect(await find({ name: 'plain', target: '2.0' })).toEqual([
      undefined,
      'there is no version 2.0 of plain; plain has no versions: leave the version out',
    ])
  })

  test('suggests similar names for an unknown one', async () => {
    await add('guide@5.0!', 'manual!')
    await expect(find({ name: 'guid' })).rejects.toMatchObject({
      code: 'SOURCE_UNKNOWN',
      message: 'no source guid in :memory:, did you mean guide or guide@5.0?',
    })
    await expect(find({ name: 'react' })).rejects.toMatchObject({
      message: 'no source react in :memory:; there are guide@5.0, manual',
    })
  })
})

describe('chooseSources', () => {
  test('selects all sources by default, or all versions with *', async () => {
    await add('guide@5.0!', 'guide@6.0', 'manual!')
    const partial = expect.arrayContaining(['guide@6.0 is PARTIAL: interrupted: 1 address not read'])
    expect(await choose({ version: '*' })).toEqual([['guide@5.0', 'guide@6.0', 'manual'], []])
    expect(await choose({ sources: ['guide'], version: '*' })).toEqual([['guide@5.0', 'guide@6.0'], []])
    expect((await searchLibrary(library, { query: 'words', version: '*' })).notices).toEqual(partial)
    const named = { query: 'words', sources: ['guide'], version: '*' }
    expect((await searchLibrary(library, named)).notices).toEqual(partial)
    await add('manual@2!')
    expect((await choose({}))[0]).toEqual(['guide@5.0', 'manual', 'manual@2'])
    expect((await choose({ sources: [] }))[0]).toEqual(['guide@5.0', 'manual', 'manual@2'])
  })

  test('leaves out an incomplete source if a complete one has the same name, and says so', async () => {
    await add('guide@5.0!', 'guide@6.0', 'manual', 'faq@1', 'faq@2')
    expect(await choose({})).toEqual([
      ['guide@5.0', 'manual', 'faq@1', 'faq@2'],
      ['left out as incomplete: guide@6.0; name it to search it'],
    ])
    // Without hits, unread pages may contain the answer.
    expect((await searchLibrary(library, { query: 'xyzzy' })).notices).toEqual(
      expect.arrayContaining(
        ['manual', 'faq@1', 'faq@2'].map((label) => `${label} is PARTIAL: interrupted: 1 address not read`),
      ),
    )
    const { isAll, incomplete, sources } = await chooseSources(library, { version: '*' })
    expect([isAll, sources.filter(({ id }) => incomplete.has(id)).map(labelOf)]).toEqual([
      true,
      ['guide@6.0', 'faq@1', 'faq@2'],
    ])
    expect((await chooseSources(library, {})).isAll).toBe(false)
  })

  test('combines a version in the name with the version option, or throws', async () => {
    await add('guide@5.1.0!', 'guide@5.2.0!', 'guide@6.0.0!', 'guide@5.3.0')
    const chosen = async (text: string, version: string) => (await choose({ sources: [text], version }))[0]
    expect(await chosen('guide@5.x', '5.1.0')).toEqual(['guide@5.1.0'])
    expect(await chosen('guide@5.x', '5.3.0')).toEqual(['guide@5.3.0'])
    expect(await chosen('guide@>=5', '<6')).toEqual(['guide@5.2.0'])
    expect(await chosen('guide@5.x', 'latest')).toEqual(['guide@5.2.0'])
    expect(await chosen('guide@*', '5.1')).toEqual(['guide@5.1.0'])
    expect(await chosen('guide@5.x', '*')).toEqual(['guide@5.1.0', 'guide@5.2.0', 'guide@5.3.0'])
    await expect(choose({ sources: ['guide@5.x'], version: '6.0.0' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
      message: 'no version 6.0.0 of guide@5.x; there are 5.3.0 (not complete), 5.2.0, 5.1.0',
    })
    await expect(choose({ sources: ['guide@latest'], version: '5.x' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
    })
    await expect(choose({ sources: ['guide@7'], version: '5.x' })).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' })
  })

  test('resolves a name alone to its newest complete version', async () => {
    await add('guide@5.0!', 'guide@5.1!', 'guide@6.0', 'manual!')
    expect(await choose({ sources: ['guide', 'manual'] })).toEqual([
      ['guide@5.1', 'manual'],
      ['searched guide@5.1; versions: 6.0 (not complete), 5.1, 5.0', 'guide@6.0 is newer, but not complete yet'],
    ])
  })

  test('resolves ids, labels, ranges and start addresses, each source once', async () => {
    const [guide] = await add('guide@5.0!', 'guide@5.1!', 'manual@1!')
    await addSource(library, { url: `${site.origin}/elsewhere/`, name: 'faq' })
    expect((await choose({ sources: [guide?.id ?? ''] }))[0]).toEqual(['guide@5.0'])
    expect(await choose({ sources: ['guide@5.0', guide?.id ?? ''] })).toEqual([['guide@5.0'], []])
    expect((await choose({ sources: ['guide@5', 'guide@^5.0', 'guide@latest'] }))[0]).toEqual(['guide@5.1'])
    expect((await choose({ sources: ['guide@*'] }))[0]).toEqual(['guide@5.0', 'guide@5.1'])
    expect(await choose({ sources: [`${site.origin}/elsewhere#top`] })).toEqual([
      ['faq'],
      ['faq is not complete: no full crawl of it has finished yet'],
    ])
    await expect(choose({ sources: [`${site.origin}/`] })).rejects.toMatchObject({ code: 'USAGE' })
  })

  test('a search reports a cited source as PARTIAL until the pages beyond the cap are read', async () => {
    const source = await addSource(library, { url: `${site.origin}/`, name: 'guide', scope: { maxPages: 1 } })
    await runCrawl(library, source, { kind: 'add' }, site.origin)
    const query = 'words enough'
    const partial = expect.stringMatching(/^guide is PARTIAL: the cap of 1 was reached: \d known address/)
    const named = await searchLibrary(library, { query, sources: ['guide'] })
    expect(named.notices).toEqual([partial])
    expect(named.partial.map(({ source: { name }, shortfall: { cap } }) => [name, cap])).toEqual([['guide', 1]])
    expect(await searchLibrary(library, { query })).toMatchObject({ notices: [partial], partial: [] })
    // Unread pages may contain the answer.
    expect(await searchLibrary(library, { query: 'xyzzy' })).toMatchObject({ notices: [partial] })
    await runCrawl(library, source, { kind: 'recrawl', scope: { maxPages: 5 } }, site.origin)
    expect(await searchLibrary(library, { query, sources: ['guide'] })).toMatchObject({ notices: [], partial: [] })
  })

  test('a search does not mention a PARTIAL source that it does not cite', async () => {
    const guide = await addSource(library, { url: `${site.origin}/`, name: 'guide', scope: { maxPages: 1 } })
    await runCrawl(library, guide, { kind: 'add' }, site.origin)
    const other = await addSource(library, { url: `${site.origin}/two`, name: 'other' })
    await runCrawl(library, other, { kind: 'add' }, site.origin)
    const { notices, passages } = await searchLibrary(library, { query: 'another' })
    expect(passages.map(({ source }) => source)).toEqual(['other'])
    expect(notices).toEqual([])
  })

  test('applies a version to the named sources', async () => {
    await add('guide@5.0!', 'guide@6.0!', 'manual!')
    expect((await choose({ sources: ['guide'], version: '5.x' }))[0]).toEqual(['guide@5.0'])
    expect((await choose({ sources: ['guide@6.0'], version: '>=5' }))[0]).toEqual(['guide@6.0'])
    expect((await choose({ sources: ['manual'], version: 'latest' }))[0]).toEqual(['manual'])
    await expect(choose({ sources: ['guide@6.0'], version: '5.x' })).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' })
    await expect(choose({ sources: ['guide'], version: '7' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
      message: 'no version 7 of guide; there are 6.0, 5.0',
    })
    await expect(choose({ sources: ['manual'], version: '5.0' })).rejects.toMatchObject({
      message: 'no version 5.0 of manual; there are none',
    })
  })

  test('applies a version without names to every name that has it', async () => {
    await add('guide@5.0!', 'guide@6.0!', 'manual@5.3!', 'plain!')
    expect(await choose({ version: '5.x' })).toEqual([
      ['guide@5.0', 'manual@5.3'],
      ['1 source without a version left out'],
    ])
    expect(await choose({ version: 'latest' })).toEqual([['guide@6.0', 'manual@5.3', 'plain'], []])
    await expect(choose({ version: '7.0.0' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
      message: 'no version 7.0.0 of any source; there are guide@5.0, guide@6.0, manual@5.3',
    })
  })

  test('says if a name also exists without a version', async () => {
    await add('guide!', 'guide@5.0!')
    expect(await choose({ sources: ['guide'] })).toEqual([
      ['guide@5.0'],
      ['searched guide@5.0; there is also guide without a version'],
    ])
  })

  test('throws for unknown sources', async () => {
    await add('guide@5.0!')
    for (const text of ['giude', 'other@5.0', '@5.0', '', 'https://nowhere.invalid/']) {
      await expect(choose({ sources: ['guide', text] })).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
    }
  })

  test('resolves any text to sources of the library or throws a PharosError', async () => {
    await addSource(library, { url: `${site.origin}/`, name: 'guide', version: '5.0' })
    await addSource(library, { url: `${site.origin}/`, name: 'guide', version: '^5||x' })
    const text = fc
      .array(fc.constantFrom('guide', '@', '5', '.', 'x', '*', ' ', '^', '>', '-', '||', 'http://', '\u0000', 'é'))
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 2 }),
        fc.option(text, { nil: undefined }),
        async (sources, version) => {
          const answer = await choose({ sources, version }).catch((error: unknown) => error)
          if (answer instanceof PharosError)
            expect(['SOURCE_UNKNOWN', 'VERSION_UNKNOWN', 'USAGE']).toContain(answer.code)
          else expect(answer).toEqual([expect.arrayContaining([expect.stringContaining('guide@')]), expect.any(Array)])
        },
      ),
      { numRuns: process.env['TEST_LONG'] === undefined ? 100 : 3000 },
    )
  })
})

test('findSource refuses a name with several versions and lists them', async () => {
  await add('guide@5.0!', 'guide@6.0!')
  await expect(findSource(library, 'guide')).rejects.toMatchObject({
    code: 'USAGE',
    message: 'guide has several versions, name one: guide@5.0, guide@6.0',
  })
  await expect(findSource(library, 'guide@^5')).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
})
