import { PharosError } from '../core/errors.ts'
import type { Library } from '../library/library.ts'
import { labelOf, type Source } from '../library/source.ts'
import { isUuid, need, usage } from './arguments.ts'

/** How a source was given. */
export interface SourceArguments {
  readonly source?: string | undefined
  readonly library?: string | undefined
  readonly sourceId?: string | undefined
  readonly version?: string | undefined
}

/** The one source that is meant, exactly: work is done on it, so no other version will do. */
export async function findOne(library: Library, args: SourceArguments): Promise<Source> {
  const text = need(args, 'source', 'library', 'sourceId')
  const { findSource, matchSources, unknownSource } = await import('../library/operations/find-source.ts')
  try {
    if (args.version === undefined) return await findSource(library, text)
    const sources = await library.store.listSources()
    const matches = matchSources(sources, text)
    const [first] = matches
    if (first === undefined) throw unknownSource(library, text, sources)
    const found = matches.find(({ version }) => version === args.version)
    if (found !== undefined) return found
    const versioned = matches.filter((one) => one.version !== null)
    const versions = `; there are ${versioned.map(labelOf).join(', ') || 'none'}`
    throw new PharosError('VERSION_UNKNOWN', { version: args.version, name: first.name, versions })
  } catch (error) {
    const isUnknown = error instanceof PharosError && error.code === 'SOURCE_UNKNOWN'
    if (!isUnknown || args.sourceId === undefined || isUuid(args.sourceId)) throw error
    const form = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000, or the name of a source'
    throw usage(
      `invalid source ID format: expected ${form}, got ${JSON.stringify(args.sourceId)}${error.details['nearest']}`,
    )
  }
}
