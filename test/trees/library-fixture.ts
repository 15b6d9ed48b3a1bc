import { expect } from 'vitest'
import { PUBLIC_REGISTRIES, type Registries } from '../../src/core/url/package-url.ts'
import { parseAllowance } from '../../src/fetch/addresses.ts'
import { openDownloads } from '../../src/fetch/download.ts'
import { customRegistryOrigins } from '../../src/ingest/registries.ts'
import { nodeSha256 } from '../../src/ingest/sha256.ts'
import { openTreeReader } from '../../src/ingest/tree-reader.ts'
import { addSource, type SourceInput } from '../../src/library/crawl/add-source.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import type { Source } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { openPageReader } from '../../src/processes/page-reader.ts'
import { closeLater } from '../close-later.ts'
import { openNodeGrammars } from '../node-grammars.ts'
import { type Crawled, openTestLibrary, runCrawl } from '../sites/crawl.ts'
import { createLibraryPath, readSourceContent, type SourceContent } from '../sites/file-fixture.ts'

/** A library in a file with one source that is a tree of files. */
export interface TreeFixture {
  readonly library: OpenLibrary
  readonly source: Source
  crawl(input?: Partial<CrawlInput>): Promise<Crawled>
  /** Reads the current content of the library. */
  readContent(): Promise<SourceContent>
  /** Number of document conversions so far. */
  conversions(): number
}

/** Sets up a library with a source. Downloads come from loopback. */
export async function createTreeFixture(
  url: string,
  registries: Registries = PUBLIC_REGISTRIES,
  allowPrivate: readonly string[] = [],
  input: Pick<SourceInput, 'scope' | 'settings'> = {},
): Promise<TreeFixture> {
  const path = await createLibraryPath()
  const opened = await openTestLibrary(path)
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const { allowance } = parsed
  const reader = openPageReader({ sha256: nodeSha256 })
  let conversions = 0
  const trees = openTreeReader({
    readPage: reader.readPage,
    readDocument: (...args) => {
      conversions++
      return reader.readDocument(...args)
    },
    openGrammars: () => openNodeGrammars([]),
    maxFileBytes: 1_000_000,
    registries,
    git: { environment: { PATH: process.env['PATH'] ?? '' }, tokenFor: () => undefined },
    openDownloads: async () =>
      openDownloads({ userAgent: 'Pharos/0.0.0', allowance, origins: customRegistryOrigins(registries) }),
  })
  closeLater(async () => {
    await trees.close()
    await reader.close()
  })
  const library = { ...opened, trees }
  const source = await addSource(library, { ...input, url, isOwnFolder: true })
  return {
    library,
    source,
    crawl: (input = {}) => runCrawl(library, source, { kind: 'add', ...input }, ''),
    readContent: () => readSourceContent(path, library, source, ''),
    conversions: () => conversions,
  }
}

/** Expects that pages are unchanged, including the row ids of their chunks, except for the named ones. */
export function expectSamePages(before: SourceContent, after: SourceContent, ...changed: readonly string[]): void {
  const unchangedPages = ({ pages }: SourceContent) =>
    Object.fromEntries([...pages].filter(([path]) => !changed.includes(path)))
  expect(unchangedPages(after)).toEqual(unchangedPages(before))
}
