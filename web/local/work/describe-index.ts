import { KINDS, type WarningCode } from '../../../src/core/model.ts'
import { isCompactPack, type Pack } from '../../../src/core/pack/pack.ts'
import type { IndexSummary } from './operations.ts'
import { sampleFiles } from './survey.ts'

/** Summarizes an index for the page. */
export function describeIndex({ files, warnings }: Pack): IndexSummary {
  const kinds = new Set(files.map(({ kind }) => kind))
  const includedPaths = new Set(files.map(({ path }) => path))
  const pathsWarnedOf = (code: WarningCode) => {
    return [...new Set(warnings.filter((warning) => warning.code === code).map(({ path }) => path))]
  }
  // A warning about an ignore file concerns its rules; it does not mean that a file is missing.
  const missing = warnings.filter(({ path, code }) => code !== 'ignore_rules' && !includedPaths.has(path))
  return {
    isCompact: isCompactPack({ files }),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    kinds: KINDS.filter((kind) => kinds.has(kind)),
    missingCount: new Set(missing.map(({ path }) => path)).size,
    partialCount: pathsWarnedOf('max_chunks_per_file').length,
    secrets: sampleFiles(pathsWarnedOf('secret')),
  }
}
