/* The Node entry: exports that use the file system. A name added here becomes public API. */

export { readConfig } from './config.ts'
export {
  type ChunkedFolder,
  chunkFolder,
  type FolderOptions,
  type FolderProgress,
} from './ingest/chunk-folder.ts'
export { openBundledGrammars } from './ingest/grammars.ts'
export { readPack } from './ingest/pack-input.ts'
export { type PackTarget, writePack } from './ingest/pack-output.ts'
export { nodeSha256 } from './ingest/sha256.ts'
export { addSource, type SourceInput } from './library/crawl/add-source.ts'
export { type CrawlInput, crawlSource } from './library/crawl/crawl-source.ts'
export { type FetchUrlOptions, fetchUrl } from './library/crawl/fetch-url.ts'
export { type EmbedProgress, embedLibrary } from './library/embed/embed-library.ts'
export { type SyncOptions, type SyncProgress, syncVectors } from './library/embed/sync-vectors.ts'
export { type ImportOptions, type ImportResult, importChunks } from './library/import/import-chunks.ts'
export {
  type ChunkImport,
  type GivenChunk,
  IMPORT_LIMITS,
  type ImportLimits,
  parseImport,
  parseImportText,
} from './library/import/parse-import.ts'
export { type WatchCause, type WatchEvent, type WatchInput, watchTree } from './library/import/watch-tree.ts'
export { type FoundChunk, findChunk } from './library/search/find-chunk.ts'
export { type FoundPage, findPage } from './library/search/find-page.ts'
export { listOutline, type Outline } from './library/search/list-outline.ts'
export { listSymbols, type SymbolEntry } from './library/search/list-symbols.ts'
export { searchLibrary } from './library/search/search-library.ts'
export type { PageMention, Passage, SearchAnswer, SearchInput } from './library/search.ts'
export { type Explanation, explainUrl } from './library/sources/explain.ts'
export { findSource } from './library/sources/find-source.ts'
export { type FoundVersion, findVersion } from './library/sources/find-version.ts'
export { reportSource, type SourceReport } from './library/sources/source-status.ts'
export { type LibraryOptions, type OpenLibrary, openLibrary } from './open-library.ts'
export { type Crawl4AIReaderOptions, readerOptionsOf } from './readers/crawl4ai-options.ts'
export { type Crawl4AIReader, openCrawl4AIReader } from './readers/crawl4ai-reader.ts'
export {
  documentId,
  type PageMetadata,
  type ReaderDocument,
  type ReadFailure,
  type VectorPoint,
  type VectorSink,
} from './readers/document.ts'
export type { DocumentReader } from './readers/document-reader.ts'
export {
  type IngestOptions,
  type IngestResult,
  type IngestUrlsOptions,
  ingestDocuments,
  ingestUrls,
  type RefusedPiece,
} from './readers/ingest.ts'
export { loadSource, openPharosReader, type PharosReader, type PharosReaderOptions } from './readers/pharos-reader.ts'
export { openQdrantStore, type QdrantStore, type QdrantStoreOptions } from './readers/qdrant-store.ts'
export type { Config } from './settings/settings.ts'
