import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import { DEFAULT_SETTINGS, type Source } from '../../library/source.ts'
import { parseStored } from './damage.ts'

/** A source as it is kept, under its number. */
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

/** What a source is that says nothing else. Before there were guards there were none: its addresses are known by what they were. */
const UNGUARDED_SCOPE: Source['scope'] = { ...DEFAULT_SCOPE, trapGuards: false }

/** The source that was kept. What an older version did not know is as it was then. */
export function toSource(found: SourceRecord): Source {
  const { uuid, name, version, url, siteUrl, createdAt } = found
  const scope = parseScope(found.scope)
  const settings: Source['settings'] = {
    ...DEFAULT_SETTINGS,
    ...parseStored<Partial<Source['settings']>>(found.settings),
  }
  return { id: uuid, name, version, url, siteUrl, scope, settings, createdAt }
}

/** The scope of a source that was kept. */
export function parseScope(text: string): Source['scope'] {
  return { ...UNGUARDED_SCOPE, ...parseStored<Partial<Source['scope']>>(text) }
}
