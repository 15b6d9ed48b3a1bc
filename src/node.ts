/* The Node entry: exports that use the file system. A name added here becomes public API. */
export { type Config, readConfig } from './config.ts'
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
export { addSource, type SourceInput } from './library/operations/add-source.ts'
export { type CrawlInput, crawlSource } from './library/operations/crawl-source.ts'
export { type EmbedProgress, embedLibrary } from './library/operations/embed-library.ts'
export { type Explanation, explainUrl } from './library/operations/explain.ts'
export { type FetchUrlOptions, fetchUrl } from './library/operations/fetch-url.ts'
export { type FoundChunk, findChunk } from './library/operations/find-chunk.ts'
export { type FoundPage, findPage } from './library/operations/find-page.ts'
export { findSource } from './library/operations/find-source.ts'
export { type FoundVersion, findVersion } from './library/operations/find-version.ts'
export { type ImportOptions, type ImportResult, importChunks } from './library/operations/import-chunks.ts'
export { listOutline, type Outline } from './library/operations/list-outline.ts'
export { listSymbols, type SymbolEntry } from './library/operations/list-symbols.ts'
export { searchLibrary } from './library/operations/search-library.ts'
export { reportSource, type SourceReport } from './library/operations/source-status.ts'
export { type SyncOptions, type SyncProgress, syncVectors } from './library/operations/sync-vectors.ts'
export { type WatchCause, type WatchEvent, type WatchInput, watchTree } from './library/operations/watch-tree.ts'
export {
  type ChunkImport,
  type GivenChunk,
  IMPORT_LIMITS,
  type ImportLimits,
  parseImport,
  parseImportText,
} from './library/parse-import.ts'
export type { PageMention, Passage, SearchAnswer, SearchInput } from './library/search.ts'
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
