import type { z } from 'zod'
import { PharosError, usageError } from '../core/errors.ts'
import type { SourceLookup } from '../library/library.ts'
import type { Source } from '../library/source.ts'
import { isUuid, requireArgument } from './arguments.ts'
import type { ONE_SOURCE } from './schemas.ts'

/** The arguments that name a source. */
type SourceArguments = z.output<z.ZodObject<typeof ONE_SOURCE>> & { readonly version?: string | undefined }

/**
 * Finds the source that the arguments name. A version selects among sources of the same name; a range means its newest version, complete or
 * not. If `mustBeUnique` is true, a version or range that matches several sources is refused.
 */
export async function findNamedSource(
  library: SourceLookup,
  args: SourceArguments,
  mustBeUnique = false,
): Promise<Source> {
  const text = requireArgument(args, 'source', 'library', 'sourceId')
  const { ambiguousSource, findSource, matchSources, unknownSource } = await import('../library/sources/find-source.ts')
  try {
    if (args.version === undefined) return await findSource(library, text)
    const { unknownVersion } = await import('../library/sources/choose-sources.ts')
    const { chooseVersion, writeVersions } = await import('../library/sources/find-version.ts')
    const sources = await library.store.listSources()
    const named = sources.filter(({ name }) => name === text)
    const candidates = named.length > 0 ? named : matchSources(sources, text)
    const [first] = candidates
    if (first === undefined) throw unknownSource(library, text, sources)
    const { among, versions } = await chooseVersion(library, candidates, args.version)
    const [newest, ...others] = among.map(({ source }) => source)
    if (newest === undefined) throw unknownVersion(args.version, first.name, writeVersions(versions))
    if (mustBeUnique && others.length > 0) {
      throw ambiguousSource(`${first.name}@${args.version}`, [newest, ...others])
    }
    return newest
  } catch (error) {
    const isUnknown = error instanceof PharosError && error.code === 'SOURCE_UNKNOWN'
    if (!isUnknown || args.sourceId === undefined || isUuid(args.sourceId)) throw error
    const form = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000, or the name of a source'
    throw usageError(
      `invalid source ID format: expected ${form}, got ${JSON.stringify(args.sourceId)}${error.details['nearest']}`,
    )
  }
}
