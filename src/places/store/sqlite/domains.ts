import type { DomainAnalysis } from '../../../library/ports/findings.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { CountryMentions, HostLocale } from '../../ports/analyses.ts'
import type { Domains } from '../common/domains.ts'
import { rankLanguages } from '../common/rank-languages.ts'

interface DomainColumns extends Omit<DomainAnalysis, 'isNews' | 'languages'> {
  readonly isNews: number
  readonly languages: string | null
}

const MINUTE_MS = 60_000

/** Creates the host queries. */
export function createDomains(db: Database, write: Write): Domains {
  const sql = prepareDomains(db)

  return {
    listHosts: async (limit) => sql.selectHosts.all(limit ?? -1),
    measureDomain: async (host, now) => {
      const pages = sql.countPages.get(host) ?? 0
      const { articles = 0, sections = 0, dated = 0 } = sql.selectArticles.get(host) ?? {}
      return {
        ...{ host, pages, articles, sections },
        datedRatio: articles === 0 ? 0 : dated / articles,
        rateLimited15: sql.countLimited.get(host, now - 15 * MINUTE_MS) ?? 0,
        rateLimited60: sql.countLimited.get(host, now - 60 * MINUTE_MS) ?? 0,
        languages: rankLanguages(sql.selectLanguages.all(host), pages),
        analysedAt: now,
      }
    },
    writeDomain: (domain) =>
      write(() => {
        const languages = domain.languages.length === 0 ? null : domain.languages.join(',')
        sql.upsert.run({ ...domain, isNews: Number(domain.isNews), languages })
        sql.upsertLanguages.run(domain.host, languages)
      }),
    listTitleCountries: async (host) => sql.selectCountries.all(host),
    readLocale: async (host) => sql.selectLocale.get(host),
    writeLocale: (host, { countryCode, confidence }) =>
      write(() => void sql.upsertLocale.run(host, countryCode, confidence)),
    readDomain: async (host) => {
      const found = sql.select.get(host)
      if (found === undefined) return undefined
      return { ...found, isNews: found.isNews === 1, languages: found.languages?.split(',') ?? [] }
    },
    listAchievements: async () => sql.selectAchievements.all(),
  }
}

/** The statements of the host queries. */
function prepareDomains(db: Database) {
  const visible = '(SELECT id FROM sources WHERE is_removed = 0)'
  const ofHost = `FROM ledger l JOIN page_analyses a ON a.page = l.id WHERE l.source IN ${visible} AND l.host = ?`
  return {
    selectHosts: db
      .prepare<[number], string>(
        `SELECT DISTINCT host FROM host_counts WHERE source IN ${visible} AND pages > 0 AND host <> '' ORDER BY host LIMIT ?`,
      )
      .pluck(),
    countPages: db
      .prepare<[string], number>(`SELECT total(pages) FROM host_counts WHERE source IN ${visible} AND host = ?`)
      .pluck(),
    selectArticles: db.prepare<[string], { articles: number; sections: number; dated: number }>(
      `SELECT count(*) AS articles, count(DISTINCT section) AS sections, total(is_dated) AS dated FROM (
         SELECT a.classification ->> '$.url.section' AS section,
           a.published_at IS NOT NULL OR a.classification ->> '$.url.hasDatePath' AS is_dated
         ${ofHost} AND a.kind = 'article')`,
    ),
    selectLanguages: db.prepare<[string], { language: string; count: number }>(
      `SELECT language, count(*) AS count ${ofHost} AND language IS NOT NULL GROUP BY language`,
    ),
    countLimited: db
      .prepare<[string, number], number>(
        `SELECT count(*) FROM ledger WHERE source IN ${visible} AND host = ? AND at >= ? AND status = 429`,
      )
      .pluck(),
    upsert: db.prepare<[DomainColumns]>(
      `INSERT OR REPLACE INTO domains (host, pages, articles, sections, dated_ratio, score, is_news, rate_limited_15,
         rate_limited_60, analysed_at)
       VALUES (@host, @pages, @articles, @sections, @datedRatio, @score, @isNews, @rateLimited15, @rateLimited60, @analysedAt)`,
    ),
    upsertLocale: db.prepare<[string, string | null, number]>(
      `INSERT INTO domain_locales (host, country_code, confidence) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET country_code = excluded.country_code, confidence = excluded.confidence`,
    ),
    upsertLanguages: db.prepare<[string, string | null]>(
      `INSERT INTO domain_locales (host, primary_langs, confidence) VALUES (?, ?, 0)
       ON CONFLICT DO UPDATE SET primary_langs = excluded.primary_langs`,
    ),
    selectLocale: db.prepare<[string], HostLocale>(
      'SELECT country_code AS countryCode, confidence FROM domain_locales WHERE host = ?',
    ),
    selectCountries: db.prepare<[string], CountryMentions>(
      `SELECT c.country_code AS countryCode, count(DISTINCT t.page) AS pages
       FROM ledger l JOIN article_places t ON t.page = l.id JOIN places c ON c.id = t.place_id
       WHERE l.source IN ${visible} AND l.host = ? AND t.source = 'title' AND c.country_code IS NOT NULL
       GROUP BY c.country_code ORDER BY 2 DESC, 1`,
    ),
    select: db.prepare<[string], DomainColumns>(
      `SELECT d.host, pages, articles, sections, dated_ratio AS datedRatio, score, is_news AS isNews,
         rate_limited_15 AS rateLimited15, rate_limited_60 AS rateLimited60, analysed_at AS analysedAt,
         o.country_code AS countryCode, o.primary_langs AS languages
       FROM domains d LEFT JOIN domain_locales o ON o.host = d.host WHERE d.host = ?`,
    ),
    selectAchievements: db.prepare<[], Awaited<ReturnType<Domains['listAchievements']>>[number]>(
      `SELECT l.host, sum(ifnull(l.status BETWEEN 200 AND 399, 0)) AS downloads,
         sum(a.page IS NOT NULL AND l.depth = 2) AS depth2, sum(ifnull(a.kind = 'article', 0)) AS articles
       FROM ledger l LEFT JOIN page_analyses a ON a.page = l.id
       WHERE l.source IN ${visible} AND l.host <> '' GROUP BY l.host ORDER BY l.host`,
    ),
  }
}
