/*
 * The universal entry: runs in Node, browsers and workers alike. A name added here becomes public API.
 */
export { type ChunkOptions, chunkFile, type SourceFile } from './core/chunk/chunk-file.ts'
export { type GrammarSource, type Grammars, openGrammars } from './core/chunk/code-grammars.ts'
export { kindOf } from './core/chunk/kind.ts'
export type { GrammarName } from './core/chunk/languages.ts'
export { ERRORS, type ErrorCode, type ErrorEntry, PharosError } from './core/errors.ts'
export { type ExtractOptions, extractPage } from './core/extract/extract-page.ts'
export type {
  Alternate,
  Chunk,
  ChunkedFile,
  Extraction,
  FileMeta,
  Hit,
  Kind,
  Link,
  NoPageReason,
  Page,
  PageRobots,
  Removal,
  Section,
  Sha256,
  Snapshot,
  Warning,
  WarningCode,
} from './core/model.ts'
export { type PackEntry, type PackOptions, packEntries, packName, zipPack } from './core/pack/entries.ts'
export { openPack, type PackReader } from './core/pack/open-pack.ts'
export { createPack, type Pack } from './core/pack/pack.ts'
export { type ChunkFilters, type PackHit, PackSearch, type PackSearchOptions } from './core/pack/search-pack.ts'
export { splitPack } from './core/pack/split.ts'
export { openZipReader } from './core/pack/zip-pack-reader.ts'
export { SearchIndex, type SearchIndexOptions } from './core/search/search-index.ts'
export { textAnalyzer } from './core/text/analyzer.ts'
