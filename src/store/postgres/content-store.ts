import type { ContentStore } from '../../library/ports/store.ts'
import { fillPageSignatures, listRelated, readPageSignatures } from './index/page-signatures.ts'
import * as content from './read-content.ts'
import * as sources from './sources.ts'
import type { StoreParts } from './store-parts.ts'

/** Creates the part of the store for pages, chunks and search. */
export function createContentStore({ search, within, db }: StoreParts): ContentStore {
  return {
    readPage: (sourceId, key) => within(sourceId, undefined, (source) => content.readPage(db, source, key)),
    readExcerpt: (sourceId, key, chunkIndex) =>
      within(sourceId, undefined, (source) => content.readExcerpt(db, source, key, chunkIndex)),
    readPageText: (sourceId, key) => within(sourceId, undefined, (source) => content.readPageText(db, source, key)),
    readPageSignatures: (pages) => readPageSignatures(db, pages),
    fillPageSignatures: (describe, signal) => fillPageSignatures(db, describe, signal),
    async *listPageSignatures(sourceId) {
      const source = await sources.numberOf(db, sourceId)
      if (source !== undefined) yield* listRelated(db, source)
    },
    findPages: (sourceId, text) => within(sourceId, [], (source) => content.findPages(db, source, text)),
    async *listPages(sourceId) {
      const source = await sources.numberOf(db, sourceId)
      if (source !== undefined) yield* content.listPages(db, source)
    },
    readChunk: (sourceId, chunkId) => within(sourceId, undefined, (source) => content.readChunk(db, source, chunkId)),
    countContentTypes: () => search.countContentTypes(),
    countContent: (sourceId) => within(sourceId, { pages: 0, chunks: 0 }, (source) => content.countContent(db, source)),
    search: (query) => search.search(query),
    readMatches: (matches) =>
      content.readChunksAt(
        db,
        matches.map(({ number }) => number),
      ),
    readIndexState: () => search.readState(),
    indexMissingChunks: (signal) => search.maintain(signal),
  }
}
