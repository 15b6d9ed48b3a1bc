import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import { ANALYSIS_JOB_ID } from '../../library/ports/job-log.ts'
import { DEFAULT_SETTINGS, type RefreshSchedule, type Source, type SourceUpdate } from '../../library/source.ts'
import { selectColumns, valuesOf } from './columns.ts'
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
  /** As JSON; null without a schedule. */
  readonly refresh: string | null
}

/** The columns of a source that are written when it is added. */
export const NEW_SOURCE_COLUMNS = 'uuid, name, version, url, site_url, scope, settings, created_at, refresh'

/** The selected columns of a source. */
export const SOURCE_COLUMNS: string = selectColumns(`id, ${NEW_SOURCE_COLUMNS}`)

/** The values of {@link NEW_SOURCE_COLUMNS}. */
export function sourceValues({ id: uuid, scope, settings, refresh, ...source }: Source): unknown[] {
  const texts = { scope: JSON.stringify(scope), settings: JSON.stringify(settings), refresh: writeRefresh(refresh) }
  return valuesOf(NEW_SOURCE_COLUMNS, { ...source, ...texts, uuid })
}

function writeRefresh(refresh: RefreshSchedule | null | undefined): string | null {
  return refresh == null ? null : JSON.stringify(refresh)
}

/** The fields of a stored source that may change, after a change. */
export function changeSource(
  found: SourceRecord,
  given: SourceUpdate,
): Pick<SourceRecord, 'name' | 'version' | 'siteUrl' | 'settings' | 'refresh'> {
  const change = typeof given === 'function' ? given(toSource(found)) : given
  const { name = found.name, version = found.version, siteUrl = found.siteUrl } = change
  const settings = change.settings === undefined ? found.settings : JSON.stringify(change.settings)
  const refresh = change.refresh === undefined ? found.refresh : writeRefresh(change.refresh)
  return { name, version, siteUrl, settings, refresh }
}

/** SQL that deletes what belongs to a source besides its rows, its crawls and itself. `isVisible` is the SQL condition for other sources s. */
export function writeDeletions(source: '?' | '$1', isVisible: string): string[] {
  // Data about the hosts of the source is deleted too, unless another source has pages there.
  const isHostOfSource = (
    column: string,
  ) => `${column} IN (SELECT host FROM host_counts WHERE source = ${source}) AND ${column} NOT IN (
    SELECT h.host FROM host_counts h JOIN sources s ON s.id = h.source WHERE ${isVisible} AND h.pages > 0)`
  return [
    ...['place_hubs', 'url_patterns', 'hub_verdicts', 'domains', 'domain_locales'].map(
      (table) => `DELETE FROM ${table} WHERE ${isHostOfSource('host')}`,
    ),
    // Milestones of jobs are history and stay; milestones of analyses describe stored data and are deleted.
    `DELETE FROM crawl_milestones WHERE job_id = '${ANALYSIS_JOB_ID}' AND ${isHostOfSource('scope')}`,
    ...['ledger_counts', 'open_hosts', 'host_counts'].map((table) => `DELETE FROM ${table} WHERE source = ${source}`),
  ]
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
  const refresh = found.refresh === null ? {} : { refresh: parseStored<RefreshSchedule>(found.refresh) }
  return { id: uuid, name, version, url, siteUrl, scope, settings, createdAt, ...refresh }
}

/** Parses the stored scope of a source. */
export function parseScope(text: string): Source['scope'] {
  return { ...UNGUARDED_SCOPE, ...parseStored<Partial<Source['scope']>>(text) }
}
