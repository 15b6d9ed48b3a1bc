// Generated pages as a crawl passes them to a store, and questions for them.
import { createHash } from 'node:crypto'
import { createIdentifier, createRandom, createWords, pick, pickContent } from './corpus.mjs'

export const CHUNKS_PER_PAGE = 25

/** The same 1,000 questions each time. */
export function createQueries(minWords = 2, maxWords = 6) {
  const random = createRandom(11)
  const words = createWords(50_000, createRandom(7))
  const pickLength = () => minWords + Math.floor(random() * (maxWords - minWords + 1))
  return Array.from({ length: 1000 }, () => createQuery(pickLength(), words, random))
}

/** Words as users type them: content words, frequent ones more often, sometimes a function word or a name. */
function createQuery(length, words, random) {
  const word = () => {
    const dice = random()
    if (dice < 0.1) return createIdentifier(words, random)
    return dice < 0.3 ? pick(words, random) : pickContent(words, random)
  }
  return Array.from({ length }, word).join(' ')
}

/** The source of the pages. */
export function createSource() {
  const url = 'https://docs.test/'
  const settings = { seeds: [], llmsTxtUrl: null, llmsFull: 'auto', crawlType: 'docs' }
  return { id: 'docs', name: 'docs', version: null, url, siteUrl: url, scope: {}, settings, createdAt: 1 }
}

/** The argument of `store.adopt` for a page with these chunks. */
export function createAdoption(chunks) {
  const [{ id, title }] = chunks
  const url = `https://docs.test/${id}`
  const find = { key: url, url, host: 'docs.test', depth: 0, foundOn: null, discovery: 'llms-full', refusal: null }
  const markdown = chunks.map(({ body }) => body).join('\n\n')
  const robots = { index: true, follow: true }
  const dates = { publishedAt: null, modifiedAt: null }
  const facts = { description: null, author: null, ...dates, language: 'en', canonical: null, alternates: [], robots }
  const page = {
    url,
    title,
    ...facts,
    generator: null,
    markdown,
    sections: [],
    links: [],
    wordCount: 0,
    hiddenChars: 0,
  }
  const record = {
    page: { ...page, contentHash: sha(markdown) },
    chunks: chunks.map((chunk, i) => toChunk(chunk, i, title)),
    links: [],
  }
  return { sourceId: 'docs', crawlId: 'crawl', now: 1, find, record, finds: [] }
}

function toChunk({ id: name, heading, symbol, path, body }, chunkIndex, title) {
  const id = sha(name)
  const lines = { startLine: chunkIndex * 2 + 1, endLine: chunkIndex * 2 + 2 }
  const identity = { id, shortId: id.slice(0, 12), slug: name, path, kind: 'markdown', chunkIndex, ...lines }
  const headingPath = [title, heading.slice(title.length + 1)]
  const details = {
    tokenEstimate: 300,
    headingPath,
    symbol: symbol === '' ? null : symbol,
    address: null,
    assetPath: null,
  }
  return { ...identity, content: body, contentHash: sha(body), ...details }
}

function sha(text) {
  return createHash('sha256').update(text).digest('hex')
}
