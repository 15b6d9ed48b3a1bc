import type { DomainAnalysis } from '../../../library/ports/findings.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import type { CountryMentions, HostAchievements, HostLocale } from '../../ports/analyses.ts'
import type { Domains } from '../common/domains.ts'
import { rankLanguages } from '../common/rank-languages.ts'

interface DomainColumns extends Omit<DomainAnalysis, 'languages'> {
  readonly languages: string | null
}

const MINUTE_MS = 60_000
const VISIBLE = '(SELECT id FROM sources WHERE NOT is_removed)'
const OF_HOST = `FROM ledger l JOIN page_analyses a ON a.page = l.id WHERE l.source IN ${VISIBLE} AND l.host = $1`

/** Creates the queries about hosts and their analyses. */
export function createDomains(db: Database): Domains {
  return {
    listHosts: async (limit) => {
      const found = await db.all<{ host: string }>(
        `SELECT DISTINCT host FROM host_counts WHERE source IN ${VISIBLE} AND pages > 0 AND host <> '' ORDER BY host LIMIT $1`,
        [limit],
      )
      return found.map(({ host }) => host)
    },
    measureDomain: (host, now) => db.snapshot((sql) => measure(sql, host, now)),
    writeDomain: (domain) => db.transaction((sql) => writeDomain(sql, domain)),
    listTitleCountries: (host) =>
      db.all<CountryMentions>(
        `SELECT c.country_code AS "countryCode", count(DISTINCT t.page) AS pages
         FROM ledger l JOIN article_places t ON t.page = l.id JOIN places c ON c.id = t.place_id
         WHERE l.source IN ${VISIBLE} AND l.host = $1 AND t.source = 'title' AND c.country_code IS NOT NULL
         GROUP BY c.country_code ORDER BY 2 DESC, 1`,
        [host],
      ),
    readLocale: (host) =>
      db.get<HostLocale>('SELECT country_code AS "countryCode", confidence FROM domain_locales WHERE host = $1', [
        host,
      ]),
    writeLocale: async (host, { countryCode, confidence }) => {
      await db.run(
        `INSERT INTO domain_locales (host, country_code, confidence) VALUES ($1, $2, $3)
         ON CONFLICT (host) DO UPDATE SET country_code = excluded.country_code, confidence = excluded.confidence`,
        [host, countryCode, confidence],
      )
    },
    readDomain: async (host) => {
      const found = await db.get<DomainColumns>(
        `SELECT d.host, pages, articles, sections, dated_ratio AS "datedRatio", score, is_news AS "isNews",
           rate_limited_15 AS "rateLimited15", rate_limited_60 AS "rateLimited60", analysed_at AS "analysedAt",
           o.country_code AS "countryCode", o.primary_langs AS languages
         FROM domains d LEFT JOIN domain_locales o ON o.host = d.host WHERE d.host = $1`,
        [host],
      )
      return found && { ...found, languages: found.languages?.split(',') ?? [] }
    },
    listAchievements: () =>
      db.all<HostAchievements>(
        `SELECT l.host, count(*) FILTER (WHERE l.status BETWEEN 200 AND 399) AS downloads,
           count(*) FILTER (WHERE a.page IS NOT NULL AND l.depth = 2) AS depth2,
           count(*) FILTER (WHERE a.kind = 'article') AS articles
         FROM ledger l LEFT JOIN page_analyses a ON a.page = l.id
         WHERE l.source IN ${VISIBLE} AND l.host <> '' GROUP BY l.host ORDER BY l.host`,
      ),
  }
}

async function measure(sql: Sql, host: string, now: number) {
  const counted = await sql.get<{ pages: number; limited15: number; limited60: number }>(
    `SELECT (SELECT coalesce(sum(pages), 0)::bigint FROM host_counts WHERE source IN ${VISIBLE} AND host = $1) AS pages,
       count(*) FILTER (WHERE at >= $2) AS limited15, count(*) AS limited60
     FROM ledger WHERE source IN ${VISIBLE} AND host = $1 AND at >= $3 AND status = 429`,
    [host, now - 15 * MINUTE_MS, now - 60 * MINUTE_MS],
  )
  const found = await sql.get<{ articles: number; sections: number; dated: number }>(
    `SELECT count(*) AS articles, count(DISTINCT section) AS sections, count(*) FILTER (WHERE is_dated) AS dated FROM (
       SELECT a.classification::json #>> '{url,section}' AS section,
         a.published_at IS NOT NULL OR coalesce((a.classification::json #>> '{url,hasDatePath}')::boolean, false) AS is_dated
       ${OF_HOST} AND a.kind = 'article') p`,
    [host],
  )
  const languages = await sql.all<{ language: string; count: number }>(
    `SELECT a.language, count(*) AS count ${OF_HOST} AND a.language IS NOT NULL GROUP BY a.language`,
    [host],
  )
  const { pages = 0, limited15 = 0, limited60 = 0 } = counted ?? {}
  const { articles = 0, sections = 0, dated = 0 } = found ?? {}
  return {
    ...{ host, pages, articles, sections },
    datedRatio: articles === 0 ? 0 : dated / articles,
    rateLimited15: limited15,
    rateLimited60: limited60,
    languages: rankLanguages(languages, pages),
    analysedAt: now,
  }
}

async function writeDomain(sql: Sql, domain: DomainAnalysis): Promise<void> {
  const { host, pages, articles, sections, datedRatio, score, isNews, rateLimited15, rateLimited60, analysedAt } =
    domain
  await sql.run(
    `INSERT INTO domains (host, pages, articles, sections, dated_ratio, score, is_news, rate_limited_15, rate_limited_60,
       analysed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (host) DO UPDATE SET pages = excluded.pages, articles = excluded.articles, sections = excluded.sections,
       dated_ratio = excluded.dated_ratio, score = excluded.score, is_news = excluded.is_news,
       rate_limited_15 = excluded.rate_limited_15, rate_limited_60 = excluded.rate_limited_60,
       analysed_at = excluded.analysed_at`,
    [host, pages, articles, sections, datedRatio, score, isNews, rateLimited15, rateLimited60, analysedAt],
  )
  await sql.run(
    `INSERT INTO domain_locales (host, primary_langs, confidence) VALUES ($1, $2, 0)
     ON CONFLICT (host) DO UPDATE SET primary_langs = excluded.primary_langs`,
    [host, domain.languages.length === 0 ? null : domain.languages.join(',')],
  )
}
