import { parseRobots } from '../../core/robots/robots.ts'
import type { RobotsRecord } from '../ledger.ts'

/** Maximum age of rules that cannot be fetched again (RFC 9309, 2.4). */
export const MAX_ROBOTS_AGE_MS = 86_400_000

/** The crawl delay of a stored robots.txt that is not too old; 0 for none. */
export function readStoredCrawlDelay(record: RobotsRecord | undefined, now: number): number {
  if (record?.type !== 'rules' || Math.abs(now - record.fetchedAt) >= MAX_ROBOTS_AGE_MS) return 0
  return parseRobots(record.body, `${record.origin}/robots.txt`).crawlDelayMs ?? 0
}
