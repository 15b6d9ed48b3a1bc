/*
 * The Node entry: what touches the file system. A name added here becomes public API.
 */
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
