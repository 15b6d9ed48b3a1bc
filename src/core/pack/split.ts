import type { Chunk } from '../model.ts'
import type { Pack } from './pack.ts'
import { groupByFile, sumTokens } from './tables.ts'

/**
 * Cuts a pack into parts of at most `tokens` tokens each: between files if possible, else between sections, else between chunks. Refs and
 * index id stay those of the whole pack, so a ref means the same in every part.
 */
export function splitPack(pack: Pack, tokens: number): Pack[] {
  const largest = pack.chunks.reduce((max, chunk) => Math.max(max, chunk.tokenEstimate), 1)
  if (!Number.isInteger(tokens) || tokens < largest) {
    throw new TypeError(
      `Expected \`tokens\` to be a whole number from ${largest} up (the largest chunk), got ${tokens}`,
    )
  }
  const parts: Unit[][] = []
  let tokensLeft = 0
  for (const unit of createUnits(pack, tokens)) {
    if (unit.tokens > tokensLeft) {
      parts.push([])
      tokensLeft = tokens
    }
    parts.at(-1)?.push(unit)
    tokensLeft -= unit.tokens
  }
  if (parts.length <= 1) return [pack]
  const pathsWithChunks = new Set(pack.chunks.map((chunk) => chunk.path))
  return parts.map((units, i) => {
    const positions = units.flatMap((unit) => unit.positions)
    return selectPart(pack, positions, pathsWithChunks, { number: i + 1, of: parts.length })
  })
}

/** Neighboring chunks that should stay together. */
interface Unit {
  readonly positions: readonly number[]
  readonly tokens: number
}

/** Units are whole files. A file above the budget is split into its sections, and a section above the budget into its chunks. */
function createUnits(pack: Pack, tokens: number): Unit[] {
  let position = 0
  return groupByFile(pack).flatMap(({ chunks }) => {
    const numbered = chunks.map((chunk) => ({ chunk, position: position++ }))
    const file = toUnit(numbered)
    if (file.tokens <= tokens) return [file]
    return groupSections(numbered).flatMap((section) => {
      const unit = toUnit(section)
      return unit.tokens <= tokens ? [unit] : section.map((one) => toUnit([one]))
    })
  })
}

interface NumberedChunk {
  readonly chunk: Chunk
  readonly position: number
}

function groupSections(chunks: readonly NumberedChunk[]): NumberedChunk[][] {
  const sections: NumberedChunk[][] = []
  let current: string | undefined
  for (const one of chunks) {
    const section = JSON.stringify(one.chunk.headingPath.slice(0, 2))
    if (section !== current) sections.push([])
    current = section
    sections.at(-1)?.push(one)
  }
  return sections
}

function toUnit(chunks: readonly NumberedChunk[]): Unit {
  return {
    positions: chunks.map(({ position }) => position),
    tokens: sumTokens(chunks.map(({ chunk }) => chunk)),
  }
}

/** Creates one part. Files without chunks (empty or left out) belong to the first part, with their warnings. */
function selectPart(
  pack: Pack,
  positions: readonly number[],
  pathsWithChunks: ReadonlySet<string>,
  part: NonNullable<Pack['part']>,
): Pack {
  const chunks = positions.flatMap((position) => pack.chunks[position] ?? [])
  const ownPaths = new Set(chunks.map((chunk) => chunk.path))
  const belongs = ({ path }: { readonly path: string }) =>
    ownPaths.has(path) || (part.number === 1 && !pathsWithChunks.has(path))
  return {
    indexId: pack.indexId,
    files: pack.files.filter(belongs),
    chunks,
    refs: positions.flatMap((position) => pack.refs[position] ?? []),
    warnings: pack.warnings.filter(belongs),
    ...(pack.vectors === undefined ? {} : { vectors: pack.vectors.select(positions) }),
    part,
  }
}
