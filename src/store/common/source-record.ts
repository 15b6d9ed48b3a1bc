import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import { DEFAULT_SETTINGS, type Source } from '../../library/source.ts'
import { parseStored } from './damage.ts'

/** A source as it is stored, with its row number. */
export interface SourceRecord {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly version: string | null
  readonly url: string
  readonly siteUrl: string
  readonly scope: string
  readonly settings: string
  readonly createdAt: number
}

/**
 * Defaults for stored sources without a trap guard setting. They predate trap guards, so guards stay off and their known addresses stay
 * valid.
 */
const UNGUARDED_SCOPE: Source['scope'] = { ...DEFAULT_SCOPE, trapGuards: false }

/** Converts a stored source. Settings that an older version did not know get the behavior of that version. */
export function toSource(found: SourceRecord): Source {
  const { uuid, name, version, url, siteUrl, createdAt } = found
  const scope = parseScope(found.scope)
  const settings: Source['settings'] = {
    ...DEFAULT_SETTINGS,
    ...parseStored<Partial<Source['settings']>>(found.settings),
  }
  return { id: uuid, name, version, url, siteUrl, scope, settings, createdAt }
}

/** Parses the stored scope of a source. */
export function parseScope(text: string): Source['scope'] {
  return { ...UNGUARDED_SCOPE, ...parseStored<Partial<Source['scope']>>(text) }
}
