import { CONTENT_TABLES } from './content-tables.ts'
import { JOB_TABLES } from './job-tables.ts'
import { LEDGER_TABLES } from './ledger-tables.ts'

/*
 * The tables of a library, as in SQLite wherever both can do the same. Texts are compared byte by byte (`COLLATE "C"`), so that sort orders
 * match every other store, whatever the collation of the database. Timestamps are milliseconds since 1970. Ids of chunks, segments and
 * events are never reused.
 *
 * Every write to the ledger of a source takes the lock of that source (lock-source.ts). So sources are independent of each other, and
 * settlements of one source never run concurrently.
 *
 * Growth of the tables, and its limits:
 * - With a source, and removed with it: `ledger` has at most as many rows as the limit of a crawl allows (a million by default). Removed
 *   addresses keep their rows, so that they are recognized when they are found again. `pages`, `links`, `chunks`, vectors, analyses and
 *   `url_aliases` are bounded by `ledger`, and all but the last are deleted with their page. `crawls` and `crawl_ids` have a small row for
 *   each crawl.
 * - With events, and trimmed: `crawl_jobs`, `queue_events`, `crawl_problems` and `crawl_milestones` by the retention rule of the job log,
 *   `analysis_runs` and their events to the newest thousand, `workers` and `passed_on` after a minute. `crawl_helpers` is cleared at the
 *   end of a crawl. Index updates empty `index_stale` and `index_gone`.
 * - With every host ever seen, and kept: `hosts`, a small row each, and `robots`, a file of at most 500 KiB for each origin. Without them,
 *   robots.txt and the pace of a host would have to be learned again.
 * - With imports: the tables of places.
 *
 * No table is partitioned. Events, the only rows that expire by age alone, never exceed 500,000. All other rows are deleted with a job, a
 * source or a page: one partition for each would mean thousands of them, and a unique key of a partitioned table must include the partition
 * key. Rows are deleted in batches, so that other writers do not wait.
 */
export const TABLES: string = LEDGER_TABLES + CONTENT_TABLES + JOB_TABLES
