import { KINDS, type WarningCode } from '../../../src/core/model.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import type { About } from './operations.ts'
import { some } from './survey.ts'

/** Says what a reader of an index should know of it as a whole. */
export function describeIndex({ files, warnings }: Pack): About {
  const kinds = new Set(files.map(({ kind }) => kind))
  const there = new Set(files.map(({ path }) => path))
  const warnedOf = (code: WarningCode) => {
    return [...new Set(warnings.filter((warning) => warning.code === code).map(({ path }) => path))]
  }
  // What is said of ignore files is said of their rules.
  const lost = warnings.filter(({ path, code }) => code !== 'ignore_rules' && !there.has(path))
  return {
    // Only what a compact pack says of its files leaves out what they are recognised by.
    isCompact: files.length > 0 && files.every(({ sha256 }) => sha256 === ''),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    kinds: KINDS.filter((kind) => kinds.has(kind)),
    leftOut: new Set(lost.map(({ path }) => path)).size,
    cutOff: warnedOf('max_chunks_per_file').length,
    secrets: some(warnedOf('secret')),
  }
}
