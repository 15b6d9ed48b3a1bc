import { createHash } from 'node:crypto'
import type { Chunk, Page } from '../../src/core/model.ts'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { PageRecord } from '../../src/crawl/settlement.ts'
import type { Store } from '../../src/library/ports/store.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'

const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Adds a source with this id and name. */
export async function addSourceTo(store: Store, id: string): Promise<void> {
  const url = `https://${id}.test/`
  await store.addSource({
    id,
    name: id,
    version: null,
    url,
    siteUrl: url,
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 1,
  })
}

/** Traits of a page besides its text. */
export interface PageTraits {
  readonly title?: string
  readonly language?: string
  readonly headingPath?: readonly string[]
}

/** Writes a page as a crawl does; lines of `---` split its text into chunks. Returns the ids of the chunks. */
export async function writePage(
  store: Store,
  sourceId: string,
  path: string,
  text: string,
  traits: PageTraits = {},
): Promise<string[]> {
  const url = `https://${sourceId}.test${path}`
  const record = recordOf(url, text, traits)
  const crawlId = `crawl of ${sourceId}`
  await store.offer(sourceId, crawlId, [foundAddressOf(url)], 1)
  const visits = await store.lease({
    sourceId,
    limit: 1000,
    now: 2,
    until: 1000,
    horizon: 1_000_000,
    isBreadthFirst: false,
  })
  const visit = visits.find(({ key }) => key === url)
  if (visit === undefined) {
    await store.adopt({ sourceId, crawlId: `${crawlId} again`, now: 3, find: foundAddressOf(url), record, finds: [] })
  } else await store.settle({ visit, crawlId, now: 3, state: 'indexed', record })
  return record.chunks.map(({ id }) => id)
}

function foundAddressOf(url: string) {
  return {
    key: url,
    url,
    host: new URL(url).host,
    depth: 1,
    foundOn: null,
    discovery: 'link',
    refusal: null,
  } as const
}

/** A page with its indexed content. */
export function recordOf(url: string, text: string, traits: PageTraits): PageRecord {
  const { title = `Title of ${new URL(url).pathname}`, language = 'en', headingPath = ['Heading'] } = traits
  const page: Page = {
    url,
    title,
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown: text,
    sections: [],
    links: [],
    wordCount: 2,
    contentHash: sha(`${title}\n${text}`),
    hiddenChars: 0,
  }
  const chunks = text.split('\n---\n').map((content, chunkIndex): Chunk => {
    const id = sha(`${url}\n${content}\n${chunkIndex}`)
    return {
      id,
      shortId: id.slice(0, 12),
      slug: 'slug',
      path: url,
      kind: 'markdown',
      chunkIndex,
      startLine: 1,
      endLine: 2,
      content,
      contentHash: sha(content),
      tokenEstimate: 3,
      headingPath,
      symbol: null,
      address: null,
      assetPath: null,
    }
  })
  return { page, chunks, links: [] }
}
